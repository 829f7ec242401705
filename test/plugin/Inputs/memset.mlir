// Legalizing it takes a memset, so a constant of a dialect that the module does
// not use: A is still unread when B begins in the same bank, and both overwrite.
!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!acc = memref<64x256xf32, #pto.mem<psum>>

func.func @memset(%w: !w, %x: !x, %out: memref<64x256xf32>) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(1024) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  pto.copy %a, %out : !acc, memref<64x256xf32>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %b, %out : !acc, memref<64x256xf32>
  pto.copy %a, %out : !acc, memref<64x256xf32>
  return
}
