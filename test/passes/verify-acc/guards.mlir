// Ways to ask whether a loop is in its first iteration: a START under each of them is proved.
// RUN: %pto_opt --pto-verify-acc %s -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=pto:not-provable
// CHECK: [pto:maybe-undefined]
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// The bounds are constants.
func.func @constant(%w: !w, %out: !out) {
  %false = arith.constant false
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c1 to %c9 step %c2 {
    %p = arith.cmpi ult, %k, %c2 : index
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %a, %out : !acc, !out
  // Sets of iterations that alone are none of the four that are known.
  %b = pto.psum_alloc bank(1) : !acc
  scf.for %k = %c1 to %c9 step %c2 {
    %early = arith.cmpi sle, %k, %c3 : index
    %other = arith.cmpi ne, %k, %c3 : index
    %p = arith.andi %early, %other : i1
    pto.tmatmul_acc ins(%b, %w, %w : !acc, !w, !w) outs(%b : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %b, %out : !acc, !out
  %c = pto.psum_alloc bank(2) : !acc
  scf.for %k = %c1 to %c9 step %c2 {
    %late = arith.cmpi sgt, %k, %c3 : index
    %second = arith.cmpi eq, %k, %c3 : index
    %later = arith.ori %late, %second : i1
    %p = arith.cmpi eq, %later, %false : i1
    pto.tmatmul_acc ins(%c, %w, %w : !acc, !w, !w) outs(%c : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %c, %out : !acc, !out
  %d = pto.psum_alloc bank(3) : !acc
  affine.for %k = 2 to 6 {
    %later = arith.cmpi slt, %c2, %k : index
    %p = arith.select %later, %false, %true : i1
    pto.tmatmul_acc ins(%d, %w, %w : !acc, !w, !w) outs(%d : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %d, %out : !acc, !out
  return
}

// They are known to the caller only.
func.func @dynamic(%w: !w, %out: !out, %lb: index, %ub: index, %step: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %ub step %step {
    %p = arith.cmpi sge, %lb, %k : index
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %a, %out : !acc, !out
  %b = pto.psum_alloc bank(1) : !acc
  scf.for %k = %lb to %ub step %c1 {
    %second = arith.addi %lb, %c1 : index
    %p = arith.cmpi slt, %k, %second : index
    pto.tmatmul_acc ins(%b, %w, %w : !acc, !w, !w) outs(%b : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %b, %out : !acc, !out
  %c = pto.psum_alloc bank(2) : !acc
  scf.for %k = %lb to %ub step %step {
    %done = arith.subi %k, %lb : index
    %p = arith.cmpi eq, %done, %c0 : index
    pto.tmatmul_acc ins(%c, %w, %w : !acc, !w, !w) outs(%c : !acc) acc<none> zero_region(0) start_if(%p)
  }
  pto.copy %c, %out : !acc, !out
  %d = pto.psum_alloc bank(3) : !acc
  scf.for %k = %c1 to %ub step %step {
    %q = arith.cmpi eq, %k, %c1 : index
    pto.tmatmul_acc ins(%d, %w, %w : !acc, !w, !w) outs(%d : !acc) acc<none> zero_region(0) start_if(%q)
  }
  pto.copy %d, %out : !acc, !out
  return
}
