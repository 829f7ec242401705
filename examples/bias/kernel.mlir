// A linear layer with bias: Y[128,256] = bias[256] + X[128,384] . W[384,256], fp8 in, bf16 out.
// The bias, one row of f32, is spread over the 128 partitions of the accumulator by a DMA with row
// step 0 before any matmul; the engine then adds onto it. Every matmul is a tmatmul_acc.
// On trn3 each carries ACCU (add to what is there). trn2 has no such flag: there the chain runs
// without START and depends on how a copy treats a cell's pending bit ([pto:seeded-accumulate]).

!x = memref<128x128xf8E4M3FN, #pto.mem<sbuf>>
!w = memref<128x256xf8E4M3FN, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>
!hbm_x0 = memref<128x128xf8E4M3FN, strided<[128, 1]>>
!hbm_x1 = memref<128x128xf8E4M3FN, strided<[128, 1], offset: 16384>>
!hbm_x2 = memref<128x128xf8E4M3FN, strided<[128, 1], offset: 32768>>
!hbm_w0 = memref<128x256xf8E4M3FN, strided<[256, 1]>>
!hbm_w1 = memref<128x256xf8E4M3FN, strided<[256, 1], offset: 32768>>
!hbm_w2 = memref<128x256xf8E4M3FN, strided<[256, 1], offset: 65536>>
!bias_rows = memref<128x256xf32, strided<[0, 1]>>

func.func @main(%xt: memref<384x128xf8E4M3FN>, %w: memref<384x256xf8E4M3FN>, %bias: memref<256xf32>,
                %y: memref<128x256xbf16>) {
  %acc = pto.psum_alloc bank(0) offset(0) partition(0) : !acc
  %bias_rows = memref.reinterpret_cast %bias to offset: [0], sizes: [128, 256], strides: [0, 1]
      : memref<256xf32> to !bias_rows
  pto.copy %bias_rows, %acc : !bias_rows, !acc engine(dma)

  // K 0 to 127
  %hbm_x0 = memref.subview %xt[0, 0] [128, 128] [1, 1] : memref<384x128xf8E4M3FN> to !hbm_x0
  %x0 = pto.sbuf_alloc : !x
  pto.copy %hbm_x0, %x0 : !hbm_x0, !x engine(dma)
  %hbm_w0 = memref.subview %w[0, 0] [128, 256] [1, 1] : memref<384x256xf8E4M3FN> to !hbm_w0
  %w0 = pto.sbuf_alloc : !w
  pto.copy %hbm_w0, %w0 : !hbm_w0, !w engine(dma)
  pto.tmatmul_acc ins(%acc, %x0, %w0 : !acc, !x, !w) outs(%acc : !acc)

  // K 128 to 255
  %hbm_x1 = memref.subview %xt[128, 0] [128, 128] [1, 1] : memref<384x128xf8E4M3FN> to !hbm_x1
  %x1 = pto.sbuf_alloc : !x
  pto.copy %hbm_x1, %x1 : !hbm_x1, !x engine(dma)
  %hbm_w1 = memref.subview %w[128, 0] [128, 256] [1, 1] : memref<384x256xf8E4M3FN> to !hbm_w1
  %w1 = pto.sbuf_alloc : !w
  pto.copy %hbm_w1, %w1 : !hbm_w1, !w engine(dma)
  pto.tmatmul_acc ins(%acc, %x1, %w1 : !acc, !x, !w) outs(%acc : !acc)

  // K 256 to 383
  %hbm_x2 = memref.subview %xt[256, 0] [128, 128] [1, 1] : memref<384x128xf8E4M3FN> to !hbm_x2
  %x2 = pto.sbuf_alloc : !x
  pto.copy %hbm_x2, %x2 : !hbm_x2, !x engine(dma)
  %hbm_w2 = memref.subview %w[256, 0] [128, 256] [1, 1] : memref<384x256xf8E4M3FN> to !hbm_w2
  %w2 = pto.sbuf_alloc : !w
  pto.copy %hbm_w2, %w2 : !hbm_w2, !w engine(dma)
  pto.tmatmul_acc ins(%acc, %x2, %w2 : !acc, !x, !w) outs(%acc : !acc)

  pto.copy %acc, %y : !acc, memref<128x256xbf16>
  return
}
