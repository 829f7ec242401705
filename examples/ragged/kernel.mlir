// C[100,130] = A[100,300] . B[300,130] in f32: no size is a multiple of a tile. A is stored K-major.
// K steps of 128, 128 and 44; the accumulator is 100 partitions of 520 bytes.

!w = memref<128x100xf32, #pto.mem<sbuf>>
!x = memref<128x130xf32, #pto.mem<sbuf>>
!w_end = memref<44x100xf32, #pto.mem<sbuf>>
!x_end = memref<44x130xf32, #pto.mem<sbuf>>
!acc = memref<100x130xf32, #pto.mem<psum>>
!hbm_w0 = memref<128x100xf32, strided<[100, 1]>>
!hbm_w1 = memref<128x100xf32, strided<[100, 1], offset: 12800>>
!hbm_w2 = memref<44x100xf32, strided<[100, 1], offset: 25600>>
!hbm_x0 = memref<128x130xf32, strided<[130, 1]>>
!hbm_x1 = memref<128x130xf32, strided<[130, 1], offset: 16640>>
!hbm_x2 = memref<44x130xf32, strided<[130, 1], offset: 33280>>

func.func @main(%at: memref<300x100xf32>, %b: memref<300x130xf32>, %c: memref<100x130xf32>) {
  %acc = pto.psum_alloc bank(0) offset(0) partition(0) : !acc

  // K 0 to 127
  %hbm_w0 = memref.subview %at[0, 0] [128, 100] [1, 1] : memref<300x100xf32> to !hbm_w0
  %w0 = pto.sbuf_alloc : !w
  pto.copy %hbm_w0, %w0 : !hbm_w0, !w engine(dma)
  %hbm_x0 = memref.subview %b[0, 0] [128, 130] [1, 1] : memref<300x130xf32> to !hbm_x0
  %x0 = pto.sbuf_alloc : !x
  pto.copy %hbm_x0, %x0 : !hbm_x0, !x engine(dma)
  pto.tmatmul ins(%w0, %x0 : !w, !x) outs(%acc : !acc)

  // K 128 to 255
  %hbm_w1 = memref.subview %at[128, 0] [128, 100] [1, 1] : memref<300x100xf32> to !hbm_w1
  %w1 = pto.sbuf_alloc : !w
  pto.copy %hbm_w1, %w1 : !hbm_w1, !w engine(dma)
  %hbm_x1 = memref.subview %b[128, 0] [128, 130] [1, 1] : memref<300x130xf32> to !hbm_x1
  %x1 = pto.sbuf_alloc : !x
  pto.copy %hbm_x1, %x1 : !hbm_x1, !x engine(dma)
  pto.tmatmul_acc ins(%acc, %w1, %x1 : !acc, !w, !x) outs(%acc : !acc)

  // K 256 to 299
  %hbm_w2 = memref.subview %at[256, 0] [44, 100] [1, 1] : memref<300x100xf32> to !hbm_w2
  %w2 = pto.sbuf_alloc : !w_end
  pto.copy %hbm_w2, %w2 : !hbm_w2, !w_end engine(dma)
  %hbm_x2 = memref.subview %b[256, 0] [44, 130] [1, 1] : memref<300x130xf32> to !hbm_x2
  %x2 = pto.sbuf_alloc : !x_end
  pto.copy %hbm_x2, %x2 : !hbm_x2, !x_end engine(dma)
  pto.tmatmul_acc ins(%acc, %w2, %x2 : !acc, !w_end, !x_end) outs(%acc : !acc)

  pto.copy %acc, %c : !acc, memref<100x130xf32>
  return
}
