// A predicate that nothing is known of: neither right nor wrong, and the lint says so.
// RUN: %pto_opt --pto-verify-acc --verify-diagnostics %s
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @explicit(%w: !w, %out: !out, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c4 step %c1 {
    // expected-warning @below {{found that right or wrong depends on a predicate}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %a, %out : !acc, !out
  return
}
