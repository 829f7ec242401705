// Upstream unrolls around dynamic loops after legalization. Loops with equal bounds run or do not run
// together, wherever they stand: so the one that begins the sum is known, and those that do not.

// DEFINE: %{then} =
// DEFINE: %{run} = %pto_opt \
// DEFINE:   --pass-pipeline='builtin.module(pto-legalize-acc{target=trn2},func.func(%{then}),pto-verify-acc{target=trn2})' %s

// REDEFINE: %{then} = cse
// RUN: %{run} -o /dev/null 2>&1 | FileCheck --check-prefix=SAID %s
// REDEFINE: %{then} = affine-loop-unroll{unroll-factor=2}
// RUN: %{run} -o /dev/null 2>&1 | FileCheck --check-prefix=SAID %s
// REDEFINE: %{then} = affine-loop-unroll{unroll-factor=-1},canonicalize,cse
// RUN: %{run} -o /dev/null 2>&1 | FileCheck --check-prefix=SAID %s
// RUN: %{run} | FileCheck %s

// SAID-NOT: {{error:|pto:not-provable}}
// SAID: warning: {{.*}}found one that is fresh if a loop does not run: {{.*}}[pto:maybe-undefined]
// SAID-NOT: {{error:|pto:not-provable}}

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// CHECK-LABEL: func.func @around_a_dynamic_loop
// CHECK: scf.for
// CHECK: start_if
// CHECK: scf.for
// CHECK-NOT: start_if
// CHECK: pto.copy
func.func @around_a_dynamic_loop(%w: !w, %n: index, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %i = 0 to 3 {
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The bounds are made in each iteration of a loop around them. Where one such loop runs, all do, whatever
// their steps.
// CHECK-LABEL: func.func @bounds_of_one_iteration
func.func @bounds_of_one_iteration(%w: !w, %n: index, %m: memref<?xindex>, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %t = %c0 to %n step %c1 {
    %bound = memref.load %m[%t] : memref<?xindex>
    %a = pto.psum_alloc bank(0) : !acc
    affine.for %i = 0 to 2 {
      scf.for %k = %c1 to %bound step %c1 {
        scf.for %l = %c1 to %bound step %c2 {
          pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
        }
      }
    }
    scf.for %k = %c1 to %bound step %c1 {
      pto.copy %a, %out : !acc, !out
    }
  }
  return
}
