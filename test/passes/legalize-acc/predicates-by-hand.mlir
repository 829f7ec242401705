// Predicates that somebody else wrote: what is known of them is proved, what is not is left to the author, with a
// warning; flags are not derived around them.
// RUN: %pto_opt --pto-legalize-acc --split-input-file --verify-diagnostics %s
// RUN: not %pto_opt --pto-legalize-acc=strict --split-input-file %s 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: error: expected flags that are known, {{.*}} [pto:not-provable]
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
// Nothing is known of %p: legalization leaves the flags and says that they are not proved.
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
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @mixed(%w: !w, %out: !out, %p: i1) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @below {{expected flags that do not depend on the run among matmuls to derive flags for, found start_if or stop_if [pto:control-flow]}}
  pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) start_if(%p)
  // expected-note @below {{this one has no flags}}
  pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
// Known, and right.
func.func @right(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c4 step %c1 {
    %first = arith.cmpi eq, %k, %c0 : index
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%first)
  }
  pto.copy %a, %out : !acc, !out
  return
}
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @wrong(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c4 step %c1 {
    %later = arith.cmpi ne, %k, %c0 : index
    // expected-error @below {{expected this matmul to overwrite, found that its flags make it add to cells that nobody wrote}}
    // expected-error @below {{expected this matmul to add, found that its own start makes it overwrite}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%later)
  }
  pto.copy %a, %out : !acc, !out
  return
}
