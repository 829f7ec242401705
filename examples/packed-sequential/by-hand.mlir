// The program of kernel.mlir with the flags that look right: START on the first matmul of each chain,
// STOP on the last. They are wrong: the second START marks the whole bank, the finished but unread
// query projection included. A machine that zeroes at START loses it. The legalizer refuses these
// flags ([pto:unsound-flags]) and the interpreter reports the loss ([pto:start-clobbers]).

!w = memref<128x128xf16, #pto.mem<sbuf>>
!x = memref<128x256xf16, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>

func.func @main(%wq_lo: !w, %wq_hi: !w, %wk_lo: !w, %wk_hi: !w, %x_lo: !x, %x_hi: !x,
                %out_q: memref<128x256xf32>, %out_k: memref<128x256xf32>) {
  %q = pto.psum_alloc bank(0) offset(0) partition(0) : !acc
  %k = pto.psum_alloc bank(0) offset(1024) partition(0) : !acc

  pto.tmatmul ins(%wq_lo, %x_lo : !w, !x) outs(%q : !acc) acc<start> zero_region(0)
  pto.tmatmul_acc ins(%q, %wq_hi, %x_hi : !acc, !w, !x) outs(%q : !acc) acc<stop> zero_region(0)

  pto.tmatmul ins(%wk_lo, %x_lo : !w, !x) outs(%k : !acc) acc<start> zero_region(0)
  pto.tmatmul_acc ins(%k, %wk_hi, %x_hi : !acc, !w, !x) outs(%k : !acc) acc<stop> zero_region(0)

  pto.copy %q, %out_q : !acc, memref<128x256xf32>
  pto.copy %k, %out_k : !acc, memref<128x256xf32>
  return
}
