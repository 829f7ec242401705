// The shapes of loop and branch around a sum that is an argument: fresh, or data that the caller left there. @main leaves
// zeros in what is fresh, which the reference meaning adds to, and a sum in what is data; and keeps data in another bank.

!w = memref<32x16xf32, #pto.mem<sbuf>>
!x = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// One loop.
func.func private @fresh_loop(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  return
}
func.func private @data_loop(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  return
}

// Four loops, one of affine.
func.func private @fresh_depth_four(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c1 to %n step %c1 {
        affine.for %l = 0 to 2 {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
  }
  return
}
func.func private @data_depth_four(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c1 to %n step %c1 {
        affine.for %l = 0 to 2 {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
  }
  return
}

// A triangle.
func.func private @fresh_triangular(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  return
}
func.func private @data_triangular(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  return
}

// A branch with one arm.
func.func private @fresh_one_arm(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c1 = arith.constant 1 : index
  %p = arith.cmpi eq, %n, %c1 : index
  scf.if %p {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  return
}
func.func private @data_one_arm(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c1 = arith.constant 1 : index
  %p = arith.cmpi eq, %n, %c1 : index
  scf.if %p {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  return
}

// The first iteration overwrites.
func.func private @fresh_first_iteration_if(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi eq, %k, %c0 : index
    scf.if %p {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  return
}
func.func private @data_first_iteration_if(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi eq, %k, %c0 : index
    scf.if %p {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  return
}

// A while.
func.func private @fresh_while(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = scf.while (%i = %c0) : (index) -> index {
    %m = arith.cmpi slt, %i, %n : index
    scf.condition(%m) %i : index
  } do {
  ^bb0(%i: index):
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    %d = arith.addi %i, %c1 : index
    scf.yield %d : index
  }
  return
}
func.func private @data_while(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = scf.while (%i = %c0) : (index) -> index {
    %m = arith.cmpi slt, %i, %n : index
    scf.condition(%m) %i : index
  } do {
  ^bb0(%i: index):
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    %d = arith.addi %i, %c1 : index
    scf.yield %d : index
  }
  return
}

// A switch of which one case adds.
func.func private @fresh_switch(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  scf.index_switch %n
  case 1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    scf.yield
  }
  default {
  }
  return
}
func.func private @data_switch(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  scf.index_switch %n
  case 1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    scf.yield
  }
  default {
  }
  return
}

// Two loops, one after the other.
func.func private @fresh_siblings(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  return
}
func.func private @data_siblings(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  return
}

// Blocks and jumps.
func.func private @fresh_jumps(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^h(%c0 : index)
^h(%i: index):
  %m = arith.cmpi slt, %i, %n : index
  cf.cond_br %m, ^b, ^e
^b:
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  %d = arith.addi %i, %c1 : index
  cf.br ^h(%d : index)
^e:
  return
}
func.func private @data_jumps(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^h(%c0 : index)
^h(%i: index):
  %m = arith.cmpi slt, %i, %n : index
  cf.cond_br %m, ^b, ^e
^b:
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  %d = arith.addi %i, %c1 : index
  cf.br ^h(%d : index)
^e:
  return
}

// A head and a tail.
func.func private @fresh_head_and_tail(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64, pto.fresh}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  return
}
func.func private @data_head_and_tail(%w: !w, %x: !x, %a: !acc {pto.bank = 3 : i64}, %n: index) attributes {pto.psum_banks = array<i32: 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  scf.for %k = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  return
}

func.func @main(%hw: memref<32x16xf32>, %hx: memref<32x16xf32>, %kept: !out, %o0: !out, %o1: !out, %o2: !out, %o3: !out, %o4: !out, %o5: !out, %o6: !out, %o7: !out, %o8: !out, %o9: !out, %o10: !out, %o11: !out, %o12: !out, %o13: !out, %o14: !out, %o15: !out, %o16: !out, %o17: !out, %o18: !out, %o19: !out, %o20: !out, %o21: !out, %o22: !out, %o23: !out, %o24: !out, %o25: !out, %o26: !out, %o27: !out, %o28: !out, %o29: !out, %o30: !out, %o31: !out, %o32: !out, %o33: !out, %o34: !out, %o35: !out, %o36: !out, %o37: !out, %o38: !out, %o39: !out, %o40: !out, %o41: !out, %o42: !out, %o43: !out, %o44: !out, %o45: !out, %o46: !out, %o47: !out, %o48: !out, %o49: !out, %o50: !out, %o51: !out, %o52: !out, %o53: !out, %o54: !out, %o55: !out, %o56: !out, %o57: !out, %o58: !out, %o59: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : memref<32x16xf32>, !w
  pto.copy %hx, %x : memref<32x16xf32>, !x
  %a = pto.psum_alloc bank(3) : !acc
  %other = pto.psum_alloc bank(2) : !acc
  pto.copy %kept, %other : !out, !acc
  pto.memset %zero, %a : f32, !acc
  call @fresh_loop(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o0 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_loop(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o1 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_loop(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o2 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_loop(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o3 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_loop(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o4 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_loop(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o5 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_depth_four(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o6 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_depth_four(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o7 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_depth_four(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o8 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_depth_four(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o9 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_depth_four(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o10 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_depth_four(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o11 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_triangular(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o12 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_triangular(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o13 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_triangular(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o14 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_triangular(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o15 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_triangular(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o16 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_triangular(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o17 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_one_arm(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o18 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_one_arm(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o19 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_one_arm(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o20 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_one_arm(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o21 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_one_arm(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o22 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_one_arm(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o23 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_first_iteration_if(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o24 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_first_iteration_if(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o25 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_first_iteration_if(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o26 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_first_iteration_if(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o27 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_first_iteration_if(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o28 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_first_iteration_if(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o29 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_while(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o30 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_while(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o31 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_while(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o32 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_while(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o33 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_while(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o34 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_while(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o35 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_switch(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o36 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_switch(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o37 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_switch(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o38 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_switch(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o39 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_switch(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o40 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_switch(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o41 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_siblings(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o42 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_siblings(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o43 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_siblings(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o44 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_siblings(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o45 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_siblings(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o46 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_siblings(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o47 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_jumps(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o48 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_jumps(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o49 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_jumps(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o50 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_jumps(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o51 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_jumps(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o52 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_jumps(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o53 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_head_and_tail(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o54 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_head_and_tail(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o55 : !acc, !out
  pto.memset %zero, %a : f32, !acc
  call @fresh_head_and_tail(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o56 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_head_and_tail(%w, %x, %a, %c0) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o57 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_head_and_tail(%w, %x, %a, %c1) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o58 : !acc, !out
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @data_head_and_tail(%w, %x, %a, %c3) : (!w, !x, !acc, index) -> ()
  pto.copy %a, %o59 : !acc, !out
  pto.copy %other, %kept : !acc, !out
  return
}
