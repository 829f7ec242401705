!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x64xbf16, #pto.mem<sbuf>>
!acc = memref<32x64xf32, #pto.mem<psum>>

func.func @unplaced(%w: !w, %x: !x, %out: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc : !acc
  scf.for %k = %c0 to %c4 step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, memref<32x64xf32>
  return
}
