// Corners of loops and branches: bounds of narrow and unsigned types, bounds that are a maximum or a minimum, members
// in the condition of a while, loops in loops in branches. @main runs each of them, some for several trip counts.

!w = memref<32x16xf32, #pto.mem<sbuf>>
!x = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// Bounds whose sign is no sign: two iterations.
func.func private @unsigned(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %lb = arith.constant -3 : i32
  %ub = arith.constant -1 : i32
  %step = arith.constant 1 : i32
  scf.for unsigned %k = %lb to %ub step %step : i32 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// An unsigned loop whose variable has no sign to lose: 0, 50, 100, 150, 200.
func.func private @across_the_sign(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %lb = arith.constant 0 : i8
  %ub = arith.constant -20 : i8
  %step = arith.constant 50 : i8
  scf.for unsigned %k = %lb to %ub step %step : i8 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The next value after the last iteration is none of the type.
func.func private @narrow(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %lb = arith.constant 100 : i8
  %ub = arith.constant 127 : i8
  %step = arith.constant 20 : i8
  scf.for %k = %lb to %ub step %step : i8 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Bounds of another type, known to the caller only.
func.func private @typed(%w: !w, %x: !x, %out: !out, %lb: i32, %ub: i32, %step: i32) {
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %ub step %step : i32 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Bounds that are a maximum and a minimum.
func.func private @extremes(%w: !w, %x: !x, %out: !out, %m: index, %n: index) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %k = max affine_map<(d0, d1) -> (d0, d1)>(%m, %n) to min affine_map<(d0, d1) -> (d0 + 4, d1 + 5)>(%m, %n) {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Bounds that are maps of arguments, and a step.
func.func private @of_arguments(%w: !w, %x: !x, %out: !out, %m: index, %n: index) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %i = 0 to %m {
    affine.for %k = affine_map<(d0) -> (d0)>(%n) to affine_map<(d0) -> (d0 + 4)>(%m) step 2 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Four loops whose bounds and steps are the caller's, one of them computed inside.
func.func private @depth_four(%w: !w, %x: !x, %out: !out, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %m to %n step %c1 {
      %end = arith.muli %m, %n : index
      scf.for %k = %c0 to %end step %c2 {
        scf.for %l = %c1 to %n step %m {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The condition of a while adds, its body adds, and so does what follows.
func.func private @condition(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %end = scf.while (%i = %c0) : (index) -> index {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// A while, a triangle and a switch in one loop, into one buffer.
func.func private @mixed(%w: !w, %x: !x, %out: !out, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %m step %c1 {
    %end = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    scf.for %k = %j to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    scf.index_switch %j
    case 0 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      scf.yield
    }
    case 1 {
      scf.yield
    }
    default {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Each iteration reads what there is so far.
func.func private @running_sum(%w: !w, %x: !x, %out: !out, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %m step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %out : !acc, !out
  }
  pto.copy %a, %out : !acc, !out
  return
}

// One flat loop over tiles and steps: begun in the first step of each tile, read in its last.
func.func private @flat(%w: !w, %x: !x, %out: !out, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %m step %c1 {
    %k = arith.remui %j, %c2 : index
    %first = arith.cmpi eq, %k, %c0 : index
    scf.if %first {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    %last = arith.cmpi eq, %k, %c1 : index
    scf.if %last {
      pto.copy %a, %out : !acc, !out
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The very first iteration of two loops overwrites.
func.func private @first_of_two(%w: !w, %x: !x, %out: !out, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %m step %c1 {
    scf.for %k = %c0 to %m step %c1 {
      %f0 = arith.cmpi eq, %i, %c0 : index
      %f1 = arith.cmpi eq, %k, %c0 : index
      %first = arith.andi %f0, %f1 : i1
      scf.if %first {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A head before a loop that may not run, once for each tile.
func.func private @head_in_loop(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    scf.for %k = %c1 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    pto.copy %a, %out : !acc, !out
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The same beside a sum that goes on over all tiles, in its bank.
func.func private @head_beside_sum(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(64) : !acc
  scf.for %i = %c0 to %n step %c1 {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    scf.for %k = %c1 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    }
    pto.copy %b, %out : !acc, !out
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A loop that never runs, before the one matmul.
func.func private @never(%w: !w, %x: !x, %out: !out) {
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c1 to %c1 step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

func.func @main(%hw: memref<32x16xf32>, %hx: memref<32x16xf32>, %o0: !out, %o1: !out, %o2: !out, %o3: !out, %o4: !out, %o5: !out, %o6: !out, %o7: !out, %o8: !out, %o9: !out, %o10: !out, %o11: !out, %o12: !out, %o13: !out, %o14: !out, %o15: !out, %o16: !out, %o17: !out, %o18: !out, %o19: !out, %o20: !out, %o21: !out, %o22: !out, %o23: !out, %o24: !out, %o25: !out, %o26: !out, %o27: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i4 = arith.constant 4 : i32
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : memref<32x16xf32>, !w
  pto.copy %hx, %x : memref<32x16xf32>, !x
  call @unsigned(%w, %x, %o0) : (!w, !x, !out) -> ()
  call @across_the_sign(%w, %x, %o1) : (!w, !x, !out) -> ()
  call @narrow(%w, %x, %o2) : (!w, !x, !out) -> ()
  call @typed(%w, %x, %o3, %i0, %i4, %i1) : (!w, !x, !out, i32, i32, i32) -> ()
  call @typed(%w, %x, %o4, %i1, %i4, %i4) : (!w, !x, !out, i32, i32, i32) -> ()
  call @extremes(%w, %x, %o5, %c0, %c1) : (!w, !x, !out, index, index) -> ()
  call @extremes(%w, %x, %o6, %c3, %c0) : (!w, !x, !out, index, index) -> ()
  call @of_arguments(%w, %x, %o7, %c1, %c0) : (!w, !x, !out, index, index) -> ()
  call @of_arguments(%w, %x, %o8, %c3, %c1) : (!w, !x, !out, index, index) -> ()
  call @depth_four(%w, %x, %o9, %c1, %c2) : (!w, !x, !out, index, index) -> ()
  call @depth_four(%w, %x, %o10, %c2, %c4) : (!w, !x, !out, index, index) -> ()
  call @depth_four(%w, %x, %o11, %c3, %c4) : (!w, !x, !out, index, index) -> ()
  call @condition(%w, %x, %o12, %c0) : (!w, !x, !out, index) -> ()
  call @condition(%w, %x, %o13, %c1) : (!w, !x, !out, index) -> ()
  call @condition(%w, %x, %o14, %c3) : (!w, !x, !out, index) -> ()
  call @mixed(%w, %x, %o15, %c1, %c0) : (!w, !x, !out, index, index) -> ()
  call @mixed(%w, %x, %o16, %c3, %c2) : (!w, !x, !out, index, index) -> ()
  call @running_sum(%w, %x, %o17, %c1, %c1) : (!w, !x, !out, index, index) -> ()
  call @running_sum(%w, %x, %o18, %c3, %c2) : (!w, !x, !out, index, index) -> ()
  call @flat(%w, %x, %o19, %c2) : (!w, !x, !out, index) -> ()
  call @flat(%w, %x, %o20, %c4) : (!w, !x, !out, index) -> ()
  call @first_of_two(%w, %x, %o21, %c1) : (!w, !x, !out, index) -> ()
  call @first_of_two(%w, %x, %o22, %c3) : (!w, !x, !out, index) -> ()
  call @head_in_loop(%w, %x, %o23, %c1) : (!w, !x, !out, index) -> ()
  call @head_in_loop(%w, %x, %o24, %c3) : (!w, !x, !out, index) -> ()
  call @head_beside_sum(%w, %x, %o25, %c1) : (!w, !x, !out, index) -> ()
  call @head_beside_sum(%w, %x, %o26, %c3) : (!w, !x, !out, index) -> ()
  call @never(%w, %x, %o27) : (!w, !x, !out) -> ()
  return
}
