// What legalization refuses, and what it warns of; each with the other place that matters.
// RUN: %pto_opt --pto-legalize-acc -split-input-file -verify-diagnostics %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// An allocation must have its place.
func.func @unplaced(%w: !w, %x: !x, %out: !out) {
  // expected-error @+1 {{expected a placed psum buffer, found one without a bank; run pto-alloc-psum first [pto:unplaced]}}
  %a = pto.psum_alloc : !acc
  // expected-note @+1 {{first used here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// So must an argument.
// expected-error @+1 {{[pto:unplaced]}}
func.func @unplaced_argument(%w: !w, %x: !x, %a: !acc) {
  // expected-note @+1 {{first used here}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// And what bufferization makes.
func.func @memref_alloc(%w: !w, %x: !x, %out: !out) {
  // expected-error @+1 {{[pto:unplaced]}}
  %a = memref.alloc() : !acc
  // expected-note @+1 {{first used here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  memref.dealloc %a : !acc
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// Two live values on one byte.
func.func @overlap(%w: !w, %x: !x, %out: !out) {
  // expected-note @+1 {{the other buffer}}
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(256) : !acc
  // expected-note @+1 {{its value is written here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // expected-error @+1 {{expected cells without a live value, found those of another buffer that is still needed [pto:overlapping-allocs]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  // expected-note @+1 {{and needed here}}
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// Flags that are all explicit are a claim, which is checked.
func.func @unsound(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the cells were written here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(0)
  // expected-error @+1 {{expected this matmul to add, found that its own start makes it overwrite: partitions 0..128, bytes 0..512 of the buffer [pto:unsound-flags]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// A mix of explicit and auto is derived anew, with a warning where that changes something.
func.func @mixed(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-warning @+1 {{derived acc<start> zero_region(0) instead of what was written [pto:mixed-flags]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<stop> zero_region(0)
  // expected-note @+1 {{this one has none}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// A harmless mix says nothing.
func.func @harmless_mix(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// A call that does not say what it touches, across live data.
func.func private @unknown()
func.func @call(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the data is from here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // expected-error @+1 {{expected a callee that names the psum banks it touches (pto.psum_banks), found none while psum holds live data [pto:call]}}
  call @unknown() : () -> ()
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// One that touches the bank; of others it may touch what it likes.
func.func private @bank0() attributes {pto.psum_banks = array<i32: 0>}
func.func private @bank7() attributes {pto.psum_banks = array<i32: 6, 7>}
func.func private @nothing() attributes {pto.psum_banks = array<i32>}
func.func @call(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the data is from here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  call @bank7() : () -> ()
  call @nothing() : () -> ()
  // expected-error @+1 {{expected a callee that leaves banks with live data alone, found one that touches them [pto:call]}}
  call @bank0() : () -> ()
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// The columns of the array are the partitions of the destination.
!w32 = memref<128x32xbf16, #pto.mem<sbuf>>
!tile = memref<32x128xf32, #pto.mem<psum>>
func.func @tile_position(%w: !w32, %x: !x, %out: memref<32x128xf32>) {
  // expected-note @+1 {{the buffer}}
  %a = pto.psum_alloc bank(0) partition(32) : !tile
  // expected-error @+1 {{expected the destination to start at partition 64, the first column of the tile, found partition 32 [pto:tile-position]}}
  pto.tmatmul ins(%w, %x : !w32, !x) outs(%a : !tile) tile(128, 32) at(0, 64)
  pto.copy %a, %out : !tile, memref<32x128xf32>
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// The engine reads its own destination and no other buffer.
func.func @elsewhere(%w: !w, %x: !x, %out: !out) {
  // expected-note @+1 {{the buffer}}
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // expected-error @+1 {{[pto:accumulator-elsewhere]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.copy %b, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// Adding onto data works on this target by an assumption about the machine.
func.func @seeded(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the data comes from here}}
  pto.copy %out, %a : !out, !acc
  // expected-warning @+1 {{[pto:seeded-accumulate]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// expected-note @+1 {{the data comes from here}}
func.func @arguments(%w: !w, %x: !x, %a: !acc {pto.bank = 1 : i64},
                     %f: !acc {pto.bank = 2 : i64, pto.fresh}) {
  // expected-warning @+1 {{[pto:seeded-accumulate]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.tmatmul_acc ins(%f, %w, %x : !acc, !w, !x) outs(%f : !acc)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// Zero regions of one bank only.
!x2 = memref<128x512xbf16, #pto.mem<sbuf>>
!two = memref<128x512xf32, #pto.mem<psum>>
func.func @multi_bank(%w: !w, %x: !x2) {
  // expected-note @+1 {{the buffer}}
  %a = pto.psum_alloc bank(1) offset(1024) : !two
  // expected-error @+1 {{expected a destination within one bank on trn2, found banks 1 to 2 [pto:multi-bank]}}
  pto.tmatmul ins(%w, %x : !w, !x2) outs(%a : !two)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// Flags that the target does not have.
func.func @target_limit(%w: !w, %x: !x) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @+2 {{expected accumulate flags that trn2 has, found accumulate (control byte 4) [pto:target-limit]}}
  // expected-error @+1 {{expected a zero-region code of at most 0 on trn2, found 2 [pto:target-limit]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<accumulate> zero_region(2)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// An error is about one function; nothing of it was changed, and the others are done.
func.func @bad(%w: !w, %x: !x) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // expected-error @+1 {{[pto:unplaced]}}
  %b = pto.psum_alloc : !acc
  // expected-note @+1 {{first used here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  return
}

// -----

// Two sums in one place that both need zeros before a jump: said once, although every block finds it.
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @one_place(%w: !w, %out: !out, %p: i1) {
  // expected-error @below {{expected cells of its own for a buffer that holds a value where a block begins, found those of another one [pto:overlapping-allocs]}}
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @below {{the other buffer}}
  // expected-note @below {{and needed after the block}}
  %b = pto.psum_alloc bank(0) : !acc
  cf.br ^first
^first:
  // expected-error @below {{expected cells without a live value, found those of another buffer that is still needed}}
  pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
  cf.cond_br %p, ^first, ^second
^second:
  pto.tmatmul_acc ins(%b, %w, %w : !acc, !w, !w) outs(%b : !acc)
  cf.cond_br %p, ^first, ^end
^end:
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// -----

// A triangle without its diagonal: its first inner loop does not run, and what is drained then is the value of the tile before.
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
func.func @empty_loop(%w: !w, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the buffer with the value}}
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  // expected-error @+1 {{expected cells of its own for a value that one run of these regions leaves to the next, found that another buffer writes them too [pto:overlapping-allocs]}}
  scf.for %q = %c0 to %n step %c1 {
    scf.for %k = %c0 to %q step %c1 {
      %first = arith.cmpi eq, %k, %c0 : index
      scf.if %first {
        pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc)
      }
    }
    pto.copy %a, %out : !acc, !out
    pto.tmatmul ins(%w, %w : !w, !w) outs(%b : !acc)
    pto.copy %b, %out : !acc, !out
  }
  return
}
