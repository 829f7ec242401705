// Two accumulation chains in one PSUM bank. Chain %b begins when %a is complete but not yet read.

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>

func.func @main(%w: !w, %x: !x, %out_a: memref<128x256xf32>, %out_b: memref<128x256xf32>) {
  %a = pto.psum_alloc bank(0) offset(0) partition(0) : !acc
  %b = pto.psum_alloc bank(0) offset(1024) partition(0) : !acc

  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)

  pto.copy %a, %out_a : !acc, memref<128x256xf32>
  pto.copy %b, %out_b : !acc, memref<128x256xf32>
  return
}
