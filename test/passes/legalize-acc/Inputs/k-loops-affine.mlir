// K loops with constant bounds, which upstream unrolls whole.

!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x64xbf16, #pto.mem<sbuf>>
!acc = memref<32x64xf32, #pto.mem<psum>>
!out = memref<32x64xf32>

func.func @main(%hw: memref<128x32xbf16>, %hx: memref<128x64xbf16>, %o0: !out, %o1: !out, %o2: !out, %o3: !out, %o4: !out, %o5: !out) {
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

  // Four loops.
  %d = pto.psum_alloc bank(2) : !acc
  affine.for %i = 0 to 2 {
    affine.for %j = 1 to 3 {
      affine.for %k = 0 to 5 step 2 {
        affine.for %l = 0 to 2 {
          pto.tmatmul_acc ins(%d, %w, %x : !acc, !w, !x) outs(%d : !acc)
        }
      }
    }
  }
  pto.copy %d, %o3 : !acc, !out

  // Triangular: once unrolled, the inner loops run 0, 1, 2 and 3 times.
  %e = pto.psum_alloc bank(3) : !acc
  affine.for %i = 0 to 4 {
    affine.for %k = 0 to affine_map<(i) -> (i)>(%i) {
      pto.tmatmul_acc ins(%e, %w, %x : !acc, !w, !x) outs(%e : !acc)
    }
  }
  pto.copy %e, %o4 : !acc, !out

  // The allocation inside: the copies have one place.
  affine.for %i = 0 to 2 {
    %f = pto.psum_alloc bank(4) : !acc
    affine.for %k = 0 to 3 {
      pto.tmatmul_acc ins(%f, %w, %x : !acc, !w, !x) outs(%f : !acc)
    }
    pto.copy %f, %o5 : !acc, !out
  }
  return
}
