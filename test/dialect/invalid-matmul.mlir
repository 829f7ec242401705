// Rules of one matmul, for every variant.
// RUN: %each_matmul %s | %pto_opt -split-input-file -verify-diagnostics

// Spaces.

!W = memref<64x32xbf16, #pto.mem<psum>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @lhs_in_psum(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs in #pto.mem<sbuf>, found #pto.mem<psum> [pto:space]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @rhs_in_hbm(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs in #pto.mem<sbuf>, found #pto.mem<hbm> [pto:space]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<sbuf>>
func.func @dst_in_sbuf(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dst in #pto.mem<psum>, found #pto.mem<sbuf> [pto:space]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, 1>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @foreign_space(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs in #pto.mem<sbuf>, found the memory space 1 : i64 [pto:space]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<cube_n8>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @tile_space(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs in #pto.mem<sbuf>, found #pto.mem<cube_n8>, a tile register of the tile ISA [pto:tile-space]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<cube_m32>>
func.func @tile_space_of_dst(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dst in #pto.mem<psum>, found #pto.mem<cube_m32>, a tile register of the tile ISA [pto:tile-space]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

// Shapes.

!W = memref<bf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @rank_0(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs of rank 2, found 'memref<bf16, #pto.mem<sbuf>>' [pto:rank]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16x1xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @rank_3(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs of rank 2, found 'memref<64x16x1xbf16, #pto.mem<sbuf>>' [pto:rank]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32xf32, #pto.mem<psum>>
func.func @rank_1(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dst of rank 2, found 'memref<32xf32, #pto.mem<psum>>' [pto:rank]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<32x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @k_disagrees(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dimension 0 of lhs and dimension 0 of rhs to agree in K, found 64 and 32 [pto:shape]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<64x16xf32, #pto.mem<psum>>
func.func @m_disagrees(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dimension 1 of lhs and dimension 0 of dst to agree in M, found 32 and 64 [pto:shape]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x8xf32, #pto.mem<psum>>
func.func @n_disagrees(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dimension 1 of rhs and dimension 1 of dst to agree in N, found 16 and 8 [pto:shape]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<?x?xbf16, #pto.mem<sbuf>>
!X = memref<?x16xbf16, #pto.mem<sbuf>>
!C = memref<?x8xf32, #pto.mem<psum>>
func.func @n_disagrees_beside_dynamic(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dimension 1 of rhs and dimension 1 of dst to agree in N, found 16 and 8 [pto:shape]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<0x32xbf16, #pto.mem<sbuf>>
!X = memref<0x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @no_k(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs with elements, found 'memref<0x32xbf16, #pto.mem<sbuf>>' [pto:shape]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x0xbf16, #pto.mem<sbuf>>
!C = memref<32x0xf32, #pto.mem<psum>>
func.func @no_n(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs with elements, found 'memref<64x0xbf16, #pto.mem<sbuf>>' [pto:shape]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<129x32xbf16, #pto.mem<sbuf>>
!X = memref<129x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @k_129(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected K of at most 128 on any target, found 129 [pto:matmul-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<?x32xbf16, #pto.mem<sbuf>>
!X = memref<129x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @k_129_of_rhs(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected K of at most 128 on any target, found 129 [pto:matmul-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x129xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<129x16xf32, #pto.mem<psum>>
func.func @m_129(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected M of at most 128 on any target, found 129 [pto:matmul-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x?xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<129x16xf32, #pto.mem<psum>>
func.func @m_129_of_dst(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected M of at most 128 on any target, found 129 [pto:matmul-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x4097xbf16, #pto.mem<sbuf>>
!C = memref<32x4097xf32, #pto.mem<psum>>
func.func @n_4097(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected N of at most 4096 on any target, found 4097 [pto:matmul-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x9223372036854775807xbf16, #pto.mem<sbuf>>
!C = memref<32x9223372036854775807xf32, #pto.mem<psum>>
func.func @n_huge(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected N of at most 4096 on any target, found 9223372036854775807 [pto:matmul-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

// Element types.

!W = memref<64x32xf64, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @lhs_of_f64(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs of f8E4M3FN, f8E5M2, f8E3M4, bf16, f16, tf32, f32, i8, si8 or ui8, found 'f64' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xi16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @rhs_of_i16(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs of f8E4M3FN, f8E5M2, f8E3M4, bf16, f16, tf32, f32, i8, si8 or ui8, found 'i16' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xf8E4M3, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @rhs_of_e4m3(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs of f8E4M3FN, f8E5M2, f8E3M4, bf16, f16, tf32, f32, i8, si8 or ui8, found 'f8E4M3' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xindex, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @rhs_of_index(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected rhs of f8E4M3FN, f8E5M2, f8E3M4, bf16, f16, tf32, f32, i8, si8 or ui8, found 'index' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xf32, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @f32_with_bf16(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs and rhs both of f32 or tf32, both of narrower floats or both of 8-bit integers, found 'f32' and 'bf16' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xf16, #pto.mem<sbuf>>
!X = memref<64x16xtf32, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @f16_with_tf32(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs and rhs both of f32 or tf32, both of narrower floats or both of 8-bit integers, found 'f16' and 'tf32' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xi8, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @i8_with_bf16(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs and rhs both of f32 or tf32, both of narrower floats or both of 8-bit integers, found 'i8' and 'bf16' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xf32, #pto.mem<sbuf>>
!X = memref<64x16xui8, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @f32_with_i8(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected lhs and rhs both of f32 or tf32, both of narrower floats or both of 8-bit integers, found 'f32' and 'ui8' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xi8, #pto.mem<sbuf>>
!X = memref<64x16xi8, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @i8_into_f32(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dst of i32 for 8-bit integers, found 'f32' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xi8, #pto.mem<sbuf>>
!X = memref<64x16xi8, #pto.mem<sbuf>>
!C = memref<32x16xsi32, #pto.mem<psum>>
func.func @i8_into_si32(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dst of i32 for 8-bit integers, found 'si32' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xi32, #pto.mem<psum>>
func.func @bf16_into_i32(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dst of f32 (or, on trn3, bf16) for floats, found 'i32' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf16, #pto.mem<psum>>
func.func @bf16_into_f16(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected dst of f32 (or, on trn3, bf16) for floats, found 'f16' [pto:element-type]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
  return
}

// -----

// Tiles.

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @height_96(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32, 64 or 128 rows, found 96 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(96, 32) at(0, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @height_16(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32, 64 or 128 rows, found 16 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(16, 32) at(96, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @height_0(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32, 64 or 128 rows, found 0 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(0, 32) at(0, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @height_negative(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32, 64 or 128 rows, found -32 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(-32, 32) at(0, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @height_lowest(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32, 64 or 128 rows, found -2147483648 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(-2147483648, 32) at(0, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @height_256(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32, 64 or 128 rows, found 256 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(256, 32) at(0, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @width_48(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32, 64 or 128 columns, found 48 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 48) at(0, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @row_32_of_64(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 64 rows to begin at a multiple of 64 below 128, found 32 [pto:tile-position]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(32, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @row_128(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 64 rows to begin at a multiple of 64 below 128, found 128 [pto:tile-position]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(128, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @row_negative(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 64 rows to begin at a multiple of 64 below 128, found -64 [pto:tile-position]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(-64, 0)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @column_32_of_64(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 64 columns to begin at a multiple of 64 below 128, found 32 [pto:tile-position]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 64) at(0, 32)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @column_96_of_64(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 64 columns to begin at a multiple of 64 below 128, found 96 [pto:tile-position]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 64) at(0, 96)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @column_1_of_32(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32 columns to begin at a multiple of 32 below 128, found 1 [pto:tile-position]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(0, 1)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @column_highest(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a tile of 32 columns to begin at a multiple of 32 below 128, found 2147483647 [pto:tile-position]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(0, 2147483647)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @k_exceeds_tile(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected K of at most the 32 rows of the tile, found 64 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(32, 32) at(0, 0)
  return
}

// -----

!W = memref<?x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @k_of_rhs_exceeds_tile(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected K of at most the 32 rows of the tile, found 64 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(32, 32) at(0, 0)
  return
}

// -----

!W = memref<64x64xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<64x16xf32, #pto.mem<psum>>
func.func @m_exceeds_tile(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected M of at most the 32 columns of the tile, found 64 [pto:tile-size]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(0, 0)
  return
}

// -----

// Flags.

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @start_and_accumulate(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected start or accumulate, found both in acc<start|accumulate> [pto:acc-flags]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<start|accumulate>
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @all_flags(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected start or accumulate, found both in acc<start|stop|accumulate> [pto:acc-flags]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<start|stop|accumulate>
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @start_if_and_accumulate(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected start_if or accumulate, found both [pto:acc-flags]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<accumulate> start_if(%p)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @zero_region_4(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a zero region code from 0 to 3, found 4 [pto:zero-region]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<start> zero_region(4)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @zero_region_negative(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a zero region code from 0 to 3, found -1 [pto:zero-region]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) zero_region(-1)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @zero_region_highest(%w: !W, %x: !X, %c: !C, %p: i1) {
  // expected-error@+1 {{expected a zero region code from 0 to 3, found 9223372036854775807 [pto:zero-region]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) zero_region(9223372036854775807)
  return
}
