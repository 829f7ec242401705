// The generation without flags must not have any; without them there is nothing to verify.
// RUN: %pto_opt --pto-verify-acc=target=nogroup -verify-diagnostics %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>

func.func @none(%w: !w) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc)
  return
}

func.func @flags(%w: !w) {
  // expected-note @+1 {{the destination's buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @+1 {{expected no accumulate flags, because nogroup has none, found start [pto:target-limit]}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start>
  return
}
