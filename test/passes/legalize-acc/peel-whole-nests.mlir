// A nest is peeled as a whole or not at all: where an inner loop stays, the first iteration of the sum is in it.
// RUN: %pto_opt --pto-legalize-acc='loops=peel validate' %s | FileCheck %s
// RUN: %pto_opt --pto-legalize-acc=loops=peel --remarks-filter='pto.*' %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT-DAG: [[#@LINE+13]]:3: remark: {{.*}}this loop is not peeled: one inside of it is not
// LEFT-DAG: [[#@LINE+14]]:5: remark: {{.*}}this loop is not peeled: its bounds are no constants
!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>
// CHECK-LABEL: func.func @dynamic_inside
func.func @dynamic_inside(%w: !w, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK-NOT: pto.memset
  // CHECK: scf.for
  scf.for %i = %c0 to %c4 step %c1 {
    // CHECK: scf.for
    scf.for %k = %c0 to %n step %c1 {
      // CHECK: pto.tmatmul_acc {{.*}} acc<none> zero_region(0) start_if(%{{.*}}) stop_if(%{{.*}})
      // CHECK-NOT: pto.tmatmul_acc
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    }
  }
  // CHECK: pto.copy
  pto.copy %a, %out : !acc, !out
  return
}

// The inner sum is one of each iteration of the outer loop, which does not matter to it.
// CHECK-LABEL: func.func @allocation_between
func.func @allocation_between(%w: !w, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.tmatmul_acc {{.*}} acc<start> zero_region(0)
  // CHECK: affine.for
  affine.for %i = 0 to 4 {
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    %b = pto.psum_alloc bank(1) : !acc
    // CHECK: pto.tmatmul_acc {{.*}} start_if
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%b, %w, %w : !acc, !w, !w) outs(%b : !acc)
    }
    pto.copy %b, %out : !acc, !out
  }
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// Triangular: in the first and the last iteration of the outer loop the inner one has constant bounds.
// CHECK-LABEL: func.func @triangular
func.func @triangular(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK-NOT: pto.memset
  // CHECK: pto.tmatmul_acc {{.*}} acc<start> zero_region(0)
  // CHECK: scf.for
  // CHECK: acc<none> zero_region(0)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  scf.for %i = %c1 to %c4 step %c1 {
    scf.for %k = %c0 to %i step %c1 {
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}
