// What the C accessors do.
// RUN: %capi_test edit %s | FileCheck %s

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

// CHECK-LABEL: func.func @flags
func.func @flags(%w: !W, %x: !X, %c: !C, %p: i1) {
  // CHECK-NEXT: pto.tmatmul {{.*}}>) acc<start|stop> zero_region(2) -> !pto.token {other}{{$}}
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token {do = "set", other}
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>){{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<stop> zero_region(1) {do = "unset"}
  // CHECK-NEXT: pto.tmatmul {{.*}}>) acc<none> after(%0){{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<none> start_if(%p) stop_if(%p) after(%t) {do = "drop-predicates"}
  return
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%w: !W, %x: !X, %c: !C, %p: i1, %z: f32) {
  // CHECK-NEXT: %[[T:.*]] = pto.tmatmul {{.*}}>) -> !pto.token{{$}}
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  // The operation is made anew with all it had.
  // CHECK-NEXT: %{{.*}} = pto.tmatmul_acc {{.*}}>) tile(64, 32) at(0, 32) acc<stop> zero_region(1) start_if(%{{.*}}) after(%[[T]]) -> !pto.token {inserted_after = array<i32: 0>, inserted_token, other = 3 : i64}{{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) tile(64, 32) at(0, 32) acc<stop> zero_region(1) start_if(%p) after(%t) {do = "inserted-token", inserted_after = array<i32: 0>, other = 3}
  // CHECK-NEXT: %{{.*}} = pto.memset {{.*}} engine(dma) -> !pto.token{{$}}
  pto.memset %z, %c : f32, !C engine(dma) {do = "token"}
  // CHECK-NEXT: %{{.*}} = pto.copy {{.*}} -> !pto.token {inserted_token}{{$}}
  pto.copy %c, %c : !C, !C {do = "inserted-token"}
  // One that has a token stays as it is, mark or no mark.
  // CHECK-NEXT: %{{.*}} = pto.copy {{.*}} -> !pto.token{{$}}
  %u = pto.copy %c, %c : !C, !C -> !pto.token {do = "inserted-token"}
  // Only a marked token that nobody uses is taken away.
  // CHECK-NEXT: pto.copy {{.*}}>{{$}}
  %v = pto.copy %c, %c : !C, !C -> !pto.token {do = "drop-token", inserted_token}
  // CHECK-NEXT: %{{.*}} = pto.copy {{.*}}> -> !pto.token{{$}}
  %a = pto.copy %c, %c : !C, !C -> !pto.token {do = "drop-token"}
  // CHECK-NEXT: %[[B:.*]] = pto.copy {{.*}}> -> !pto.token {inserted_token}{{$}}
  %b = pto.copy %c, %c : !C, !C -> !pto.token {do = "drop-token", inserted_token}
  // CHECK-NEXT: pto.copy {{.*}} after(%[[B]]){{$}}
  pto.copy %c, %c : !C, !C after(%b)
  return
}

// CHECK-LABEL: func.func @place
func.func @place() {
  // CHECK-NEXT: %{{.*}} = pto.psum_alloc bank(2) offset(1024) partition(64) {other} : memref<32x16xf32, #pto.mem<psum>>
  %a = memref.alloc() {alignment = 64 : i64, do = "place", other} : !C
  // CHECK-NEXT: %[[B:.*]] = pto.psum_alloc bank(2) offset(1024) partition(64) : memref<32x16xf32, #pto.mem<psum>>
  %b = pto.psum_alloc bank(1) {do = "place"} : !C
  // CHECK-NEXT: memref.dealloc %[[B]]
  memref.dealloc %b : !C
  return
}
