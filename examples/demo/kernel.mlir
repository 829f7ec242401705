// Two accumulation chains in one PSUM bank. Chain %b begins when %a is complete but not yet read.

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>

func.func @main() {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.memset %one, %w : f32, !w
  pto.memset %two, %x : f32, !x
  %a = pto.psum_alloc bank(0) offset(0) partition(0) : !acc
  %b = pto.psum_alloc bank(0) offset(1024) partition(0) : !acc

  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)

  pto.expect_eq %a, dense<512.0> : tensor<128x256xf32>, !acc
  pto.expect_eq %b, dense<768.0> : tensor<128x256xf32>, !acc
  return
}
