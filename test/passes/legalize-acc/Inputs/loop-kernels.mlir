// Kernels as they are written: attention, convolutions, batches, experts, pipelines. @main runs each of them twice.

!w = memref<32x16xf32, #pto.mem<sbuf>>
!x = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// Flash attention: the scores are drained for each block of keys, the output goes on; both are allocated outside.
func.func private @flash(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pto.psum_alloc bank(0) : !acc
  %o = pto.psum_alloc bank(1) : !acc
  scf.for %q = %c0 to %n step %c1 {
    %qe = arith.addi %q, %c1 : index
    scf.for %kv = %c0 to %qe step %c1 {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !acc)
      scf.for %d = %c1 to %n step %c1 {
        pto.tmatmul_acc ins(%s, %w, %x : !acc, !w, !x) outs(%s : !acc)
      }
      pto.copy %s, %o0 : !acc, !out
      %e = arith.cmpi eq, %kv, %c0 : index
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

// Causal attention, scores and output in one bank, allocated for each block of queries.
func.func private @causal_alloc_in_q(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %c0 to %n step %c1 {
    %s = pto.psum_alloc bank(0) : !acc
    %o = pto.psum_alloc bank(0) offset(64) : !acc
    %qe = arith.addi %q, %c1 : index
    scf.for %kv = %c0 to %qe step %c1 {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !acc)
      pto.tmatmul_acc ins(%s, %w, %x : !acc, !w, !x) outs(%s : !acc)
      pto.copy %s, %o0 : !acc, !out
      pto.tmatmul_acc ins(%o, %w, %x : !acc, !w, !x) outs(%o : !acc)
    }
    pto.copy %o, %o1 : !acc, !out
  }
  return
}

// A convolution as loops over taps: the first of all overwrites.
func.func private @conv_taps(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %oy = %c0 to %n step %c1 {
    scf.for %ky = %c0 to %c3 step %c1 {
      scf.for %kx = %c0 to %c3 step %c1 {
        %e = arith.cmpi eq, %ky, %c0 : index
        %g = arith.cmpi eq, %kx, %c0 : index
        %h = arith.andi %e, %g : i1
        scf.if %h {
          pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
        } else {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// A convolution whose padding is left out: no tap is the first for certain.
func.func private @conv_pad(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %oy = %c0 to %n step %c1 {
    %a = pto.psum_alloc bank(0) : !acc
    scf.for %ky = %c0 to %c3 step %c1 {
      %y = arith.addi %oy, %ky : index
      %in = arith.cmpi ult, %y, %n : index
      scf.if %in {
        scf.for %kx = %c0 to %c3 step %c1 {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// A batch of products in a while.
func.func private @gemm_while(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  %r = scf.while (%b = %c0) : (index) -> index {
    %m = arith.cmpi slt, %b, %n : index
    scf.condition(%m) %b : index
  } do {
  ^bb0(%b: index):
    scf.for %k = %c0 to %c4 step %c1 {
      %e = arith.cmpi eq, %k, %c0 : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
    pto.copy %a, %o0 : !acc, !out
    %nb = arith.addi %b, %c1 : index
    scf.yield %nb : index
  }
  return
}

// A while that carries "this is the first one".
func.func private @while_flag(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant true
  %f = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  %r:2 = scf.while (%b = %c0, %fl = %t) : (index, i1) -> (index, i1) {
    %m = arith.cmpi slt, %b, %n : index
    scf.condition(%m) %b, %fl : index, i1
  } do {
  ^bb0(%b: index, %fl: i1):
    scf.if %fl {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    %nb = arith.addi %b, %c1 : index
    scf.yield %nb, %f : index, i1
  }
  pto.copy %a, %o0 : !acc, !out
  return
}

// A loop that carries it.
func.func private @iterflag(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = arith.constant true
  %f = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %c2 step %c1 {
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%fl = %t) -> (i1) {
      scf.if %fl {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
      scf.yield %f : i1
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// Experts, each with a K loop of its own.
func.func private @experts(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %e = %c0 to %c3 step %c1 {
    %a = pto.psum_alloc bank(0) : !acc
    scf.index_switch %e
    case 0 {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      scf.yield
    }
    case 1 {
      scf.for %k = %c0 to %n step %c1 {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
      scf.yield
    }
    default {
      scf.for %k = %c0 to %c2 step %c1 {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// Experts whose sums have one place.
func.func private @experts_hoisted(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %e = %c0 to %c3 step %c1 {
    scf.index_switch %e
    case 0 {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      pto.copy %a, %o0 : !acc, !out
      scf.yield
    }
    case 1 {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
      scf.for %k = %c0 to %n step %c1 {
        pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
      }
      pto.copy %b, %o1 : !acc, !out
      scf.yield
    }
    default {
    }
  }
  return
}

// Tiles with ragged ends.
func.func private @affine_tiles(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  affine.for %i = 0 to 10 step 4 {
    %a = pto.psum_alloc bank(0) : !acc
    affine.for %k = affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0) -> (d0 + 4, 10)>(%i) {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// A guard of an affine loop.
func.func private @affine_if(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %i = 0 to 3 {
    affine.for %k = 0 to 4 {
      affine.if affine_set<(d0) : (d0 == 0)>(%k) {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// A while that is left early.
func.func private @early_exit(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = arith.constant true
  %a = pto.psum_alloc bank(0) : !acc
  %r:2 = scf.while (%b = %c0, %go = %t) : (index, i1) -> (index, i1) {
    %m = arith.cmpi slt, %b, %n : index
    %g = arith.andi %m, %go : i1
    scf.condition(%g) %b, %go : index, i1
  } do {
  ^bb0(%b: index, %go: i1):
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    %nb = arith.addi %b, %c1 : index
    %st = arith.cmpi ne, %nb, %c2 : index
    scf.yield %nb, %st : index, i1
  }
  pto.copy %a, %o0 : !acc, !out
  return
}

// A loop of blocks with a guard.
func.func private @cf_machine(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  cf.br ^h(%c0 : index)
^h(%i: index):
  %m = arith.cmpi slt, %i, %n : index
  cf.cond_br %m, ^b, ^e
^b:
  %e = arith.cmpi eq, %i, %c0 : index
  cf.cond_br %e, ^f, ^g
^f:
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  cf.br ^x
^g:
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  cf.br ^x
^x:
  %nx = arith.addi %i, %c1 : index
  cf.br ^h(%nx : index)
^e:
  pto.copy %a, %o0 : !acc, !out
  return
}

// Two banks that take turns, chosen by a branch.
func.func private @pingpong_if(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  scf.for %i = %c0 to %n step %c1 {
    %m = arith.remui %i, %c2 : index
    %e = arith.cmpi eq, %m, %c0 : index
    scf.if %e {
      scf.for %k = %c0 to %n step %c1 {
        %g = arith.cmpi eq, %k, %c0 : index
        scf.if %g {
          pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
        } else {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
      pto.copy %a, %o0 : !acc, !out
    } else {
      scf.for %k = %c0 to %n step %c1 {
        %g = arith.cmpi eq, %k, %c0 : index
        scf.if %g {
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

// Two banks in a loop that was unrolled.
func.func private @unroll2_banks(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  scf.for %i = %c0 to %n step %c2 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    scf.for %k = %c1 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    scf.for %k = %c1 to %n step %c1 {
      pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// A pipeline: one bank is written while the other one is drained.
func.func private @prologue_epilogue(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  scf.for %i = %c1 to %n step %c1 {
    %m = arith.remui %i, %c2 : index
    %e = arith.cmpi eq, %m, %c0 : index
    scf.if %e {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      pto.copy %b, %o1 : !acc, !out
    } else {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
      pto.copy %a, %o0 : !acc, !out
    }
  }
  pto.copy %a, %o0 : !acc, !out
  return
}

// The last iteration drains.
func.func private @splitk_last(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c4 step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    %e = arith.cmpi eq, %k, %c3 : index
    scf.if %e {
      pto.copy %a, %o0 : !acc, !out
    }
  }
  return
}

// Every second iteration drains.
func.func private @drain_every_2(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c4 step %c1 {
    %m = arith.remui %k, %c2 : index
    %e = arith.cmpi eq, %m, %c0 : index
    scf.if %e {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      pto.copy %a, %o0 : !acc, !out
    }
  }
  return
}

// A head that may be zeros.
func.func private @head_if(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(0) : !acc
  %p = arith.cmpi sgt, %n, %c2 : index
  scf.if %p {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  } else {
    pto.memset %zero, %a : f32, !acc
  }
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %o0 : !acc, !out
  return
}

// Two tiles of a bank, one loop after the other.
func.func private @two_n_tiles_seq(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %a = pto.psum_alloc bank(0) : !acc
    %b = pto.psum_alloc bank(0) offset(64) : !acc
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

// Three places, each used once an iteration.
func.func private @software_pipeline(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  %d = pto.psum_alloc bank(1) : !acc
  scf.for %i = %c0 to %n step %c1 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%d : !acc)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %d, %o1 : !acc, !out
    pto.copy %b, %o0 : !acc, !out
  }
  return
}

// Groups of different sizes: no loop of them is empty.
func.func private @grouped(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %g = %c0 to %c3 step %c1 {
    %s = arith.muli %g, %c2 : index
    %e2 = arith.addi %s, %g : index
    %a = pto.psum_alloc bank(0) : !acc
    scf.for %k = %s to %e2 step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// A window that slides.
func.func private @sliding(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    %b = arith.maxsi %i, %c2 : index
    %lo = arith.subi %b, %c2 : index
    %hi = arith.addi %i, %c1 : index
    scf.for %k = %lo to %hi step %c1 {
      %e = arith.cmpi eq, %k, %lo : index
      scf.if %e {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// Zeros by hand for each tile.
func.func private @memset_seed_tile(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %c2 step %c1 {
    pto.memset %zero, %a : f32, !acc
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %o0 : !acc, !out
  }
  return
}

// A view that is made anew in each iteration.
func.func private @reinterpret_in_loop(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.reinterpret_cast %a to offset: [0], sizes: [16, 16], strides: [16, 1] : !acc to memref<16x16xf32, strided<[16, 1]>, #pto.mem<psum>>
    pto.tmatmul_acc ins(%v, %w, %x : memref<16x16xf32, strided<[16, 1]>, #pto.mem<psum>>, !w, !x) outs(%v : memref<16x16xf32, strided<[16, 1]>, #pto.mem<psum>>)
  }
  pto.copy %a, %o0 : !acc, !out
  return
}

// The first iteration of three loops, in one guard.
func.func private @nested_all_first(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        %e1 = arith.cmpi eq, %i, %c0 : index
        %e2 = arith.cmpi eq, %j, %c0 : index
        %e3 = arith.cmpi eq, %k, %c0 : index
        %g = arith.andi %e1, %e2 : i1
        %h = arith.andi %g, %e3 : i1
        scf.if %h {
          pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
        } else {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
  }
  pto.copy %a, %o0 : !acc, !out
  return
}

// The first iteration of the two inner loops, and the place used again.
func.func private @nested_jk_first(%w: !w, %x: !x, %o0: !out, %o1: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        %e2 = arith.cmpi eq, %j, %c0 : index
        %e3 = arith.cmpi eq, %k, %c0 : index
        %h = arith.select %e2, %e3, %f : i1
        scf.if %h {
          pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
        } else {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
    pto.copy %a, %o0 : !acc, !out
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %o1 : !acc, !out
  }
  return
}

func.func @main(%hw: memref<32x16xf32>, %hx: memref<32x16xf32>,
                %p0a: !out, %p0b: !out, %p1a: !out, %p1b: !out, %p2a: !out, %p2b: !out, %p3a: !out, %p3b: !out,
                %p4a: !out, %p4b: !out, %p5a: !out, %p5b: !out, %p6a: !out, %p6b: !out, %p7a: !out, %p7b: !out,
                %p8a: !out, %p8b: !out, %p9a: !out, %p9b: !out, %p10a: !out, %p10b: !out, %p11a: !out, %p11b: !out,
                %p12a: !out, %p12b: !out, %p13a: !out, %p13b: !out, %p14a: !out, %p14b: !out, %p15a: !out, %p15b: !out,
                %p16a: !out, %p16b: !out, %p17a: !out, %p17b: !out, %p18a: !out, %p18b: !out, %p19a: !out, %p19b: !out,
                %p20a: !out, %p20b: !out, %p21a: !out, %p21b: !out, %p22a: !out, %p22b: !out, %p23a: !out, %p23b: !out,
                %p24a: !out, %p24b: !out, %p25a: !out, %p25b: !out, %p26a: !out, %p26b: !out, %p27a: !out, %p27b: !out,
                %p28a: !out, %p28b: !out, %p29a: !out, %p29b: !out, %p30a: !out, %p30b: !out, %p31a: !out, %p31b: !out,
                %p32a: !out, %p32b: !out, %p33a: !out, %p33b: !out, %p34a: !out, %p34b: !out, %p35a: !out, %p35b: !out,
                %p36a: !out, %p36b: !out, %p37a: !out, %p37b: !out, %p38a: !out, %p38b: !out, %p39a: !out, %p39b: !out,
                %p40a: !out, %p40b: !out, %p41a: !out, %p41b: !out, %p42a: !out, %p42b: !out, %p43a: !out, %p43b: !out,
                %p44a: !out, %p44b: !out, %p45a: !out, %p45b: !out, %p46a: !out, %p46b: !out, %p47a: !out, %p47b: !out,
                %p48a: !out, %p48b: !out, %p49a: !out, %p49b: !out, %p50a: !out, %p50b: !out, %p51a: !out, %p51b: !out,
                %p52a: !out, %p52b: !out, %p53a: !out, %p53b: !out) {
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : memref<32x16xf32>, !w
  pto.copy %hx, %x : memref<32x16xf32>, !x
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  call @flash(%w, %x, %p0a, %p0b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @flash(%w, %x, %p1a, %p1b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @causal_alloc_in_q(%w, %x, %p2a, %p2b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @causal_alloc_in_q(%w, %x, %p3a, %p3b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @conv_taps(%w, %x, %p4a, %p4b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @conv_taps(%w, %x, %p5a, %p5b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @conv_pad(%w, %x, %p6a, %p6b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @conv_pad(%w, %x, %p7a, %p7b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @gemm_while(%w, %x, %p8a, %p8b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @gemm_while(%w, %x, %p9a, %p9b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @while_flag(%w, %x, %p10a, %p10b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @while_flag(%w, %x, %p11a, %p11b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @iterflag(%w, %x, %p12a, %p12b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @iterflag(%w, %x, %p13a, %p13b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @experts(%w, %x, %p14a, %p14b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @experts(%w, %x, %p15a, %p15b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @experts_hoisted(%w, %x, %p16a, %p16b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @experts_hoisted(%w, %x, %p17a, %p17b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @affine_tiles(%w, %x, %p18a, %p18b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @affine_tiles(%w, %x, %p19a, %p19b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @affine_if(%w, %x, %p20a, %p20b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @affine_if(%w, %x, %p21a, %p21b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @early_exit(%w, %x, %p22a, %p22b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @early_exit(%w, %x, %p23a, %p23b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @cf_machine(%w, %x, %p24a, %p24b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @cf_machine(%w, %x, %p25a, %p25b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @pingpong_if(%w, %x, %p26a, %p26b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @pingpong_if(%w, %x, %p27a, %p27b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @unroll2_banks(%w, %x, %p28a, %p28b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @unroll2_banks(%w, %x, %p29a, %p29b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @prologue_epilogue(%w, %x, %p30a, %p30b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @prologue_epilogue(%w, %x, %p31a, %p31b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @splitk_last(%w, %x, %p32a, %p32b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @splitk_last(%w, %x, %p33a, %p33b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @drain_every_2(%w, %x, %p34a, %p34b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @drain_every_2(%w, %x, %p35a, %p35b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @head_if(%w, %x, %p36a, %p36b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @head_if(%w, %x, %p37a, %p37b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @two_n_tiles_seq(%w, %x, %p38a, %p38b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @two_n_tiles_seq(%w, %x, %p39a, %p39b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @software_pipeline(%w, %x, %p40a, %p40b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @software_pipeline(%w, %x, %p41a, %p41b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @grouped(%w, %x, %p42a, %p42b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @grouped(%w, %x, %p43a, %p43b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @sliding(%w, %x, %p44a, %p44b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @sliding(%w, %x, %p45a, %p45b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @memset_seed_tile(%w, %x, %p46a, %p46b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @memset_seed_tile(%w, %x, %p47a, %p47b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @reinterpret_in_loop(%w, %x, %p48a, %p48b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @reinterpret_in_loop(%w, %x, %p49a, %p49b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @nested_all_first(%w, %x, %p50a, %p50b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @nested_all_first(%w, %x, %p51a, %p51b, %c3) : (!w, !x, !out, !out, index) -> ()
  call @nested_jk_first(%w, %x, %p52a, %p52b, %c1) : (!w, !x, !out, !out, index) -> ()
  call @nested_jk_first(%w, %x, %p53a, %p53b, %c3) : (!w, !x, !out, !out, index) -> ()
  return
}
