// Three matmuls into one location. The module has no constant and no subview.
!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!acc = memref<64x512xf32, #pto.mem<psum>>

func.func @three(%w: !w, %x: !x, %out: memref<64x512xf32>) {
  %acc = pto.psum_alloc bank(2) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%acc : !acc)
  pto.tmatmul_acc ins(%acc, %w, %x : !acc, !w, !x) outs(%acc : !acc)
  pto.tmatmul_acc ins(%acc, %w, %x : !acc, !w, !x) outs(%acc : !acc)
  pto.copy %acc, %out : !acc, memref<64x512xf32>
  return
}
