// Data that is live in the zero region when a group begins: no START, memsets clear.
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @no_start(%w: !w, %in: !out, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  pto.copy %in, %a : !out, !acc
  pto.tmatmul ins(%w, %w : !w, !w) outs(%b : !acc)
  pto.tmatmul_acc ins(%b, %w, %w : !acc, !w, !w) outs(%b : !acc)
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}
