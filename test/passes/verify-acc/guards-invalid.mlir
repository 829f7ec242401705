// Guards that hold in other iterations than the first, and some of which nothing is known.
// RUN: %pto_opt --pto-verify-acc --split-input-file --verify-diagnostics %s
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @second(%w: !w, %out: !out, %lb: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %k = 0 to 4 {
    %p = arith.cmpi slt, %k, %c1 : index
    %late = arith.constant false
    %q = arith.cmpi eq, %p, %late : i1
    // expected-error @below {{found that its flags make it add to cells that nobody wrote}}
    // expected-error @below {{found that its own start makes it overwrite}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%q)
  }
  pto.copy %a, %out : !acc, !out
  return
}
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
// The first two iterations: neither the first nor all.
func.func @first_two(%w: !w, %out: !out) {
  %c2 = arith.constant 2 : index
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %k = 0 to 4 {
    %p = arith.cmpi slt, %k, %c2 : index
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
// Numbers that may be negative, compared as if they were not.
func.func @unsigned(%w: !w, %out: !out, %lb: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %c4 step %c1 {
    %p = arith.cmpi ule, %k, %lb : index
    // expected-note @below {{the cells were written here}}
    // expected-warning @below {{found that right or wrong depends on a predicate}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%p)
  }
  // expected-warning @below {{fresh if a loop does not run}}
  pto.copy %a, %out : !acc, !out
  return
}
// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
// The loop counts 0, 50, 100, 150, 200. For the comparison the last two are negative, so less than 1 again.
func.func @signed_in_unsigned(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : i8
  %c1 = arith.constant 1 : i8
  %step = arith.constant 50 : i8
  %end = arith.constant -20 : i8
  // expected-note @below {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.for unsigned %k = %c0 to %end step %step : i8 {
    %p = arith.cmpi slt, %k, %c1 : i8
    // expected-warning @below {{found that right or wrong depends on a predicate}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %a, %out : !acc, !out
  return
}
