// What the lint proves and what it finds, always with the other place.
// RUN: %pto_opt --pto-verify-acc -verify-diagnostics %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// Right flags: nothing is said.
func.func @good(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) acc<stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// Reuse of a location without START.
func.func @adds(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the cells were written here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  // expected-error @+1 {{expected this matmul to overwrite, found that its flags make it add to other data: partitions 0..128, bytes 0..512 of the buffer [pto:wrong-mode]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// One sum in two steps, each with START.
func.func @overwrites(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the cells were written here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(0)
  // expected-error @+1 {{expected this matmul to add, found that its own start makes it overwrite: partitions 0..128, bytes 0..512 of the buffer [pto:wrong-mode]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// A START on the bank of data that is still needed.
func.func @clobbers(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  // expected-note @+1 {{the start is here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc) acc<start|stop> zero_region(0)
  // expected-error @+1 {{expected a value that is still needed here, found that a later start clears it: partitions 0..128, bytes 0..512 of the buffer [pto:start-clobbers]}}
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// The START of one location leaves pending bits in another, which nobody writes.
func.func @pending(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // expected-note @+1 {{the start is here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  // expected-error @+1 {{expected a written cell, found one that is cleared but not yet written: partitions 0..128, bytes 0..512 of the buffer [pto:read-pending]}}
  pto.copy %b, %out : !acc, !out
  return
}

// The group is not closed when it is read: its value is right all the same.
func.func @open(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the cells were written here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(0)
  // expected-warning @+1 {{expected the accumulation group to be closed, found it read without a stop: partitions 0..128, bytes 0..512 of the buffer [pto:read-open-group]}}
  pto.copy %a, %out : !acc, !out
  return
}

// What another engine overwrites was never read.
func.func @lost(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the cells were written here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(0)
  // expected-warning @+1 {{expected the accumulation group to be closed, found its partial sum overwritten: partitions 0..128, bytes 0..512 of the buffer [pto:lost-partial]}}
  pto.copy %out, %a : !out, !acc
  pto.copy %a, %out : !acc, !out
  return
}

// Nobody wrote what is read.
func.func @undefined(%out: !out) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @+1 {{expected a written cell, found one that nobody wrote: partitions 0..128, bytes 0..512 of the buffer [pto:read-undefined]}}
  pto.copy %a, %out : !acc, !out
  return
}

// The first matmul of a location adds to whatever is there.
func.func @accu(%w: !w, %x: !x, %out: !out) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @+1 {{expected this matmul to overwrite, found that its flags make it add to cells that nobody wrote: partitions 0..128, bytes 0..512 of the buffer [pto:accumulate-undefined]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// Only a loop that does not run leaves the cells fresh.
func.func @zero_trip(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @+1 {{the cells were written here}}
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  }
  // expected-warning @+1 {{expected a written cell, found one that is fresh if a loop does not run: partitions 0..128, bytes 0..512 of the buffer [pto:maybe-undefined]}}
  pto.copy %a, %out : !acc, !out
  return
}

// Without flags there is nothing to verify.
// expected-note @+1 {{pto-legalize-acc derives them}}
func.func @auto(%w: !w, %x: !x, %out: !out, %n: index) {
  %a = pto.psum_alloc bank(0) : !acc
    // expected-error @+1 {{expected accumulate flags, found 1 matmuls without [pto:auto-flags]}}
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  return
}
