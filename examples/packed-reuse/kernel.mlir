// Query, key and value projections through two accumulators of one PSUM bank: the value projection
// takes over the bytes of the query projection once that is drained, while the key chain is open.
// 256 tokens, 128 features each, hidden size 256, f16 in, f32 out; operands are in SBUF already.

!w = memref<128x128xf16, #pto.mem<sbuf>>
!x = memref<128x256xf16, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>

func.func @main(%wq_lo: !w, %wq_hi: !w, %wk_lo: !w, %wk_hi: !w, %wv_lo: !w, %wv_hi: !w,
                %x_lo: !x, %x_hi: !x, %out_q: memref<128x256xf32>, %out_k: memref<128x256xf32>,
                %out_v: memref<128x256xf32>) {
  %q = pto.psum_alloc bank(0) offset(0) partition(0) : !acc
  %k = pto.psum_alloc bank(0) offset(1024) partition(0) : !acc

  pto.tmatmul ins(%wq_lo, %x_lo : !w, !x) outs(%q : !acc)
  pto.tmatmul_acc ins(%q, %wq_hi, %x_hi : !acc, !w, !x) outs(%q : !acc)
  pto.tmatmul ins(%wk_lo, %x_lo : !w, !x) outs(%k : !acc)
  pto.copy %q, %out_q : !acc, memref<128x256xf32>

  // A new allocation at the same place: its first matmul must overwrite, and may not START,
  // because the key chain of the same bank is still growing.
  %v = pto.psum_alloc bank(0) offset(0) partition(0) : !acc
  pto.tmatmul ins(%wv_lo, %x_lo : !w, !x) outs(%v : !acc)
  pto.tmatmul_acc ins(%k, %wk_hi, %x_hi : !acc, !w, !x) outs(%k : !acc)
  pto.tmatmul_acc ins(%v, %wv_hi, %x_hi : !acc, !w, !x) outs(%v : !acc)

  pto.copy %k, %out_k : !acc, memref<128x256xf32>
  pto.copy %v, %out_v : !acc, memref<128x256xf32>
  return
}
