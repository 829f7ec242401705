// K loops with constant bounds, which upstream unrolls whole.

!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x64xbf16, #pto.mem<sbuf>>
!acc = memref<32x64xf32, #pto.mem<psum>>
!out = memref<32x64xf32>

func.func @main(%hw: memref<128x32xbf16>, %hx: memref<128x64xbf16>, %o0: !out, %o1: !out, %o2: !out) {
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : memref<128x32xbf16>, !w
  pto.copy %hx, %x : memref<128x64xbf16>, !x
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  %c = pto.psum_alloc bank(1) offset(1024) : !acc
  affine.for %i = 0 to 2 {
    affine.for %k = 0 to 3 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %o0 : !acc, !out
  affine.for %k = 0 to 4 {
    pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    pto.tmatmul_acc ins(%c, %w, %x : !acc, !w, !x) outs(%c : !acc)
    pto.tmatmul_acc ins(%c, %w, %x : !acc, !w, !x) outs(%c : !acc)
  }
  pto.copy %b, %o1 : !acc, !out
  pto.copy %c, %o2 : !acc, !out
  return
}
