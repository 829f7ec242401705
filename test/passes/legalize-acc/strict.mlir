// Under `strict` a warning about the meaning of flags is an error.
// RUN: %pto_opt --pto-legalize-acc=strict -split-input-file -verify-diagnostics %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @seeded(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the data comes from here}}
  pto.copy %out, %a : !out, !acc
  // expected-error @+1 {{[pto:seeded-accumulate]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @mixed(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @+1 {{[pto:mixed-flags]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<stop> zero_region(0)
  // expected-note @+1 {{this one has none}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}
