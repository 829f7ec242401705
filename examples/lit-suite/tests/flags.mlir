// The flags of a group, derived in a stock mlir-opt.
// RUN: %mlir_opt_pto --pto-legalize-acc %s | FileCheck %s

!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!acc = memref<64x512xf32, #pto.mem<psum>>

// CHECK-LABEL: func.func @group
func.func @group(%w: !w, %x: !x, %y: memref<64x512xf32>) {
  %a = pto.psum_alloc bank(1) : !acc
  // CHECK: pto.tmatmul_acc {{.*}} acc<start> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %y : !acc, memref<64x512xf32>
  return
}
