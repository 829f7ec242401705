// Edges, and their marks, through the C accessors. The token that is appended is
// that of the first operation that has one.
// RUN: %capi_test edit %s | FileCheck %s

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

// CHECK-LABEL: func.func @edges
func.func @edges(%w: !W, %x: !X, %c: !C, %p: i1, %z: f32) {
  // CHECK-NEXT: %[[T:.*]] = pto.tmatmul
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  // CHECK-NEXT: %[[U:.*]] = pto.copy
  %u = pto.copy %c, %c : !C, !C -> !pto.token
  // CHECK-NEXT: pto.tmatmul {{.*}}>) start_if(%{{.*}}) after(%[[T]]){{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) start_if(%p) {do = "append"}
  // CHECK-NEXT: pto.tmatmul {{.*}}>) after(%[[T]]) {inserted_after = array<i32: 0>}{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) {do = "inserted-append"}
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) after(%[[U]], %[[T]]) {inserted_after = array<i32: 1>}{{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) after(%u) {do = "inserted-append"}
  // CHECK-NEXT: pto.copy {{.*}} after(%[[U]], %[[U]], %[[T]]) {inserted_after = array<i32: 0, 2>}{{$}}
  pto.copy %c, %c : !C, !C after(%u, %u) {do = "inserted-append", inserted_after = array<i32: 0>}
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) stop_if(%{{.*}}) after(%[[U]]){{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) stop_if(%p) after(%t, %u, %t) {do = "drop", inserted_after = array<i32: 0, 2>}
  // CHECK-NEXT: pto.copy {{.*}}>{{$}}
  pto.copy %c, %c : !C, !C after(%u) {do = "drop", inserted_after = array<i32: 0>}
  // CHECK-NEXT: pto.copy {{.*}} after(%[[U]]){{$}}
  pto.copy %c, %c : !C, !C after(%u) {do = "drop"}
  // CHECK-NEXT: pto.memset %{{.*}}, %{{.*}} : f32, memref<32x16xf32, #pto.mem<psum>> {inserted}{{$}}
  // CHECK-NEXT: pto.memset %{{.*}}, %{{.*}} : f32, memref<32x16xf32, #pto.mem<psum>> engine(scalar){{$}}
  pto.memset %z, %c : f32, !C engine(scalar) {do = "memset-before"}
  return
}
