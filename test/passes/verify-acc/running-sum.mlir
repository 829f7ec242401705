// Reads inside the loop that adds. Where the loop around them tells its first iteration apart, whether the inner loop
// runs is told apart too: a cell that is fresh where it does not run is a warning there, as it is elsewhere.
// RUN: %pto_opt --pto-verify-acc --verify-diagnostics %s
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @sum(%w: !w, %out: !out, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %m step %c1 {
    %outer = arith.cmpi eq, %i, %c0 : index
    scf.for %k = %c0 to %n step %c1 {
      %inner = arith.cmpi eq, %k, %c0 : index
      %first = arith.andi %outer, %inner : i1
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%first)
    }
    // expected-warning @below {{expected a written cell, found one that is fresh if a loop does not run}}
    pto.copy %a, %out : !acc, !out
  }
  return
}

// Half of it nobody writes, whether the loop runs or not.
func.func @half(%w: !w, %out: !out, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  %left = memref.subview %a[0, 0] [128, 64] [1, 1] : !acc to memref<128x64xf32, strided<[128, 1]>, #pto.mem<psum>>
  %half = memref.subview %w[0, 0] [128, 64] [1, 1] : !w to memref<128x64xbf16, strided<[128, 1]>, #pto.mem<sbuf>>
  scf.for %i = %c0 to %m step %c1 {
    %outer = arith.cmpi eq, %i, %c0 : index
    scf.for %k = %c0 to %n step %c1 {
      %inner = arith.cmpi eq, %k, %c0 : index
      %first = arith.andi %outer, %inner : i1
      // expected-note @below {{the start is here}}
      pto.tmatmul_acc ins(%left, %w, %half : memref<128x64xf32, strided<[128, 1]>, #pto.mem<psum>>, !w, memref<128x64xbf16, strided<[128, 1]>, #pto.mem<sbuf>>) outs(%left : memref<128x64xf32, strided<[128, 1]>, #pto.mem<psum>>) acc<none> zero_region(0) start_if(%first)
    }
    // expected-error @below {{expected a written cell}}
    pto.copy %a, %out : !acc, !out
  }
  return
}
