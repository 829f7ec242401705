// Runs in loops, branches and blocks: each body has its own, and none goes over its end or around it.
// RUN: %pto_opt --pto-order-column-tiles %s | FileCheck %s --implicit-check-not=after
!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x64xbf16, #pto.mem<sbuf>>
!acc = memref<128x64xf32, #pto.mem<psum>>
!t0 = memref<32x64xf32, strided<[64, 1]>, #pto.mem<psum>>
!t1 = memref<32x64xf32, strided<[64, 1], offset: 2048>, #pto.mem<psum>>

// The member after the loop joins nothing that is before or in it.
// CHECK-LABEL: func.func @loops
func.func @loops(%w: !w, %x: !x, %0: !t0, %1: !t1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  // CHECK: scf.for
  // CHECK-NEXT: %[[A:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
  // CHECK-NEXT: pto.tmatmul {{.*}} at(0, 32) after(%[[A]])
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  }
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  // CHECK: affine.for
  // CHECK-NEXT: %[[B:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
  // CHECK-NEXT: %[[C:.*]] = pto.tmatmul {{.*}} at(0, 32) after(%[[B]]) -> !pto.token
  // CHECK-NEXT: pto.tmatmul {{.*}} at(0, 0) after(%[[C]])
  affine.for %k = 0 to 4 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  }
  // CHECK: scf.while
  // CHECK: %[[D:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
  // CHECK-NEXT: pto.tmatmul {{.*}} at(0, 32) after(%[[D]])
  // CHECK: do
  // CHECK: pto.tmatmul {{.*}} at(0, 32){{$}}
  %end = scf.while (%i = %c0) : (index) -> index {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
    scf.yield %i : index
  }
  return
}

// CHECK-LABEL: func.func @branches
func.func @branches(%w: !w, %x: !x, %0: !t0, %1: !t1, %n: index, %p: i1) {
  // CHECK: scf.index_switch
  // CHECK: %[[A:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
  // CHECK-NEXT: pto.tmatmul {{.*}} at(0, 32) after(%[[A]])
  scf.index_switch %n
  case 0 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
    scf.yield
  }
  default {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  }
  // CHECK: pto.tmatmul {{.*}} at(0, 0){{$}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  cf.cond_br %p, ^left, ^right
^left:
  // CHECK: ^bb1:
  // CHECK-NEXT: pto.tmatmul {{.*}} at(0, 32){{$}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  cf.br ^right
^right:
  // CHECK: ^bb2:
  // CHECK: %[[B:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
  // CHECK-NEXT: pto.tmatmul {{.*}} at(0, 32) after(%[[B]])
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  return
}
