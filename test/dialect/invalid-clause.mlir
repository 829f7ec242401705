// How clauses are written, for every variant of the matmul.
// RUN: %each_matmul %s | %pto_opt -split-input-file -verify-diagnostics

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @acc_in_the_dictionary(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected 'acc' in the clauses, found it in the dictionary [pto:clause]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {acc = #pto.acc<start>}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @acc_in_both_places(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected 'acc' in the clauses, found it in the dictionary [pto:clause]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<stop> {acc = #pto.acc<start>}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @zero_region_in_the_dictionary(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected 'zero_region' in the clauses, found it in the dictionary [pto:clause]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {zero_region = 0}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @tile_in_the_dictionary(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected 'tile_size' in the clauses, found it in the dictionary [pto:clause]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {tile_size = array<i32: 64, 32>}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @position_in_the_dictionary(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected 'tile_position' in the clauses, found it in the dictionary [pto:clause]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {tile_position = array<i32: 0, 0>}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @segments_in_the_dictionary(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected 'operandSegmentSizes' in the clauses, found it in the dictionary [pto:clause]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {operandSegmentSizes = array<i32: 9, 9, 9, 9, 9, 9>}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @mark_of_another_kind(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{attribute 'inserted_token' failed to satisfy constraint: unit attribute}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {inserted_token = 3}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @out_of_order(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected no clause 'tile' here: it is repeated, out of order, or not one of pto.MATMUL [pto:clause]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<start> tile(64, 32) at(0, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @repeated(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected no clause 'acc' here}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<start> acc<stop>
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @of_another_op(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected no clause 'engine' here}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) engine(pe)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @tile_without_position(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected 'at'}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) acc<start>
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @unknown_flag(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected none, start, stop or accumulate, found 'begin' [pto:keyword]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<begin>
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @arrow_without_type(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected non-function type}}
  %t = pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) ->
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @empty_predicate(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected SSA operand}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) start_if()
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @empty_after(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected SSA operand}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after()
  return
}

// -----

func.func @bank_in_the_dictionary() {
  // expected-error@+1 {{expected 'bank' in the clauses, found it in the dictionary [pto:clause]}}
  %0 = pto.psum_alloc {bank = 0} : memref<4x4xf32, #pto.mem<psum>>
  return
}

// -----

func.func @offset_before_bank() {
  // expected-error@+1 {{expected no clause 'bank' here}}
  %0 = pto.psum_alloc offset(0) bank(0) : memref<4x4xf32, #pto.mem<psum>>
  return
}

// -----

func.func @bank_of_sbuf() {
  // expected-error@+1 {{expected no clause 'bank' here: it is repeated, out of order, or not one of pto.sbuf_alloc [pto:clause]}}
  %0 = pto.sbuf_alloc bank(0) : memref<4x4xf32, #pto.mem<sbuf>>
  return
}

// -----

func.func @engine_in_the_dictionary(%z: f32, %c: memref<4x4xf32>) {
  // expected-error@+1 {{expected 'engine' in the clauses, found it in the dictionary [pto:clause]}}
  pto.memset %z, %c : f32, memref<4x4xf32> {engine = #pto.engine<dma>}
  return
}

// -----

func.func @unknown_engine(%z: f32, %c: memref<4x4xf32>) {
  // expected-error@+1 {{expected pe, vector, scalar, gpsimd or dma, found 'tensor' [pto:keyword]}}
  pto.memset %z, %c : f32, memref<4x4xf32> engine(tensor)
  return
}

// -----

func.func @inserted_of_another_kind(%z: f32, %c: memref<4x4xf32>) {
  // expected-error@+1 {{attribute 'inserted' failed to satisfy constraint: unit attribute}}
  pto.memset %z, %c : f32, memref<4x4xf32> {inserted = true}
  return
}

// -----

func.func @ulp_of_another_kind(%y: memref<4xf32>) {
  // expected-error@+1 {{attribute 'ulp' failed to satisfy constraint: 64-bit signless integer attribute}}
  pto.expect_close %y, dense<0.0> : tensor<4xf32>, memref<4xf32> {ulp = 1.0}
  return
}

// -----

// expected-error@+1 {{expected hbm, sbuf, psum, cube_m16, cube_m32, cube_n8 or shared, found 'sram' [pto:keyword]}}
func.func private @unknown_space(memref<4xf32, #pto.mem<sram>>)

// -----

// expected-error@+1 {{expected trn1, trn2, trn3, nogroup or tile, found 'trn9' [pto:keyword]}}
module attributes {pto.target = #pto.target<trn9>} {}

// -----

// expected-error@+1 {{expected none, start, stop or accumulate, found 'go' [pto:keyword]}}
module attributes {acc = #pto.acc<start|go>} {}

// -----

// expected-error@+1 {{unknown attribute `memory` in dialect `pto`}}
module attributes {memory = #pto.memory<psum>} {}

// -----

// expected-error@+1 {{unknown  type `tokn` in dialect `pto`}}
func.func private @unknown_type(!pto.tokn)
