// Buffers that are allocated before loops, branches and jumps, and have one place: their lives do not meet.
// @main runs each function, some for several trip counts.

!w = memref<32x16xf32, #pto.mem<sbuf>>
!x = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// An arm that a constant guard never takes goes on with a sum whose place is another buffer's by then.
func.func private @dead_arm(%w: !w, %x: !x, %o0: !out, %o1: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %no = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %c3 step %c1 {
    scf.if %no {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// A guard that compares constants.
func.func private @dead_compare(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    %yes = arith.cmpi slt, %c3, %c4 : index
    scf.if %yes {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// A switch on a constant.
func.func private @dead_case(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    scf.index_switch %c2
    case 0 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      scf.yield
    }
    case 2 {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      scf.yield
    }
    default {
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// A switch on a constant that is no case.
func.func private @dead_default(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    scf.index_switch %c2
    case 0 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      scf.yield
    }
    default {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// A loop that never runs, and one in an arm that is never taken, over the place of a live value.
func.func private @dead_over_live(%w: !w, %x: !x, %o0: !out, %o1: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %no = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  scf.for %i = %c1 to %c0 step %c1 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  scf.if %no {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %o0 : !acc, !out
  return
}

// The place is used again after an inner loop of unknown bounds.
func.func private @again_after_loop(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %first = arith.cmpi eq, %k, %c0 : index
      scf.if %first {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// What overwrites stands before the inner loop, whose bounds vary.
func.func private @around_loop(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    scf.for %k = %c0 to %i step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    scf.for %k = %c0 to %i step %c1 {
      pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    }
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// The condition of a while runs at least once.
func.func private @do_while(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    %r = scf.while (%j = %c0) : (index) -> index {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      %next = arith.addi %j, %c1 : index
      %more = arith.cmpi slt, %next, %n : index
      scf.condition(%more) %next : index
    } do {
    ^bb0(%j: index):
      scf.yield %j : index
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// The same in a while.
func.func private @while_again(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  %r = scf.while (%j = %c0) : (index) -> index {
    %more = arith.cmpi slt, %j, %n : index
    scf.condition(%more) %j : index
  } do {
  ^bb0(%j: index):
    affine.for %k = 0 to %n {
      %first = arith.cmpi eq, %k, %c0 : index
      scf.if %first {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
    %next = arith.addi %j, %c1 : index
    scf.yield %next : index
  }
  return
}

// The same in a loop with other bounds.
func.func private @other_bounds(%w: !w, %x: !x, %o0: !out, %o1: !out, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %m step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %first = arith.cmpi eq, %k, %c0 : index
      scf.if %first {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// Bounds that are made anew for each tile, as the buffers are.
func.func private @bounds_of_tile(%w: !w, %x: !x, %o0: !out, %o1: !out, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    %a = pto.psum_alloc bank(0) : !acc
    %b = pto.psum_alloc bank(0) : !acc
    %e = arith.addi %i, %n : index
    scf.for %j = %c0 to %m step %c1 {
      scf.for %k = %i to %e step %c1 {
        %first = arith.cmpi eq, %k, %i : index
        scf.if %first {
          pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
        } else {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
      pto.copy %a, %o0 : !acc, !out
      scf.for %k = %i to %e step %c1 {
        %first = arith.cmpi eq, %k, %i : index
        scf.if %first {
          pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
        } else {
          pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
        }
      }
      pto.copy %b, %o1 : !acc, !out
    }
  }
  return
}

// A triangle with its diagonal: no loop of it is empty.
func.func private @triangle(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pto.psum_alloc bank(0) : !acc
  %o = pto.psum_alloc bank(0) : !acc
  scf.for %q = %c0 to %n step %c1 {
    %qe = arith.addi %q, %c1 : index
    scf.for %k = %c0 to %qe step %c1 {
      %e = arith.cmpi eq, %k, %c0 : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !acc)
      } else {
        pto.tmatmul_acc ins(%s, %w, %x : !acc, !w, !x) outs(%s : !acc)
      }
    }
    pto.copy %s, %o0 : !acc, !out
    scf.for %k = %c0 to %qe step %c1 {
      %e = arith.cmpi eq, %k, %c0 : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%o : !acc)
      } else {
        pto.tmatmul_acc ins(%o, %w, %x : !acc, !w, !x) outs(%o : !acc)
      }
    }
    pto.copy %o, %o1 : !acc, !out
  }
  return
}

// The same in blocks of four.
func.func private @triangle_of_blocks(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = pto.psum_alloc bank(0) : !acc
  %o = pto.psum_alloc bank(0) : !acc
  scf.for %q = %c0 to %n step %c4 {
    %qe = arith.addi %q, %c4 : index
    scf.for %k = %c0 to %qe step %c1 {
      %e = arith.cmpi eq, %k, %c0 : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !acc)
      } else {
        pto.tmatmul_acc ins(%s, %w, %x : !acc, !w, !x) outs(%s : !acc)
      }
    }
    pto.copy %s, %o0 : !acc, !out
    scf.for %k = %c0 to %qe step %c1 {
      %e = arith.cmpi eq, %k, %c0 : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%o : !acc)
      } else {
        pto.tmatmul_acc ins(%o, %w, %x : !acc, !w, !x) outs(%o : !acc)
      }
    }
    pto.copy %o, %o1 : !acc, !out
  }
  return
}

// From a variable to a little further.
func.func private @diagonal(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pto.psum_alloc bank(0) : !acc
  %o = pto.psum_alloc bank(0) : !acc
  scf.for %q = %c0 to %n step %c1 {
    %qe = arith.addi %q, %c1 : index
    scf.for %k = %q to %qe step %c1 {
      %e = arith.cmpi eq, %k, %q : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !acc)
      } else {
        pto.tmatmul_acc ins(%s, %w, %x : !acc, !w, !x) outs(%s : !acc)
      }
    }
    pto.copy %s, %o0 : !acc, !out
    scf.for %k = %q to %qe step %c1 {
      %e = arith.cmpi eq, %k, %q : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%o : !acc)
      } else {
        pto.tmatmul_acc ins(%o, %w, %x : !acc, !w, !x) outs(%o : !acc)
      }
    }
    pto.copy %o, %o1 : !acc, !out
  }
  return
}

// Two sums that begin behind jumps, one after the other.
func.func private @one_after_the_other(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  cf.br ^suma(%c0 : index)
^suma(%i: index):
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  %in = arith.addi %i, %c1 : index
  %im = arith.cmpi slt, %in, %n : index
  cf.cond_br %im, ^suma(%in : index), ^between
^between:
  pto.copy %a, %o0 : !acc, !out
  cf.br ^sumb(%c0 : index)
^sumb(%j: index):
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  %jn = arith.addi %j, %c1 : index
  %jm = arith.cmpi slt, %jn, %n : index
  cf.cond_br %jm, ^sumb(%jn : index), ^end
^end:
  pto.copy %b, %o1 : !acc, !out
  return
}

// A state machine: each state has a buffer of its own, in one place.
func.func private @states(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^choose, ^end
^choose:
  %odd = arith.remui %i, %c2 : index
  %s = arith.index_cast %odd : index to i32
  cf.switch %s : i32, [
    default: ^even,
    1: ^odd
  ]
^even:
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %o0 : !acc, !out
  cf.br ^next
^odd:
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  cf.br ^drain
^drain:
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.copy %b, %o1 : !acc, !out
  cf.br ^next
^next:
  %in = arith.addi %i, %c1 : index
  cf.br ^head(%in : index)
^end:
  return
}

// Two loops one after the other in a loop over tiles, as jumps.
func.func private @lowered_nest(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^begin, ^end
^begin:
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  cf.br ^k(%c1 : index)
^k(%k: index):
  %km = arith.cmpi slt, %k, %n : index
  cf.cond_br %km, ^kbody, ^kend
^kbody:
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  %kn = arith.addi %k, %c1 : index
  cf.br ^k(%kn : index)
^kend:
  pto.copy %a, %o0 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  cf.br ^l(%c1 : index)
^l(%l: index):
  %lm = arith.cmpi slt, %l, %n : index
  cf.cond_br %lm, ^lbody, ^lend
^lbody:
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  %ln = arith.addi %l, %c1 : index
  cf.br ^l(%ln : index)
^lend:
  pto.copy %b, %o1 : !acc, !out
  %in = arith.addi %i, %c1 : index
  cf.br ^head(%in : index)
^end:
  return
}

// Two ways, each with a sum of its own.
func.func private @diamond(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  %p = arith.cmpi slt, %n, %c2 : index
  cf.cond_br %p, ^left, ^right
^left:
  cf.br ^sumleft(%c0 : index)
^sumleft(%i: index):
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  %in = arith.addi %i, %c1 : index
  %im = arith.cmpi slt, %in, %n : index
  cf.cond_br %im, ^sumleft(%in : index), ^drainleft
^drainleft:
  pto.copy %a, %o0 : !acc, !out
  cf.br ^end
^right:
  cf.br ^sumright(%c0 : index)
^sumright(%j: index):
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  %jn = arith.addi %j, %c1 : index
  %jm = arith.cmpi slt, %jn, %n : index
  cf.cond_br %jm, ^sumright(%jn : index), ^drainright
^drainright:
  pto.copy %b, %o1 : !acc, !out
  cf.br ^end
^end:
  return
}

func.func @main(%hw: memref<32x16xf32>, %hx: memref<32x16xf32>,
                %p0a: !out, %p0b: !out, %p1a: !out, %p1b: !out, %p2a: !out, %p2b: !out, %p3a: !out, %p3b: !out,
                %p4a: !out, %p4b: !out, %p5a: !out, %p5b: !out, %p6a: !out, %p6b: !out, %p7a: !out, %p7b: !out,
                %p8a: !out, %p8b: !out, %p9a: !out, %p9b: !out, %p10a: !out, %p10b: !out, %p11a: !out, %p11b: !out,
                %p12a: !out, %p12b: !out, %p13a: !out, %p13b: !out, %p14a: !out, %p14b: !out, %p15a: !out, %p15b: !out,
                %p16a: !out, %p16b: !out, %p17a: !out, %p17b: !out, %p18a: !out, %p18b: !out, %p19a: !out, %p19b: !out,
                %p20a: !out, %p20b: !out, %p21a: !out, %p21b: !out) {
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : memref<32x16xf32>, !w
  pto.copy %hx, %x : memref<32x16xf32>, !x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  call @dead_arm(%w, %x, %p0a, %p0b) : (!w, !x, !out, !out) -> ()
  call @dead_compare(%w, %x, %p1a, %p1b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @dead_case(%w, %x, %p2a, %p2b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @dead_default(%w, %x, %p3a, %p3b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @dead_over_live(%w, %x, %p4a, %p4b) : (!w, !x, !out, !out) -> ()
  call @again_after_loop(%w, %x, %p5a, %p5b, %c0) : (!w, !x, !out, !out, index) -> ()
  call @again_after_loop(%w, %x, %p6a, %p6b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @again_after_loop(%w, %x, %p7a, %p7b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @around_loop(%w, %x, %p8a, %p8b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @do_while(%w, %x, %p9a, %p9b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @while_again(%w, %x, %p10a, %p10b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @other_bounds(%w, %x, %p11a, %p11b, %c3, %c2) : (!w, !x, !out, !out, index, index) -> ()
  call @other_bounds(%w, %x, %p12a, %p12b, %c2, %c1) : (!w, !x, !out, !out, index, index) -> ()
  call @bounds_of_tile(%w, %x, %p13a, %p13b, %c3, %c2) : (!w, !x, !out, !out, index, index) -> ()
  call @triangle(%w, %x, %p14a, %p14b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @triangle_of_blocks(%w, %x, %p15a, %p15b, %c8) : (!w, !x, !out, !out, index) -> ()
  call @diagonal(%w, %x, %p16a, %p16b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @one_after_the_other(%w, %x, %p17a, %p17b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @states(%w, %x, %p18a, %p18b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @lowered_nest(%w, %x, %p19a, %p19b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @diamond(%w, %x, %p20a, %p20b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @diamond(%w, %x, %p21a, %p21b, %c3) : (!w, !x, !out, !out, index) -> ()
  return
}
