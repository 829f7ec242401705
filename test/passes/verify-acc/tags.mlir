// One case for each tag that verify-acc.mlir does not have, with both places.
// RUN: %pto_opt --pto-verify-acc=sticky -split-input-file -verify-diagnostics %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// A memset that legalization inserted belongs to the machine: it may not clear a value.
func.func @memset_clobbers(%w: !w, %x: !x, %out: !out) {
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  // expected-note @+1 {{the cells were written here}}
  %t = pto.memset %zero, %a : f32, !acc -> !pto.token {inserted}
  // expected-error @+1 {{expected a value that is still needed here, found that a memset of legalization clears it: partitions 0..128, bytes 0..512 of the buffer [pto:memset-clobbers]}}
  pto.copy %a, %out : !acc, !out
  return
}

// Two buffers in one place, both in use.
func.func @overlapping_allocs(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(256) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  // expected-note @+1 {{the other buffer is written here}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc) acc<start|stop> zero_region(0)
  // expected-error @+1 {{expected a value that is still needed here, found that another buffer took its place: partitions 0..128, bytes 256..512 of the buffer [pto:overlapping-allocs]}}
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// A callee that says that it touches bank 0, and one that touches another bank.
func.func private @uses_bank_0() attributes {pto.psum_banks = array<i32: 0>}
func.func private @uses_bank_1() attributes {pto.psum_banks = array<i32: 1>}
func.func @call(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
  func.call @uses_bank_1() : () -> ()
  pto.copy %a, %out : !acc, !out
  // expected-note @+1 {{the cells were written here}}
  func.call @uses_bank_0() : () -> ()
  // expected-error @+1 {{expected a value that is still needed here, found that a call may overwrite it: partitions 0..128, bytes 0..512 of the buffer [pto:call]}}
  pto.copy %a, %out : !acc, !out
  return
}

// Right or wrong depends on a predicate that nothing is known of.
func.func @not_provable(%w: !w, %x: !x, %out: !out, %first: i1) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  // expected-warning @+1 {{expected flags that are known, found that right or wrong depends on a predicate: partitions 0..128, bytes 0..512 of the buffer [pto:not-provable]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<stop> zero_region(0) start_if(%first)
  pto.copy %a, %out : !acc, !out
  return
}

// Data of another engine, added to: on a machine whose pending bits outlive its write the sum may
// overwrite it. On the other two it is right.
func.func @seeded_accumulate(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc) acc<start|stop> zero_region(0)
  pto.copy %b, %out : !acc, !out
  // expected-note @+1 {{the cells were written here}}
  pto.copy %out, %a : !out, !acc
  // expected-error @+1 {{expected this matmul to add to data of another engine, found that a pending bit may make it overwrite: partitions 0..128, bytes 0..512 of the buffer [pto:seeded-accumulate]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) acc<stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>

// A buffer without a place.
func.func @unplaced(%w: !w) {
  // expected-error @+1 {{expected a placed buffer, found one without a bank [pto:unplaced]}}
  %a = pto.psum_alloc : !acc
  // expected-note @+1 {{first used here}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>

// Flags and regions that the target does not have: each at its matmul.
func.func @target_limit(%w: !w) {
  // expected-note @+1 {{the destination's buffer is allocated here}}
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @+1 {{expected flags that trn2 has, found accumulate [pto:target-limit]}}
  pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%a : !acc) acc<accumulate>
  // expected-error @+1 {{expected a zero region of at most 0 on trn2, found 2 [pto:target-limit]}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start> zero_region(2)
  return
}

// -----

!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<32x128xf32, #pto.mem<psum>>

// A tile whose first column is another than the first partition of its destination.
func.func @tile_position(%w: !w, %x: !x) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = pto.psum_alloc bank(0) partition(32) : !acc
  // expected-error @+2 {{expected a tile whose first column is the first partition of the destination, found another [pto:tile-position]}}
  // expected-error @+1 {{expected this matmul to overwrite, found that its flags make it add to cells that nobody wrote}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) tile(128, 32) at(0, 64) acc<start|stop> zero_region(0)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>

// The PE adds into its destination.
func.func @accumulator_elsewhere(%w: !w) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-note @+1 {{the destination's buffer is allocated here}}
  %b = pto.psum_alloc bank(1) : !acc
  // expected-error @+1 {{expected the accumulator to be the destination, found other cells [pto:accumulator-elsewhere]}}
  pto.tmatmul_acc ins(%a, %w, %w : !acc, !w, !w) outs(%b : !acc) acc<stop> zero_region(0)
  return
}
