// Constant predicates move into the flags.
// RUN: %pto_opt %s -canonicalize -split-input-file | FileCheck %s

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

// CHECK-LABEL: func.func @explicit
// CHECK-SAME: %[[P:[a-z0-9]+]]: i1)
func.func @explicit(%w: !W, %x: !X, %c: !C, %p: i1) {
  %true = arith.constant true
  %false = arith.constant false
  // CHECK-NOT: arith.constant
  // CHECK: pto.tmatmul {{.*}}>) acc<start|stop>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<stop> start_if(%true)
  // CHECK-NEXT: pto.tmatmul {{.*}}>) acc<stop>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<stop> start_if(%false)
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) acc<start|stop>{{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<none> start_if(%true) stop_if(%true)
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) acc<none>{{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<none> start_if(%false) stop_if(%false)
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) acc<start> zero_region(2) stop_if(%[[P]]){{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<none> zero_region(2) start_if(%true) stop_if(%p)
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) acc<stop> start_if(%[[P]]){{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<none> start_if(%p) stop_if(%true)
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) acc<stop|accumulate>{{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<accumulate> stop_if(%true)
  return
}

// A predicate makes flags explicit, and they stay so.
// CHECK-LABEL: func.func @auto
func.func @auto(%w: !W, %x: !X, %c: !C) {
  %true = arith.constant true
  %false = arith.constant false
  // CHECK: pto.tmatmul {{.*}}>) acc<start>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) start_if(%true)
  // CHECK-NEXT: pto.tmatmul {{.*}}>) acc<none>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) start_if(%false)
  // CHECK-NEXT: pto.tmatmul {{.*}}>){{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C)
  return
}

// The other operand groups stay what they are.
// CHECK-LABEL: func.func @groups
func.func @groups(%w: !W, %x: !X, %c: !C) {
  %true = arith.constant true
  // CHECK: %[[T:.*]] = pto.tmatmul
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  // CHECK-NEXT: pto.tmatmul {{.*}}>) tile(64, 32) at(0, 0) acc<start|stop> after(%[[T]]) {inserted_after = array<i32: 0>}{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) tile(64, 32) at(0, 0) acc<start> stop_if(%true) after(%t) {inserted_after = array<i32: 0>}
  return
}

// -----

// A predicate that becomes a constant when a loop of one iteration goes.
!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
// CHECK-LABEL: func.func @loop
func.func @loop(%w: !W, %x: !X, %c: !C) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NEXT: pto.tmatmul_acc {{.*}}>) acc<start|stop>{{$}}
  // CHECK-NEXT: return
  scf.for %i = %c0 to %c1 step %c1 {
    %first = arith.cmpi eq, %i, %c0 : index
    %last = arith.cmpi eq, %i, %c0 : index
    pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<none> start_if(%first) stop_if(%last)
  }
  return
}
