// The original of values.mlir: no flags, no places.
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// expected-note @+1 {{the original is here}}
module {

func.func @right(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc : !acc
  pto.tmatmul ins(%w, %x : !w, !w) outs(%a : !acc)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !w) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

func.func @lost_sum(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc : !acc
  // expected-note @+1 {{expected: sum 1 of 2}}
  pto.tmatmul ins(%w, %x : !w, !w) outs(%a : !acc)
  // expected-note @+1 {{expected: sum 2 of 2}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !w) outs(%a : !acc)
  // expected-note @+1 {{the original reads it here}}
  pto.copy %a, %out : !acc, !out
  return
}

func.func @seed(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc : !acc
  // expected-note @+1 {{expected: data written here}}
  pto.copy %out, %a : !out, !acc
  // expected-note @+1 {{expected: sum 1 of 1}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !w) outs(%a : !acc)
  // expected-note @+1 {{the original reads it here}}
  pto.copy %a, %out : !acc, !out
  return
}

func.func @operands(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc : !acc
  // expected-note @+1 {{the original is here}}
  pto.tmatmul ins(%w, %x : !w, !w) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

func.func @reads(%w: !w, %x: !w, %out: !out) {
  %a = pto.psum_alloc : !acc
  pto.tmatmul ins(%w, %x : !w, !w) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  // expected-note @+1 {{the original has this here}}
  pto.copy %a, %out : !acc, !out
  return
}

// expected-note @+1 {{the original is here}}
func.func @signature(%w: !w, %x: !w, %out: !out) {
  return
}

func.func @other_memory(%w: !w, %out: !out) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  // expected-note @+1 {{the original is here}}
  memref.store %f, %out[%c0, %c0] : !out
  return
}

// expected-note @+1 {{the original has it here}}
func.func @missing() {
  return
}

}
