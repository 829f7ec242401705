// Errors on tiles that are not in the table of Inputs/tile_rules.py: of text, of
// allocations, of one tile, and of clauses of the other machine.
// RUN: %pto_opt %s -split-input-file -verify-diagnostics

!A = memref<16x64xf16, #pto.mem<cube_m16>>
!B = memref<64x32xf16, #pto.mem<cube_n8>>
!C = memref<16x32xf32, #pto.mem<cube_m16>>

// Clauses of the PE array.

func.func @acc(%a: !A, %b: !B, %c: !C) {
  // expected-error@+1 {{'pto.tmatmul' op expected only clauses of the tile ISA for a destination in a tile, found acc [pto:machine-clause]}}
  pto.tmatmul ins(%a, %b : !A, !B) outs(%c : !C) acc<start>
  return
}

func.func @pe_tile(%a: !A, %b: !B, %c: !C) {
  // expected-error@+1 {{found tile [pto:machine-clause]}}
  pto.tmatmul_acc ins(%c, %a, %b : !C, !A, !B) outs(%c : !C) tile(32, 32) at(0, 0)
  return
}

func.func @zero_region(%a: !A, %b: !B, %c: !C) {
  // expected-error@+1 {{found zero_region [pto:machine-clause]}}
  pto.tmatmul ins(%a, %b : !A, !B) outs(%c : !C) zero_region(0)
  return
}

func.func @start_if(%a: !A, %b: !B, %c: !C, %p: i1) {
  // expected-error@+1 {{found start_if [pto:machine-clause]}}
  pto.tmatmul ins(%a, %b : !A, !B) outs(%c : !C) start_if(%p)
  return
}

func.func @stop_if(%a: !A, %b: !B, %c: !C, %p: i1) {
  // expected-error@+1 {{found stop_if [pto:machine-clause]}}
  pto.tmatmul_acc ins(%c, %a, %b : !C, !A, !B) outs(%c : !C) stop_if(%p)
  return
}

// Clauses of the tile ISA on the PE array.

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!P = memref<32x16xf32, #pto.mem<psum>>

func.func @quant(%w: !W, %x: !X, %c: !P, %q: i64) {
  // expected-error@+1 {{'pto.tmatmul' op expected only clauses of the PE array for a destination in psum, found quant [pto:machine-clause]}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !P) quant(%q : i64)
  return
}

func.func @row_max(%w: !W, %x: !X, %c: !P) {
  // expected-error@+1 {{found row_max [pto:machine-clause]}}
  pto.tmatmul_acc ins(%c, %w, %x : !P, !W, !X) outs(%c : !P) row_max(%c : !P)
  return
}

func.func @post(%w: !W, %x: !X, %c: !P) {
  // expected-error@+1 {{found post [pto:machine-clause]}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !P) {post = #pto.post<>}
  return
}

func.func @rmode(%w: !W, %x: !X, %c: !P) {
  // expected-error@+1 {{found rmode [pto:machine-clause]}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !P) {rmode = #pto.rmode<default>}
  return
}

func.func @mask(%w: !W, %x: !X, %c: !P) {
  // expected-error@+1 {{found mask [pto:machine-clause]}}
  pto.tmatmul_acc ins(%c, %w, %x : !P, !W, !X) outs(%c : !P) {mask = 15}
  return
}

func.func @flags(%w: !W, %x: !X, %c: !P) {
  // expected-error@+1 {{found sat [pto:machine-clause]}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !P) {sat}
  return
}

func.func @transposes(%w: !W, %x: !X, %c: !P) {
  // expected-error@+1 {{found trans_a [pto:machine-clause]}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !P) {trans_a}
  return
}

// A tile by itself.

func.func @rank(%a: memref<64xf16, #pto.mem<cube_m16>>, %b: !B, %c: !C) {
  // expected-error@+1 {{expected lhs of rank 2, found 'memref<64xf16, #pto.mem<cube_m16>>' [pto:rank]}}
  pto.tmatmul ins(%a, %b : memref<64xf16, #pto.mem<cube_m16>>, !B) outs(%c : !C)
  return
}

func.func @dynamic(%a: !A, %b: memref<64x?xf16, #pto.mem<cube_n8>>, %c: !C) {
  // expected-error@+1 {{expected rhs of static shape, found 'memref<64x?xf16, #pto.mem<cube_n8>>' [pto:dynamic-shape]}}
  pto.tmatmul ins(%a, %b : !A, memref<64x?xf16, #pto.mem<cube_n8>>) outs(%c : !C)
  return
}

func.func @view(%a: !A, %b: !B, %c: memref<16x32xf32, strided<[64, 1]>, #pto.mem<cube_m16>>) {
  // expected-error@+1 {{expected dst to be a whole tile, without a layout, found 'memref<16x32xf32, strided<[64, 1]>, #pto.mem<cube_m16>>' [pto:layout]}}
  pto.tmatmul ins(%a, %b : !A, !B) outs(%c : memref<16x32xf32, strided<[64, 1]>, #pto.mem<cube_m16>>)
  return
}

func.func @foreign_space(%a: memref<16x64xf16, 3>, %b: !B, %c: !C) {
  // expected-error@+1 {{expected lhs in a memory of pto, found 'memref<16x64xf16, 3>' [pto:space]}}
  pto.tmatmul ins(%a, %b : memref<16x64xf16, 3>, !B) outs(%c : !C)
  return
}

func.func @bias_into_psum(%a: !A, %b: !B, %v: memref<1x32xf32, #pto.mem<cube_m16>>, %c: memref<16x32xf32, #pto.mem<psum>>) {
  // expected-error@+1 {{expected dst in cube_m16, found it in psum (TileLegality) [pto:tile-operand-layout]}}
  pto.tmatmul_bias ins(%a, %b, %v : !A, !B, memref<1x32xf32, #pto.mem<cube_m16>>) outs(%c : memref<16x32xf32, #pto.mem<psum>>)
  return
}

// Allocations.

func.func @no_size() {
  // expected-error@+1 {{expected a size code from 1 to 10, found 0 (IllegalInstruction) [pto:tile-reserved]}}
  %0 = pto.tile_alloc size(0) : !C
  return
}

func.func @large_size() {
  // expected-error@+1 {{expected a size code from 1 to 10, found 11 (IllegalInstruction) [pto:tile-reserved]}}
  %0 = pto.tile_alloc size(11) : !C
  return
}

func.func @large_shared_size() {
  // expected-error@+1 {{expected a size code from 1 to 12, found 13 (IllegalInstruction) [pto:tile-reserved]}}
  %0 = pto.tile_alloc size(13) : memref<4x4xf32, #pto.mem<shared>>
  return
}

func.func @small_size() {
  // expected-error@+1 {{expected a size of at least the 2048 bytes of the buffer, found 1024 bytes of size(4) (TileAllocation) [pto:tile-destination-capacity]}}
  %0 = pto.tile_alloc size(4) : !C
  return
}

func.func @rows() {
  // expected-error@+1 {{expected the buffer in a layout that holds it, found 17x2xf32 in cube_m16 (TileLegality) [pto:tile-operand-layout]}}
  %0 = pto.tile_alloc : memref<17x2xf32, #pto.mem<cube_m16>>
  return
}

func.func @elements() {
  // expected-error@+1 {{expected the buffer in a layout that holds it, found 1x1025xf32 in cube_m16 (TileLegality) [pto:tile-operand-layout]}}
  %0 = pto.tile_alloc : memref<1x1025xf32, #pto.mem<cube_m16>>
  return
}

func.func @shared_bytes() {
  // expected-error@+1 {{expected the buffer of at most 262144 bytes, found 266240 (TileAllocation) [pto:tile-destination-capacity]}}
  %0 = pto.tile_alloc : memref<65x1024xf32, #pto.mem<shared>>
  return
}

func.func @no_elements() {
  // expected-error@+1 {{expected the buffer with elements, found 0x4xf32 in cube_m16 (TileLegality) [pto:tile-operand-shape]}}
  %0 = pto.tile_alloc : memref<0x4xf32, #pto.mem<cube_m16>>
  return
}

func.func @signless() {
  // expected-error@+1 {{expected the buffer of an element type of the tile ISA (signed or unsigned integers, not signless ones), found 'i8' (TileLegality) [pto:tile-operand-type]}}
  %0 = pto.tile_alloc : memref<4x4xi8, #pto.mem<cube_m16>>
  return
}

func.func @psum() {
  // expected-error@+1 {{expected the buffer in cube_m16, cube_m32, cube_n8 or shared, found it in psum [pto:space]}}
  %0 = pto.tile_alloc : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @wide_float() {
  // expected-error@+1 {{expected the buffer in a layout that holds it, found 4x4xf64 in cube_m16 (TileLegality) [pto:tile-operand-layout]}}
  %0 = pto.tile_alloc : memref<4x4xf64, #pto.mem<cube_m16>>
  return
}

// Expectations.

func.func @raw_words(%e: memref<1x2x!pto.hif8, #pto.mem<cube_m16>>) {
  // expected-error@+1 {{expected elements of '!pto.hif8', found 'i16' [pto:element-type]}}
  pto.expect_eq %e, dense<0> : tensor<1x2xi16>, memref<1x2x!pto.hif8, #pto.mem<cube_m16>>
  return
}

func.func @close_raw_words(%e: memref<1x2x!pto.hif8, #pto.mem<cube_m16>>) {
  // expected-error@+1 {{expected a buffer of floats, found '!pto.hif8' [pto:element-type]}}
  pto.expect_close %e, dense<0> : tensor<1x2xi8>, memref<1x2x!pto.hif8, #pto.mem<cube_m16>> {ulp = 0}
  return
}

func.func @no_raw_words(%e: memref<1x2xf16, #pto.mem<cube_m16>>) {
  // expected-error@+1 {{expected elements of 'f16', found 'i16' [pto:element-type]}}
  pto.expect_eq %e, dense<0> : tensor<1x2xi16>, memref<1x2xf16, #pto.mem<cube_m16>>
  return
}

// -----

// The generic form.

!A = memref<16x64xf16, #pto.mem<cube_m16>>
!B = memref<64x32xf16, #pto.mem<cube_n8>>
!C = memref<16x32xf32, #pto.mem<cube_m16>>

func.func @groups(%a: !A, %b: !B, %c: !C) {
  // expected-error@+1 {{expected one operand in each of the first 4 groups, found 2 [pto:operand-groups]}}
  "pto.tmatmul_bias"(%a, %b, %c, %c) <{operandSegmentSizes = array<i32: 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0>}> : (!A, !B, !C, !C) -> ()
  return
}

func.func @scaled_groups(%a: !A, %b: !B, %c: !C) {
  // expected-error@+1 {{expected one operand in each of the first 5 groups but the scales, found 2 [pto:operand-groups]}}
  "pto.tmatmul_mx"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 0, 0, 0, 1, 0>}> : (!A, !B, !C) -> ()
  return
}

// -----

!A = memref<16x64xf16, #pto.mem<cube_m16>>
!C = memref<16x32xf32, #pto.mem<cube_m16>>

func.func @group_count(%a: !A, %c: !C) {
  // expected-error@+1 {{size mismatch in attribute conversion}}
  "pto.tmatmul"(%a, %a, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> : (!A, !A, !C) -> ()
  return
}

// -----

// expected-error@+1 {{expected pre_quant, relu, group, row_max, group_max, row_max_init or max_abs, found 'quant' [pto:keyword]}}
#unknown = #pto.post<quant = 1>

// -----

// expected-error@+1 {{expected each field once, found 'relu' again [pto:keyword]}}
#twice = #pto.post<relu = 1, relu = 1>

// -----

// expected-error@+1 {{expected '='}}
#no_number = #pto.post<relu>

// -----

// expected-error@+1 {{expected '>'}}
#number = #pto.post<row_max = 1>

// -----

// expected-error@+1 {{expected default, rne, rtz, rtm, rtp, rna, rto or rhb, found 'up' [pto:keyword]}}
#rmode = #pto.rmode<up>

// -----

!A = memref<16x64xf8E5M2, #pto.mem<cube_m16>>
func.func @sources(%a: !A, %c: !A) {
  // expected-error@+1 {{expected 3 to 5 operands, found 2 (TileLegality) [pto:tile-source-count]}}
  pto.tmatmul_mx_acc ins(%a, %a : !A, !A) outs(%c : !A)
  return
}

// -----

!A = memref<16x64xf8E5M2, #pto.mem<cube_m16>>
func.func @types(%a: !A, %c: !A) {
  // expected-error@+1 {{expected 4 types, found 3}}
  pto.tmatmul_mx ins(%a, %a, %a, %a : !A, !A, !A) outs(%c : !A)
  return
}

// -----

!A = memref<16x64xf16, #pto.mem<cube_m16>>
func.func @empty_clause(%a: !A, %c: !A) {
  // expected-error@+1 {{expected SSA operand}}
  pto.tmatmul ins(%a, %a : !A, !A) outs(%c : !A) quant()
  return
}

// -----

!A = memref<16x64xf16, #pto.mem<cube_m16>>
func.func @order(%a: !A, %c: !A, %q: i64) {
  // expected-error@+1 {{expected no clause 'quant' here: it is repeated, out of order, or not one of pto.tmatmul [pto:clause]}}
  pto.tmatmul ins(%a, %a : !A, !A) outs(%c : !A) prelu(%q : i64) quant(%q : i64)
  return
}

// -----

!A = memref<16x64xf16, #pto.mem<cube_m16>>
func.func @foreign_clause(%a: !A, %c: !A) {
  // expected-error@+1 {{expected no clause 'acc' here: it is repeated, out of order, or not one of pto.tmatmul_bias [pto:clause]}}
  pto.tmatmul_bias ins(%a, %a, %a : !A, !A, !A) outs(%c : !A) acc<start>
  return
}

// -----

func.func @size_in_dictionary() {
  // expected-error@+1 {{expected 'size' in the clauses, found it in the dictionary [pto:clause]}}
  %0 = pto.tile_alloc {size = 3} : memref<4x4xf32, #pto.mem<cube_m16>>
  return
}

// -----

!A = memref<16x64xf16, #pto.mem<cube_m16>>
func.func @width_of_mask(%a: !A, %c: !A) {
  // expected-error@+1 {{attribute 'mask' failed to satisfy constraint: 64-bit signless integer attribute}}
  pto.tmatmul ins(%a, %a : !A, !A) outs(%c : !A) {mask = 15 : i32}
  return
}
