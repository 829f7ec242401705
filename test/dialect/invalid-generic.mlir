// What only the generic form can say.
// RUN: %pto_opt %s -split-input-file -verify-diagnostics

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

func.func @size_without_position(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected tile_size and tile_position together, found only tile_size [pto:tile-position]}}
  "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, tile_size = array<i32: 64, 32>}> : (!W, !X, !C) -> ()
  return
}

func.func @position_without_size(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected tile_size and tile_position together, found only tile_position [pto:tile-size]}}
  "pto.tmatmul_acc"(%c, %w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, tile_position = array<i32: 0, 0>}> : (!C, !W, !X, !C) -> ()
  return
}

func.func @three_sizes(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected two numbers in tile_size, found 3 [pto:tile-size]}}
  "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, tile_size = array<i32: 64, 32, 32>, tile_position = array<i32: 0, 0>}> : (!W, !X, !C) -> ()
  return
}

func.func @no_positions(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected two numbers in tile_position, found 0 [pto:tile-position]}}
  "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, tile_size = array<i32: 64, 32>, tile_position = array<i32>}> : (!W, !X, !C) -> ()
  return
}

func.func @groups_of_two_and_none(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected one operand in each of the first 3 groups, found 2 [pto:operand-groups]}}
  "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 2, 1, 0, 0, 0, 0>}> : (!W, !X, !C) -> ()
  return
}

func.func @no_accumulator(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected one operand in each of the first 4 groups, found 0 [pto:operand-groups]}}
  "pto.tmatmul_acc"(%w, %w, %x, %c) <{operandSegmentSizes = array<i32: 0, 2, 1, 1, 0, 0, 0>}> : (!W, !W, !X, !C) -> ()
  return
}

func.func @two_predicates(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{operand group starting at #3 requires 0 or 1 element, but found 2}}
  "pto.tmatmul"(%w, %x, %c, %p, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0>}> : (!W, !X, !C, i1, i1) -> ()
  return
}

func.func @unranked(%w: memref<*xbf16, #pto.mem<sbuf>>, %x: !X, %c: !C) {
  // expected-error@+1 {{operand #0 must be a memref, but got 'memref<*xbf16, #pto.mem<sbuf>>'}}
  "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (memref<*xbf16, #pto.mem<sbuf>>, !X, !C) -> ()
  return
}

func.func @tensor(%w: tensor<64x32xbf16>, %x: !X, %c: !C) {
  // expected-error@+1 {{operand #0 must be a memref, but got 'tensor<64x32xbf16>'}}
  "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (tensor<64x32xbf16>, !X, !C) -> ()
  return
}

func.func @other_result(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{result #0 must be an ordering token, but got 'i32'}}
  %0 = "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (!W, !X, !C) -> i32
  return
}

func.func @two_results(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{result group starting at #0 requires 0 or 1 element, but found 2}}
  %0:2 = "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (!W, !X, !C) -> (!pto.token, !pto.token)
  return
}

func.func @no_ulp(%y: memref<4xf32>) {
  // expected-error@+1 {{requires attribute 'ulp'}}
  "pto.expect_close"(%y) <{expected = dense<0.0> : tensor<4xf32>}> : (memref<4xf32>) -> ()
  return
}

// -----

func.func @acc_of_another_kind(%w: memref<64x32xbf16, #pto.mem<sbuf>>, %x: memref<64x16xbf16, #pto.mem<sbuf>>, %c: memref<32x16xf32, #pto.mem<psum>>) {
  // expected-error@+1 {{Invalid attribute `acc` in property conversion: 1 : i32}}
  "pto.tmatmul"(%w, %x, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, acc = 1 : i32}> : (memref<64x32xbf16, #pto.mem<sbuf>>, memref<64x16xbf16, #pto.mem<sbuf>>, memref<32x16xf32, #pto.mem<psum>>) -> ()
  return
}

// -----

func.func @bank_of_another_width() {
  // expected-error@+1 {{attribute 'bank' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "pto.psum_alloc"() <{bank = 1 : i32}> : () -> memref<4x4xf32, #pto.mem<psum>>
  return
}
