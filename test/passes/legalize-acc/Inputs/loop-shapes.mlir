// Every shape of loop and branch around a sum; @main runs each of them, some for several trip counts.
// Step k multiplies slice k of %x, so that a product left out, taken twice or begun anew shows.

!w = memref<32x16xf32, #pto.mem<sbuf>>
!x = memref<32x128xf32, #pto.mem<sbuf>>
!xk = memref<32x16xf32, strided<[128, 1], offset: ?>, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!half = memref<16x8xf32, strided<[16, 1]>, #pto.mem<psum>>
!xh = memref<32x8xf32, strided<[128, 1], offset: ?>, #pto.mem<sbuf>>
!out = memref<16x16xf32>
#slice = affine_map<(k) -> (k * 16)>
#sum = affine_map<(i, j) -> (((i + j) mod 8) * 16)>

// One loop, its bounds known to the caller only.
func.func private @dynamic(%w: !w, %x: !x, %out: !out, %lb: index, %ub: index, %step: index) {
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %ub step %step {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A nest of four, one bound computed inside from values outside.
func.func private @depth_four(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(1) : !acc
  scf.for %i = %c0 to %c2 step %c1 {
    %end = arith.addi %n, %c1 : index
    scf.for %j = %c1 to %end step %c1 {
      affine.for %k = 1 to 3 {
        scf.for %l = %c0 to %c2 step %c1 {
          %at = affine.apply #sum(%k, %l)
          %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
          pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
        }
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Triangular, in scf and in affine: no iteration in which all loops are at their first.
func.func private @triangular(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %k = %c0 to %i step %c1 {
      %at = affine.apply #sum(%i, %k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    }
  }
  affine.for %i = 0 to 3 {
    affine.for %k = 0 to affine_map<(i) -> (i)>(%i) {
      %at = affine.apply #sum(%i, %k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The allocation inside: each iteration of the outer loop begins anew.
func.func private @alloc_inside(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  affine.for %i = 0 to 3 {
    %a = pto.psum_alloc bank(2) : !acc
    scf.for %k = %c0 to %n step %c1 {
      %at = affine.apply #sum(%i, %k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    }
    pto.copy %a, %out : !acc, !out
  }
  return
}

// One bank for one sum after the other, each in a loop that may not run as far as the function knows.
func.func private @bank_again(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(2) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %o0 : !acc, !out
  %b = pto.psum_alloc bank(2) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%b, %w, %xk : !acc, !w, !xk) outs(%b : !acc)
  }
  pto.copy %b, %o1 : !acc, !out
  return
}

// Each iteration overwrites, then adds.
func.func private @begins_each_time(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %i = 0 to 3 {
    %at = affine.apply #slice(%i)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul ins(%w, %xk : !w, !xk) outs(%a : !acc)
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    pto.copy %a, %out : !acc, !out
  }
  return
}

// A peeled head, the loop, a peeled tail.
func.func private @head_and_tail(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %x0 = memref.subview %x[0, 0] [32, 16] [1, 1] : !x to memref<32x16xf32, strided<[128, 1]>, #pto.mem<sbuf>>
  %x1 = memref.cast %x0 : memref<32x16xf32, strided<[128, 1]>, #pto.mem<sbuf>> to !xk
  pto.tmatmul_acc ins(%a, %w, %x1 : !acc, !w, !xk) outs(%a : !acc)
  scf.for %k = %c1 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.tmatmul_acc ins(%a, %w, %x1 : !acc, !w, !xk) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// Sibling loops into one buffer; the second may not wipe the first.
func.func private @siblings(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c3 step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  scf.for %k = %c0 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The same where the first of them may not run.
func.func private @siblings_dynamic(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  affine.for %k = 0 to 2 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Three sums in one bank in one loop, one of them with two matmuls.
func.func private @shared_bank(%w: !w, %x: !x, %o0: !out, %o1: !out, %o2: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(3) : !acc
  %b = pto.psum_alloc bank(3) offset(64) : !acc
  %c = pto.psum_alloc bank(3) offset(1024) : !acc
  scf.for %i = %c0 to %n step %c1 {
    affine.for %k = 0 to 2 {
      %at = affine.apply #sum(%i, %k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
      pto.tmatmul_acc ins(%b, %w, %xk : !acc, !w, !xk) outs(%b : !acc)
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
      pto.tmatmul_acc ins(%c, %w, %xk : !acc, !w, !xk) outs(%c : !acc)
    }
  }
  pto.copy %a, %o0 : !acc, !out
  pto.copy %b, %o1 : !acc, !out
  pto.copy %c, %o2 : !acc, !out
  return
}

// Data of another engine in the bank all the while: no START at all.
func.func private @beside_data(%w: !w, %x: !x, %o0: !out, %o1: !out, %in: !out) {
  %a = pto.psum_alloc bank(3) : !acc
  %b = pto.psum_alloc bank(3) offset(64) : !acc
  pto.copy %in, %b : !out, !acc
  affine.for %k = 0 to 3 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %o0 : !acc, !out
  pto.copy %b, %o1 : !acc, !out
  return
}

// The first iteration overwrites in one arm, the others add in the other.
func.func private @first_iteration_if(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    %first = arith.cmpi eq, %k, %c0 : index
    scf.if %first {
      pto.tmatmul ins(%w, %xk : !w, !xk) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A guard on the index: the body does not run in the first iteration.
func.func private @guarded(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c4 step %c1 {
    %later = arith.cmpi sge, %k, %c1 : index
    scf.if %later {
      %at = affine.apply #slice(%k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A branch with a member in one arm only, between members of the block.
func.func private @one_arm(%w: !w, %x: !x, %out: !out, %p: i1) {
  %a = pto.psum_alloc bank(0) : !acc
  %c16 = arith.constant 16 : index
  %xk = memref.subview %x[0, %c16] [32, 16] [1, 1] : !x to !xk
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  scf.if %p {
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// Both arms begin, what follows adds; and one arm may have begun.
func.func private @either_arm(%w: !w, %x: !x, %o0: !out, %o1: !out, %p: i1) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  %c16 = arith.constant 16 : index
  %xk = memref.subview %x[0, %c16] [32, 16] [1, 1] : !x to !xk
  scf.if %p {
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    pto.tmatmul_acc ins(%b, %w, %xk : !acc, !w, !xk) outs(%b : !acc)
  } else {
    pto.tmatmul ins(%w, %xk : !w, !xk) outs(%a : !acc)
  }
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  pto.tmatmul_acc ins(%b, %w, %xk : !acc, !w, !xk) outs(%b : !acc)
  pto.copy %a, %o0 : !acc, !out
  pto.copy %b, %o1 : !acc, !out
  return
}

func.func private @switch(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %c16 = arith.constant 16 : index
  %xk = memref.subview %x[0, %c16] [32, 16] [1, 1] : !x to !xk
  scf.index_switch %n
  case 0 {
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    scf.yield
  }
  case 1 {
    affine.for %k = 0 to 2 {
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    }
    scf.yield
  }
  default {
    pto.tmatmul ins(%w, %xk : !w, !xk) outs(%a : !acc)
  }
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

func.func private @while(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %end = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %at = affine.apply #slice(%i)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %c16 = arith.constant 16 : index
  %xk = memref.subview %x[0, %c16] [32, 16] [1, 1] : !x to !xk
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// Blocks and jumps: a loop, and one that is entered in two places.
func.func private @jumps(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %at = affine.apply #slice(%i)
  %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^end:
  %c16 = arith.constant 16 : index
  %x1 = memref.subview %x[0, %c16] [32, 16] [1, 1] : !x to !xk
  pto.tmatmul_acc ins(%a, %w, %x1 : !acc, !w, !xk) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}
func.func private @irreducible(%w: !w, %x: !x, %out: !out, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a = pto.psum_alloc bank(0) : !acc
  %xk = memref.subview %x[0, %c16] [32, 16] [1, 1] : !x to !xk
  cf.cond_br %p, ^left(%c0 : index), ^right(%c0 : index)
^left(%i: index):
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  %i1 = arith.addi %i, %c1 : index
  cf.br ^right(%i1 : index)
^right(%j: index):
  pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  %more = arith.cmpi slt, %j, %n : index
  cf.cond_br %more, ^left(%j : index), ^end
^end:
  pto.copy %a, %out : !acc, !out
  return
}

// The sum is an argument: fresh, or data that the caller left there.
func.func private @fresh_argument(%w: !w, %x: !x, %out: !out, %a: !acc {pto.bank = 4 : i64, pto.fresh})
    attributes {pto.psum_banks = array<i32: 4>} {
  affine.for %k = 0 to 3 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}
func.func private @data_argument(%w: !w, %x: !x, %out: !out, %a: !acc {pto.bank = 5 : i64})
    attributes {pto.psum_banks = array<i32: 5>} {
  affine.for %k = 0 to 3 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// One iteration adds to a part of what another wrote.
func.func private @partial(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %left = memref.subview %a[0, 0] [16, 8] [1, 1] : !acc to !half
  affine.for %k = 0 to 3 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    %xh = memref.subview %x[0, %at] [32, 8] [1, 1] : !x to !xh
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    pto.tmatmul_acc ins(%left, %w, %xh : !half, !w, !xh) outs(%left : !half)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The running sum is read in every iteration.
func.func private @read_inside(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    pto.copy %a, %out : !acc, !out
  }
  return
}

func.func private @execute_region(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %k = 0 to 3 {
    scf.execute_region {
      %at = affine.apply #slice(%k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
      scf.yield
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A place used again in each iteration by a buffer of its own, whose loop may not run.
func.func private @place_again(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(2) : !acc
  affine.for %i = 0 to 3 {
    %at = affine.apply #slice(%i)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
  }
  pto.copy %a, %o0 : !acc, !out
  affine.for %i = 0 to 3 {
    %b = pto.psum_alloc bank(2) : !acc
    scf.for %k = %c0 to %n step %c1 {
      %at = affine.apply #sum(%i, %k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%b, %w, %xk : !acc, !w, !xk) outs(%b : !acc)
    }
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// A place used again after a loop that writes it in its first iteration alone.
func.func private @place_after_guard(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = pto.psum_alloc bank(2) : !acc
  %b = pto.psum_alloc bank(2) : !acc
  scf.for %k = %c0 to %c3 step %c1 {
    %first = arith.cmpi slt, %k, %c1 : index
    scf.if %first {
      %at = affine.apply #slice(%k)
      %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
      pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    }
  }
  pto.copy %a, %o0 : !acc, !out
  scf.for %k = %c0 to %n step %c1 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%b, %w, %xk : !acc, !w, !xk) outs(%b : !acc)
  }
  pto.copy %b, %o1 : !acc, !out
  return
}

// Two sums in one bank that one arm may begin and a loop goes on with: zeros, and no START over them.
func.func private @arm_then_loop(%w: !w, %x: !x, %o0: !out, %o1: !out, %p: i1) {
  %a = pto.psum_alloc bank(2) : !acc
  %b = pto.psum_alloc bank(2) offset(64) : !acc
  %x0 = memref.subview %x[0, 0] [32, 16] [1, 1] : !x to memref<32x16xf32, strided<[128, 1]>, #pto.mem<sbuf>>
  %x1 = memref.cast %x0 : memref<32x16xf32, strided<[128, 1]>, #pto.mem<sbuf>> to !xk
  scf.if %p {
    pto.tmatmul_acc ins(%a, %w, %x1 : !acc, !w, !xk) outs(%a : !acc)
    pto.tmatmul_acc ins(%b, %w, %x1 : !acc, !w, !xk) outs(%b : !acc)
  }
  affine.for %k = 0 to 3 {
    %at = affine.apply #slice(%k)
    %xk = memref.subview %x[0, %at] [32, 16] [1, 1] : !x to !xk
    pto.tmatmul_acc ins(%a, %w, %xk : !acc, !w, !xk) outs(%a : !acc)
    pto.tmatmul_acc ins(%b, %w, %xk : !acc, !w, !xk) outs(%b : !acc)
  }
  pto.copy %a, %o0 : !acc, !out
  pto.copy %b, %o1 : !acc, !out
  return
}

func.func @main(%hw: memref<32x16xf32>, %hx: memref<32x128xf32>, %in: !out, %p0: !out, %p1: !out, %o0: !out, %o1: !out, %o2: !out, %o3: !out, %o4: !out, %o5: !out, %o6: !out, %o7: !out, %o8: !out, %o9: !out, %o10: !out, %o11: !out, %o12: !out, %o13: !out, %o14: !out, %o15: !out, %o16: !out, %o17: !out, %o18: !out, %o19: !out, %o20: !out, %o21: !out, %o22: !out, %o23: !out, %o24: !out, %o25: !out, %o26: !out, %o27: !out, %o28: !out, %o29: !out, %o30: !out, %o31: !out, %o32: !out, %o33: !out, %o34: !out, %o35: !out, %o36: !out, %o37: !out, %o38: !out, %o39: !out, %o40: !out, %o41: !out, %o42: !out, %o43: !out, %o44: !out, %o45: !out, %o46: !out, %o47: !out, %o48: !out, %o49: !out, %o50: !out, %o51: !out, %o52: !out, %o53: !out, %o54: !out, %o55: !out, %o56: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %true = arith.constant true
  %false = arith.constant false
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : memref<32x16xf32>, !w
  pto.copy %hx, %x : memref<32x128xf32>, !x
  %fresh = pto.psum_alloc bank(4) : !acc
  %data = pto.psum_alloc bank(5) : !acc
  %zero = arith.constant 0.0 : f32
  call @dynamic(%w, %x, %o0, %c0, %c4, %c1) : (!w, !x, !out, index, index, index) -> ()
  call @dynamic(%w, %x, %o1, %c0, %c1, %c1) : (!w, !x, !out, index, index, index) -> ()
  call @dynamic(%w, %x, %o2, %c1, %c4, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @depth_four(%w, %x, %o3, %c2) : (!w, !x, !out, index) -> ()
  call @depth_four(%w, %x, %o4, %c1) : (!w, !x, !out, index) -> ()
  call @triangular(%w, %x, %o5) : (!w, !x, !out) -> ()
  call @alloc_inside(%w, %x, %o6, %c3) : (!w, !x, !out, index) -> ()
  call @alloc_inside(%w, %x, %o7, %c1) : (!w, !x, !out, index) -> ()
  call @bank_again(%w, %x, %p0, %p1, %c3) : (!w, !x, !out, !out, index) -> ()
  call @begins_each_time(%w, %x, %o8) : (!w, !x, !out) -> ()
  call @head_and_tail(%w, %x, %o9, %c4) : (!w, !x, !out, index) -> ()
  call @head_and_tail(%w, %x, %o10, %c0) : (!w, !x, !out, index) -> ()
  call @siblings(%w, %x, %o11, %c0) : (!w, !x, !out, index) -> ()
  call @siblings(%w, %x, %o12, %c1) : (!w, !x, !out, index) -> ()
  call @siblings(%w, %x, %o13, %c3) : (!w, !x, !out, index) -> ()
  call @siblings_dynamic(%w, %x, %o14, %c0) : (!w, !x, !out, index) -> ()
  call @siblings_dynamic(%w, %x, %o15, %c1) : (!w, !x, !out, index) -> ()
  call @siblings_dynamic(%w, %x, %o16, %c3) : (!w, !x, !out, index) -> ()
  call @shared_bank(%w, %x, %o17, %o18, %o19, %c1) : (!w, !x, !out, !out, !out, index) -> ()
  call @shared_bank(%w, %x, %o20, %o21, %o22, %c3) : (!w, !x, !out, !out, !out, index) -> ()
  call @beside_data(%w, %x, %o23, %o24, %in) : (!w, !x, !out, !out, !out) -> ()
  call @first_iteration_if(%w, %x, %o25, %c4) : (!w, !x, !out, index) -> ()
  call @first_iteration_if(%w, %x, %o26, %c1) : (!w, !x, !out, index) -> ()
  call @guarded(%w, %x, %o27) : (!w, !x, !out) -> ()
  call @one_arm(%w, %x, %o28, %true) : (!w, !x, !out, i1) -> ()
  call @one_arm(%w, %x, %o29, %false) : (!w, !x, !out, i1) -> ()
  call @either_arm(%w, %x, %o30, %o31, %true) : (!w, !x, !out, !out, i1) -> ()
  call @either_arm(%w, %x, %o32, %o33, %false) : (!w, !x, !out, !out, i1) -> ()
  call @switch(%w, %x, %o34, %c0) : (!w, !x, !out, index) -> ()
  call @switch(%w, %x, %o35, %c1) : (!w, !x, !out, index) -> ()
  call @switch(%w, %x, %o36, %c2) : (!w, !x, !out, index) -> ()
  call @while(%w, %x, %o37, %c0) : (!w, !x, !out, index) -> ()
  call @while(%w, %x, %o38, %c1) : (!w, !x, !out, index) -> ()
  call @while(%w, %x, %o39, %c3) : (!w, !x, !out, index) -> ()
  call @jumps(%w, %x, %o40, %c0) : (!w, !x, !out, index) -> ()
  call @jumps(%w, %x, %o41, %c3) : (!w, !x, !out, index) -> ()
  call @irreducible(%w, %x, %o42, %c2, %true) : (!w, !x, !out, index, i1) -> ()
  call @irreducible(%w, %x, %o43, %c0, %false) : (!w, !x, !out, index, i1) -> ()
  pto.memset %zero, %fresh : f32, !acc
  call @fresh_argument(%w, %x, %o44, %fresh) : (!w, !x, !out, !acc) -> ()
  pto.copy %in, %data : !out, !acc
  call @data_argument(%w, %x, %o45, %data) : (!w, !x, !out, !acc) -> ()
  call @partial(%w, %x, %o46) : (!w, !x, !out) -> ()
  call @read_inside(%w, %x, %o47, %c3) : (!w, !x, !out, index) -> ()
  call @execute_region(%w, %x, %o48) : (!w, !x, !out) -> ()
  call @place_again(%w, %x, %o49, %o50, %c3) : (!w, !x, !out, !out, index) -> ()
  call @place_after_guard(%w, %x, %o51, %o52, %c3) : (!w, !x, !out, !out, index) -> ()
  call @arm_then_loop(%w, %x, %o53, %o54, %true) : (!w, !x, !out, !out, i1) -> ()
  call @arm_then_loop(%w, %x, %o55, %o56, %false) : (!w, !x, !out, !out, i1) -> ()
  return
}
