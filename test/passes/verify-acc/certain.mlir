// What is wrong on a path is an error if some run takes it. Where two decisions depend on one value, the walk
// cannot tell, and says that.

// RUN: %pto_opt --split-input-file --pto-verify-acc=target=trn2 -verify-diagnostics %s -o /dev/null

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// Two values: some run takes the path.
func.func @two_conditions(%w: !w, %p: i1, %q: i1, %out: !out) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.if %p {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  }
  scf.if %q {
    // expected-error @+1 {{found one that nobody wrote on some path}}
    pto.copy %a, %out : !acc, !out
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// Behind tied decisions, what is wrong whichever way led there is an error all the same.
func.func @whatever_way(%w: !w, %n: index, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(1024) : !acc
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %p = arith.cmpi sgt, %n, %c2 : index
  %q = arith.cmpi sgt, %n, %c4 : index
  scf.if %p {
    // expected-note @+1 {{the cells were written here}}
    pto.copy %out, %b : !out, !acc
  }
  scf.if %q {
    // expected-warning @+1 {{cannot tell whether it is ever taken}}
    pto.copy %b, %out : !acc, !out
  }
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  // expected-note @+1 {{the start is here}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%b : !acc) acc<start|stop>
  // expected-error @+1 {{found that a later start clears it}}
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// A bound that the number of an iteration makes is free: START wipes the sum in a triangle too.
func.func @triangle(%w: !w, %n: index, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = pto.psum_alloc bank(0) : !acc
    // expected-note @+1 {{the cells were written here}}
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start>
    scf.for %j = %c0 to %i step %c1 {
      // expected-error @+1 {{expected this matmul to add, found that its own start makes it overwrite}}
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<start|stop>
    }
    pto.copy %a, %out : !acc, !out
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// Bounds that one number makes: where it is large, both loops run many times.
func.func @one_size(%w: !w, %n: index, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %blocks = arith.ceildivsi %n, %c4 : index
  scf.for %i = %c0 to %blocks step %c1 {
    %a = pto.psum_alloc bank(0) : !acc
    // expected-note @+1 {{the cells were written here}}
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start>
    scf.for %j = %c1 to %n step %c1 {
      // expected-error @+1 {{expected this matmul to add, found that its own start makes it overwrite}}
      pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<start|stop>
    }
    pto.copy %a, %out : !acc, !out
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// The second loop runs only where the first one does: no run adds to what nobody wrote.
func.func @later_start(%w: !w, %n: index, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @+1 {{the cells were written here}}
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  }
  scf.for %j = %c1 to %n step %c1 {
    // expected-warning @+1 {{cannot tell whether it is ever taken}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<stop>
  }
  return
}

// -----

!w = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// The sizes of one buffer are free of each other.
func.func @two_sizes(%w: !w, %any: memref<?x?xf32>, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %any, %c0 : memref<?x?xf32>
  %n = memref.dim %any, %c1 : memref<?x?xf32>
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %m step %c1 {
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop>
  }
  scf.for %j = %c0 to %n step %c1 {
    // expected-error @+1 {{found that its flags make it add to cells that nobody wrote}}
    pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<stop>
  }
  return
}
