// Sums over K loops of every shape, each drained into a host buffer.

!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x64xbf16, #pto.mem<sbuf>>
!acc = memref<32x64xf32, #pto.mem<psum>>
!host_w = memref<128x32xbf16>
!host_x = memref<128x64xbf16>
!out = memref<32x64xf32>

func.func @main(%hw: !host_w, %hx: !host_x, %o0: !out, %o1: !out, %o2: !out, %o3: !out, %o4: !out) {
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : !host_w, !w
  pto.copy %hx, %x : !host_x, !x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  %c = pto.psum_alloc bank(2) : !acc
  %d = pto.psum_alloc bank(2) offset(1024) : !acc

  // A nest, two matmuls in the body.
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %k = %c0 to %c4 step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %o0 : !acc, !out

  // Triangular.
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %k = %c0 to %i step %c1 {
      pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    }
  }
  pto.copy %b, %o1 : !acc, !out

  // Two sums in one bank.
  scf.for %k = %c0 to %c4 step %c1 {
    pto.tmatmul_acc ins(%c, %w, %x : !acc, !w, !x) outs(%c : !acc)
    pto.tmatmul_acc ins(%d, %w, %x : !acc, !w, !x) outs(%d : !acc)
    pto.tmatmul_acc ins(%d, %w, %x : !acc, !w, !x) outs(%d : !acc)
  }
  pto.copy %c, %o2 : !acc, !out
  pto.copy %d, %o3 : !acc, !out

  // The first iteration overwrites.
  scf.for %k = %c0 to %c3 step %c1 {
    %first = arith.cmpi eq, %k, %c0 : index
    scf.if %first {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %o4 : !acc, !out
  return
}
