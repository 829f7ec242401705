// Branches on one value go one way, as long as it is not made anew: what is right is accepted, what is wrong is an
// error.

// RUN: %pto_opt --split-input-file --pto-verify-acc=target=trn2 -verify-diagnostics %s -o /dev/null

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// A sum that begins, goes on and is read in branches of their own.
func.func @optional_sum(%w: !w, %n: index, %p: i1, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.if %p {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start>
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none>
    }
  }
  scf.if %p {
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<stop>
    pto.copy %a, %out : !acc, !out
  }
  return
}

// The opposite, and both ways to say it.
func.func @opposite(%w: !w, %p: i1, %out: !out) {
  %true = arith.constant true
  %false = arith.constant false
  %not = arith.xori %true, %p : i1
  %a = pto.psum_alloc bank(0) : !acc
  scf.if %not {
  } else {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  }
  %is = arith.cmpi ne, %p, %false : i1
  scf.if %is {
    pto.copy %a, %out : !acc, !out
  }
  return
}

// A comparison of the same two values, and the loop that runs where it holds.
func.func @comparisons(%w: !w, %n: index, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    %first = arith.cmpi eq, %i, %c0 : index
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none> start_if(%first)
  }
  %runs = arith.cmpi sgt, %n, %c0 : index
  scf.if %runs {
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<stop>
  }
  %does_not = arith.cmpi sle, %n, %c0 : index
  scf.if %does_not {
  } else {
    pto.copy %a, %out : !acc, !out
  }
  return
}

// A value that each iteration makes anew is one value in one iteration, in a loop inside of it too.
func.func @in_one_iteration(%w: !w, %n: index, %flags: memref<?xi1>, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %p = memref.load %flags[%i] : memref<?xi1>
    %a = pto.psum_alloc bank(0) : !acc
    scf.if %p {
      pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
    }
    scf.for %j = %c0 to %n step %c1 {
      scf.if %p {
        pto.copy %a, %out : !acc, !out
      }
    }
  }
  return
}

func.func @cases(%w: !w, %n: index, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  scf.index_switch %n
  case 0 {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
    scf.yield
  }
  case 4 {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
    scf.yield
  }
  default {
  }
  scf.index_switch %n
  case 0 {
    pto.copy %a, %out : !acc, !out
    scf.yield
  }
  case 4 {
    pto.copy %a, %out : !acc, !out
    scf.yield
  }
  default {
  }
  return
}

func.func @set(%w: !w, %n: index, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%n) {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  }
  affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%n) {
    pto.copy %a, %out : !acc, !out
  }
  return
}

// Lowered to jumps.
func.func @jumps(%w: !w, %p: i1, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  cf.cond_br %p, ^begin, ^between
^begin:
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  cf.br ^between
^between:
  cf.cond_br %p, ^read, ^end
^read:
  pto.copy %a, %out : !acc, !out
  cf.br ^end
^end:
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// START twice, each time in a branch on one value.
func.func @start_again(%w: !w, %p: i1, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  scf.if %p {
    // expected-note @+1 {{the cells were written here}}
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start>
  }
  scf.if %p {
    // expected-error @+1 {{expected this matmul to add, found that its own start makes it overwrite: partitions 0..16, bytes 0..64 of the buffer [pto:wrong-mode]}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<start|stop>
    pto.copy %a, %out : !acc, !out
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// The other branch is never taken where this one is.
func.func @never_begun(%w: !w, %p: i1, %out: !out) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.if %p {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start>
  } else {
    // expected-error @+1 {{found that its flags make it add to cells that nobody wrote}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<none>
  }
  scf.if %p {
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<stop>
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// Another iteration, another answer: the value of the iteration before is read.
func.func @from_iteration_to_iteration(%w: !w, %n: index, %flags: memref<?xi1>, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    %p = memref.load %flags[%i] : memref<?xi1>
    scf.if %p {
    } else {
      // expected-error @+1 {{found one that nobody wrote on some path}}
      pto.copy %a, %out : !acc, !out
    }
    scf.if %p {
      pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
    }
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// A neighbour's START between two branches on one value.
func.func @neighbour(%w: !w, %p: i1, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(1024) : !acc
  scf.if %p {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  }
  // expected-note @+1 {{the start is here}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%b : !acc) acc<start|stop>
  pto.copy %b, %out : !acc, !out
  scf.if %p {
    // expected-error @+1 {{found that a later start clears it}}
    pto.copy %a, %out : !acc, !out
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// Values that one number makes are not taken apart.
func.func @one_number(%w: !w, %n: index, %out: !out) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  %two = arith.cmpi sgt, %n, %c2 : index
  scf.if %two {
    // expected-note @+1 {{the cells were written here}}
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  }
  %four = arith.cmpi sgt, %n, %c4 : index
  scf.if %four {
    // expected-warning @+1 {{cannot tell whether it is ever taken}}
    pto.copy %a, %out : !acc, !out
  }
  return
}
