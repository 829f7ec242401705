// A memset that legalization inserted cannot go while something added by hand waits for it.
// RUN: %pto_opt --pto-reset-acc -verify-diagnostics %s

!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<64x128xf32, #pto.mem<psum>>
func.func @waited_for(%w: !w, %x: !x) {
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the token is made here}}
  %t = pto.memset %zero, %a : f32, !acc -> !pto.token {inserted}
  // expected-error @+1 {{expected nothing to wait for a memset that legalization inserted, found a token operand that was added by hand [pto:token]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) after(%t)
  return
}
