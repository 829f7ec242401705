// Operations with regions of which it is not known how often, or in which order, they run: a sum that they add
// to begins on zeros. They are no error.
// RUN: %pto_opt --pto-legalize-acc='target=trn2 validate' --pto-verify-acc=target=trn2 %s | FileCheck %s --check-prefixes=CHECK,TRN2
// RUN: %pto_opt --pto-legalize-acc='target=trn3 validate' --pto-verify-acc=target=trn3 %s | FileCheck %s --check-prefixes=CHECK,TRN3
// What the interpreter runs of them is right.
// RUN: %pto_opt --pto-legalize-acc %s -o %t.mlir
// RUN: %pto_run --random-inputs --entry=affine_if %t.mlir --output-dir=%t.after && %pto_run --random-inputs --entry=affine_if --model=reference %s --output-dir=%t.before && diff -r %t.before %t.after
// RUN: %pto_run --random-inputs --entry=execute_region %t.mlir --output-dir=%t.after && %pto_run --random-inputs --entry=execute_region --model=reference %s --output-dir=%t.before && diff -r %t.before %t.after
// A sum over parallel iterations depends on their order, which is the program's own fault: of the numbers below
// every order gives the same.
// RUN: not %pto_run --random-inputs --entry=affine_parallel %t.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: %pto_run --random-inputs --entry=affine_parallel --hazards=off --parallel-order=reverse %t.mlir --output-dir=%t.after && %pto_run --random-inputs --entry=affine_parallel --model=reference --hazards=off %s --output-dir=%t.before && diff -r %t.before %t.after
// RUN: not %pto_run --random-inputs --entry=scf_parallel %t.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: %pto_run --random-inputs --entry=scf_parallel --hazards=off --parallel-order=reverse %t.mlir --output-dir=%t.after && %pto_run --random-inputs --entry=scf_parallel --model=reference --hazards=off %s --output-dir=%t.before && diff -r %t.before %t.after
// RUN: not %pto_run --random-inputs --entry=scf_forall %t.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: %pto_run --random-inputs --entry=scf_forall --hazards=off --parallel-order=reverse %t.mlir --output-dir=%t.after && %pto_run --random-inputs --entry=scf_forall --model=reference --hazards=off %s --output-dir=%t.before && diff -r %t.before %t.after
// ORDER: error: depends on the order of two iterations of a parallel loop: element [0, 0], read here and written there [pto:parallel-conflict]

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
#first = affine_set<(d0) : (d0 == 0)>
// CHECK-LABEL: func.func @affine_if
func.func @affine_if(%w: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  affine.for %k = 0 to 4 {
    affine.if #first(%k) {
      // CHECK: pto.tmatmul {{.*}} acc<start>
      pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc)
    } else {
      // TRN2: pto.tmatmul_acc {{.*}} acc<none>
      // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate>
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}
// CHECK-LABEL: func.func @affine_parallel
func.func @affine_parallel(%w: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  affine.parallel (%k) = (0) to (4) {
    // TRN2: pto.tmatmul_acc {{.*}} acc<none>
    // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate>
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}
// CHECK-LABEL: func.func @scf_parallel
func.func @scf_parallel(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  scf.parallel (%k) = (%c0) to (%c4) step (%c1) {
    // TRN2: pto.tmatmul_acc {{.*}} acc<none>
    // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate>
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    scf.reduce
  }
  pto.copy %a, %out : !acc, !out
  return
}
// CHECK-LABEL: func.func @scf_forall
func.func @scf_forall(%w: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  scf.forall (%k) in (4) {
    // TRN2: pto.tmatmul_acc {{.*}} acc<none>
    // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate>
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}
// CHECK-LABEL: func.func @execute_region
func.func @execute_region(%w: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  scf.execute_region {
    // TRN2: pto.tmatmul_acc {{.*}} acc<none>
    // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate>
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    scf.yield
  }
  pto.copy %a, %out : !acc, !out
  return
}
