// The gate and up projections of an MLP: two products over the same activations, 128 features each,
// 256 tokens, hidden size 256, bf16 in, bf16 out. Every K step of the activations is used twice
// while it is in SBUF, so the two chains grow in turns, side by side in one PSUM bank.

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>
!hbm_w_lo = memref<128x128xbf16, strided<[128, 1]>>
!hbm_w_hi = memref<128x128xbf16, strided<[128, 1], offset: 16384>>
!hbm_x_lo = memref<128x256xbf16, strided<[256, 1]>>
!hbm_x_hi = memref<128x256xbf16, strided<[256, 1], offset: 32768>>

func.func @main(%w_gate: memref<256x128xbf16>, %w_up: memref<256x128xbf16>, %tokens: memref<256x256xbf16>,
                %out_gate: memref<128x256xbf16>, %out_up: memref<128x256xbf16>) {
  %gate = pto.psum_alloc bank(0) offset(0) partition(0) : !acc
  %up = pto.psum_alloc bank(0) offset(1024) partition(0) : !acc

  // Hidden 0 to 127.
  %hbm_x_lo = memref.subview %tokens[0, 0] [128, 256] [1, 1] : memref<256x256xbf16> to !hbm_x_lo
  %x_lo = pto.sbuf_alloc : !x
  pto.copy %hbm_x_lo, %x_lo : !hbm_x_lo, !x engine(dma)
  %hbm_gate_lo = memref.subview %w_gate[0, 0] [128, 128] [1, 1] : memref<256x128xbf16> to !hbm_w_lo
  %gate_lo = pto.sbuf_alloc : !w
  pto.copy %hbm_gate_lo, %gate_lo : !hbm_w_lo, !w engine(dma)
  %hbm_up_lo = memref.subview %w_up[0, 0] [128, 128] [1, 1] : memref<256x128xbf16> to !hbm_w_lo
  %up_lo = pto.sbuf_alloc : !w
  pto.copy %hbm_up_lo, %up_lo : !hbm_w_lo, !w engine(dma)
  pto.tmatmul ins(%gate_lo, %x_lo : !w, !x) outs(%gate : !acc)
  pto.tmatmul ins(%up_lo, %x_lo : !w, !x) outs(%up : !acc)

  // Hidden 128 to 255.
  %hbm_x_hi = memref.subview %tokens[128, 0] [128, 256] [1, 1] : memref<256x256xbf16> to !hbm_x_hi
  %x_hi = pto.sbuf_alloc : !x
  pto.copy %hbm_x_hi, %x_hi : !hbm_x_hi, !x engine(dma)
  %hbm_gate_hi = memref.subview %w_gate[128, 0] [128, 128] [1, 1] : memref<256x128xbf16> to !hbm_w_hi
  %gate_hi = pto.sbuf_alloc : !w
  pto.copy %hbm_gate_hi, %gate_hi : !hbm_w_hi, !w engine(dma)
  %hbm_up_hi = memref.subview %w_up[128, 0] [128, 128] [1, 1] : memref<256x128xbf16> to !hbm_w_hi
  %up_hi = pto.sbuf_alloc : !w
  pto.copy %hbm_up_hi, %up_hi : !hbm_w_hi, !w engine(dma)
  pto.tmatmul_acc ins(%gate, %gate_hi, %x_hi : !acc, !w, !x) outs(%gate : !acc)
  pto.tmatmul_acc ins(%up, %up_hi, %x_hi : !acc, !w, !x) outs(%up : !acc)

  // Draining rounds f32 to bf16.
  pto.copy %gate, %out_gate : !acc, memref<128x256xbf16>
  pto.copy %up, %out_up : !acc, memref<128x256xbf16>
  return
}
