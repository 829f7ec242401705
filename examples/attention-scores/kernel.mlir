// Attention scores S = Q . K^T of four query heads that share one key head (grouped-query attention):
// 32 queries a head, 512 keys, head dimension 256, bf16 in, f32 out. Arguments 0 and 1 are Q and K
// with the head dimension first, as the engine wants both operands.
// Each head uses 32 of the 128 array columns, so the four matmuls of a K step may run at the same
// time; head h lands in partitions 32h to 32h+31 of one PSUM bank.

!q = memref<128x128xbf16, #pto.mem<sbuf>>
!q0 = memref<128x32xbf16, strided<[128, 1]>, #pto.mem<sbuf>>
!q1 = memref<128x32xbf16, strided<[128, 1], offset: 32>, #pto.mem<sbuf>>
!q2 = memref<128x32xbf16, strided<[128, 1], offset: 64>, #pto.mem<sbuf>>
!q3 = memref<128x32xbf16, strided<[128, 1], offset: 96>, #pto.mem<sbuf>>
!k = memref<128x512xbf16, #pto.mem<sbuf>>
!s = memref<128x512xf32, #pto.mem<psum>>
!s0 = memref<32x512xf32, strided<[512, 1]>, #pto.mem<psum>>
!s1 = memref<32x512xf32, strided<[512, 1], offset: 16384>, #pto.mem<psum>>
!s2 = memref<32x512xf32, strided<[512, 1], offset: 32768>, #pto.mem<psum>>
!s3 = memref<32x512xf32, strided<[512, 1], offset: 49152>, #pto.mem<psum>>
!hbm_q_lo = memref<128x128xbf16, strided<[128, 1]>>
!hbm_q_hi = memref<128x128xbf16, strided<[128, 1], offset: 16384>>
!hbm_k_lo = memref<128x512xbf16, strided<[512, 1]>>
!hbm_k_hi = memref<128x512xbf16, strided<[512, 1], offset: 65536>>

func.func @main(%q: memref<256x128xbf16>, %k: memref<256x512xbf16>, %scores: memref<128x512xf32>) {
  %s = pto.psum_alloc bank(0) offset(0) partition(0) : !s
  %s_0 = memref.subview %s[0, 0] [32, 512] [1, 1] : !s to !s0
  %s_1 = memref.subview %s[32, 0] [32, 512] [1, 1] : !s to !s1
  %s_2 = memref.subview %s[64, 0] [32, 512] [1, 1] : !s to !s2
  %s_3 = memref.subview %s[96, 0] [32, 512] [1, 1] : !s to !s3

  // Head dimension 0 to 127: the first matmul of every head.
  %hbm_q_lo = memref.subview %q[0, 0] [128, 128] [1, 1] : memref<256x128xbf16> to !hbm_q_lo
  %q_lo = pto.sbuf_alloc : !q
  pto.copy %hbm_q_lo, %q_lo : !hbm_q_lo, !q engine(dma)
  %hbm_k_lo = memref.subview %k[0, 0] [128, 512] [1, 1] : memref<256x512xbf16> to !hbm_k_lo
  %k_lo = pto.sbuf_alloc : !k
  pto.copy %hbm_k_lo, %k_lo : !hbm_k_lo, !k engine(dma)
  %q_lo_0 = memref.subview %q_lo[0, 0] [128, 32] [1, 1] : !q to !q0
  %q_lo_1 = memref.subview %q_lo[0, 32] [128, 32] [1, 1] : !q to !q1
  %q_lo_2 = memref.subview %q_lo[0, 64] [128, 32] [1, 1] : !q to !q2
  %q_lo_3 = memref.subview %q_lo[0, 96] [128, 32] [1, 1] : !q to !q3
  pto.tmatmul ins(%q_lo_0, %k_lo : !q0, !k) outs(%s_0 : !s0) tile(128, 32) at(0, 0)
  pto.tmatmul ins(%q_lo_1, %k_lo : !q1, !k) outs(%s_1 : !s1) tile(128, 32) at(0, 32)
  pto.tmatmul ins(%q_lo_2, %k_lo : !q2, !k) outs(%s_2 : !s2) tile(128, 32) at(0, 64)
  pto.tmatmul ins(%q_lo_3, %k_lo : !q3, !k) outs(%s_3 : !s3) tile(128, 32) at(0, 96)

  // Head dimension 128 to 255: the second and last.
  %hbm_q_hi = memref.subview %q[128, 0] [128, 128] [1, 1] : memref<256x128xbf16> to !hbm_q_hi
  %q_hi = pto.sbuf_alloc : !q
  pto.copy %hbm_q_hi, %q_hi : !hbm_q_hi, !q engine(dma)
  %hbm_k_hi = memref.subview %k[128, 0] [128, 512] [1, 1] : memref<256x512xbf16> to !hbm_k_hi
  %k_hi = pto.sbuf_alloc : !k
  pto.copy %hbm_k_hi, %k_hi : !hbm_k_hi, !k engine(dma)
  %q_hi_0 = memref.subview %q_hi[0, 0] [128, 32] [1, 1] : !q to !q0
  %q_hi_1 = memref.subview %q_hi[0, 32] [128, 32] [1, 1] : !q to !q1
  %q_hi_2 = memref.subview %q_hi[0, 64] [128, 32] [1, 1] : !q to !q2
  %q_hi_3 = memref.subview %q_hi[0, 96] [128, 32] [1, 1] : !q to !q3
  pto.tmatmul_acc ins(%s_0, %q_hi_0, %k_hi : !s0, !q0, !k) outs(%s_0 : !s0) tile(128, 32) at(0, 0)
  pto.tmatmul_acc ins(%s_1, %q_hi_1, %k_hi : !s1, !q1, !k) outs(%s_1 : !s1) tile(128, 32) at(0, 32)
  pto.tmatmul_acc ins(%s_2, %q_hi_2, %k_hi : !s2, !q2, !k) outs(%s_2 : !s2) tile(128, 32) at(0, 64)
  pto.tmatmul_acc ins(%s_3, %q_hi_3, %k_hi : !s3, !q3, !k) outs(%s_3 : !s3) tile(128, 32) at(0, 96)

  // The bank holds all four heads: one copy drains it.
  pto.copy %s, %scores : !s, memref<128x512xf32>
  return
}
