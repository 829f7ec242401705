// Callers look at pto.psum_banks alone, so a function may touch no other bank: not by an access, not by a zero region,
// which may be larger than the destination, and not by a callee.
// RUN: %pto_opt --pto-verify-acc=target=trn3 --split-input-file --verify-diagnostics %s
// RUN: %pto_opt --pto-reset-acc --pto-legalize-acc=target=trn3 --split-input-file --verify-diagnostics %s
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func private @inner(%w: !w, %out: !out) attributes {pto.psum_banks = array<i32: 2>}
func.func @right(%w: !w, %out: !out) attributes {pto.psum_banks = array<i32: 1, 2>} {
  %a = pto.psum_alloc bank(1) : !acc
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  func.call @inner(%w, %out) : (!w, !out) -> ()
  return
}
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @elsewhere(%w: !w, %out: !out) attributes {pto.psum_banks = array<i32: 1>} {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @below {{expected only the psum banks that the function names (pto.psum_banks), found an access of bank 0 [pto:call]}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x1024xbf16, #pto.mem<sbuf>>
!acc = memref<128x1024xf32, #pto.mem<psum>>
!out = memref<128x1024xf32>
func.func @region(%w: !w, %x: !x, %out: !out) attributes {pto.psum_banks = array<i32: 1, 2>} {
  %a = pto.psum_alloc bank(1) : !acc
  // expected-error @below {{found a zero region over bank 0 [pto:call]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(2)
  pto.copy %a, %out : !acc, !out
  return
}
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func private @inner(%w: !w, %out: !out) attributes {pto.psum_banks = array<i32: 4, 2>}
func.func @callee(%w: !w, %out: !out) attributes {pto.psum_banks = array<i32: 1, 2>} {
  %a = pto.psum_alloc bank(1) : !acc
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  // expected-error @below {{found a callee that touches bank 4 [pto:call]}}
  func.call @inner(%w, %out) : (!w, !out) -> ()
  return
}
// -----

// Of other engines too, where there is no matmul.
!acc = memref<128x128xf32, #pto.mem<psum>>
func.func @fill(%zero: f32) attributes {pto.psum_banks = array<i32>} {
  %a = pto.psum_alloc bank(7) : !acc
  // expected-error @below {{found an access of bank 7 [pto:call]}}
  pto.memset %zero, %a : f32, !acc
  return
}
