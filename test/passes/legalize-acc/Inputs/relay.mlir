// A sum in one half of a bank, while the other half is filled and drained in every iteration.
!w = memref<1x128xf32, #pto.mem<sbuf>>
!x = memref<1x256xf32, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>
func.func @sum_beside_drains(%w: !w, %x: !x, %y: memref<128x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(1024) : !acc
  scf.for %i = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %y : !acc, memref<128x256xf32>
  }
  pto.copy %a, %y : !acc, memref<128x256xf32>
  return
}
