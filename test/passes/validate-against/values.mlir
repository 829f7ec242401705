// Two modules, function by function: the first read that differs, with both lists and both places, and
// what makes functions incomparable. The notes in the other file are asserted there.
// RUN: %pto_opt --pto-validate-against=%S/Inputs/before.mlir -verify-diagnostics %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// expected-error @+1 {{expected every function of the original, found no `@missing` [pto:other-functions]}}
module {

func.func @right(%w: !w, %x: !w, %out: !out) {
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(3) : !acc
  pto.memset %zero, %a : f32, !acc
  pto.tmatmul ins(%w, %x : !w, !w) outs(%a : !acc) acc<start> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !w) outs(%a : !acc) acc<stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

func.func @lost_sum(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !w) outs(%a : !acc) acc<start> zero_region(0)
  // expected-note @+1 {{found: sum 1 of 1}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  // expected-error @+1 {{expected 2 sums, found one sum: partitions 0..128, bytes 0..512 of the buffer (under written-bit, regions of the column group) [pto:not-equivalent]}}
  pto.copy %a, %out : !acc, !out
  return
}

func.func @seed(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.copy %out, %a : !out, !acc
  // expected-note @+1 {{found: sum 1 of 1}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  // expected-error @+1 {{expected one sum on data of another engine, found one sum: partitions 0..128, bytes 0..512 of the buffer (under written-bit, regions of the column group) [pto:not-equivalent]}}
  pto.copy %a, %out : !acc, !out
  return
}

// Another product is another value.
func.func @operands(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @+1 {{expected the same value as operand 2, as in the original, found another `pto.tmatmul` [pto:not-comparable]}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// expected-error @+1 {{expected the 2 reads of psum of the original, found 1 [pto:not-comparable]}}
func.func @reads(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  pto.copy %a, %out : !acc, !out
  return
}

// expected-error @+1 {{expected the type as in the original, found another [pto:not-comparable]}}
func.func @signature(%w: !w, %out: !out) {
  return
}

// What PSUM holds is the same; what is stored elsewhere is not.
func.func @other_memory(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 2.0 : f32
  // expected-error @+1 {{expected the same value as operand 0, as in the original, found another `memref.store` [pto:not-comparable]}}
  memref.store %f, %out[%c0, %c0] : !out
  return
}

// expected-error @+1 {{expected only functions of the original, found `@extra` [pto:other-functions]}}
func.func @extra() {
  return
}

}
