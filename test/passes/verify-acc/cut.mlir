// Legalized loops that upstream cuts in two or lowers to jumps: what cannot be proved any more is said to be so,
// and nothing is called wrong that is right.

// DEFINE: %{then} =
// DEFINE: %{run} = %pto_opt \
// DEFINE:   --pass-pipeline='builtin.module(pto-legalize-acc{target=trn2},%{then},pto-verify-acc{target=trn2})' \
// DEFINE:   %s -o /dev/null

// RUN: %pto_opt --pto-legalize-acc=target=trn2 --pto-verify-acc=target=trn2 %s -o %t.mlir 2>&1 | FileCheck --allow-empty --check-prefix=CLEAN %s
// CLEAN-NOT: error
// CLEAN-NOT: not-provable

// REDEFINE: %{then} = func.func(scf-for-loop-peeling)
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{then} = func.func(scf-for-loop-peeling),canonicalize,cse
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{then} = convert-scf-to-cf
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{then} = convert-scf-to-cf,canonicalize
// RUN: %{run} 2>&1 | FileCheck %s
// CHECK-NOT: error:
// CHECK: warning: {{.*}}[pto:not-provable]
// CHECK-NOT: error:

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// A sum that a predicate begins.
func.func @predicate(%w: !w, %n: index, %out: !out) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc)
  scf.for %k = %c0 to %n step %c2 {
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c2 {
    pto.tmatmul_acc ins(%b, %w, %w : !acc, !w, !w) outs(%b : !acc)
    pto.copy %b, %out : !acc, !out
  }
  return
}

// A sum whose first iteration stands in a branch of its own.
func.func @branch(%w: !w, %n: index, %out: !out) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(1) : !acc
  scf.for %k = %c0 to %n step %c2 {
    %first = arith.cmpi eq, %k, %c0 : index
    scf.if %first {
      pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    }
    pto.copy %a, %out : !acc, !out
  }
  return
}
