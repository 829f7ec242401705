// A loop with constant bounds cut in two: the tail is known not to be first.

// RUN: %pto_opt --pass-pipeline='builtin.module(pto-legalize-acc{target=trn2},func.func(scf-for-loop-peeling),pto-verify-acc{target=trn2})' \
// RUN:   %s 2>&1 | FileCheck %s

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// CHECK-NOT: {{error|warning}}:
// CHECK-LABEL: func.func @constant
// CHECK: scf.for
// CHECK: start_if
// CHECK: scf.for
// CHECK: start_if
func.func @constant(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c7 step %c2 {
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}
