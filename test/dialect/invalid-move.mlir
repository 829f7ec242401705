// Rules of memset, copy and the expectations.
// RUN: %pto_opt %s -split-input-file -verify-diagnostics

!C = memref<32x16xf32, #pto.mem<psum>>

func.func @memset_on_the_pe(%z: f32, %c: !C) {
  // expected-error@+1 {{expected engine vector, scalar, gpsimd or dma, found pe, which only multiplies [pto:engine]}}
  pto.memset %z, %c : f32, !C engine(pe)
  return
}

func.func @memset_of_f16(%z: f16, %c: !C) {
  // expected-error@+1 {{expected a value for elements of 'f32' (that type, f32 for a narrower float, or a signless integer of that width), found 'f16' [pto:memset-value]}}
  pto.memset %z, %c : f16, !C
  return
}

// The bits of a float are not written as an integer.
func.func @memset_of_bits(%z: i32, %c: !C) {
  // expected-error@+1 {{found 'i32' [pto:memset-value]}}
  pto.memset %z, %c : i32, !C
  return
}

func.func @memset_of_a_wider_float(%z: f32, %c: memref<4x4xf64>) {
  // expected-error@+1 {{expected a value for elements of 'f64'}}
  pto.memset %z, %c : f32, memref<4x4xf64>
  return
}

func.func @memset_of_an_integer(%z: f32, %c: memref<4x4xi32, #pto.mem<psum>>) {
  // expected-error@+1 {{expected a value for elements of 'i32'}}
  pto.memset %z, %c : f32, memref<4x4xi32, #pto.mem<psum>>
  return
}

func.func @memset_of_another_width(%z: i16, %c: memref<4x4xui8, #pto.mem<sbuf>>) {
  // expected-error@+1 {{expected a value for elements of 'ui8'}}
  pto.memset %z, %c : i16, memref<4x4xui8, #pto.mem<sbuf>>
  return
}

// A tile may be filled, but has no signless integers.
func.func @memset_of_a_tile(%z: i8, %c: memref<4x4xi8, #pto.mem<cube_m16>>) {
  // expected-error@+1 {{expected target of an element type of the tile ISA (signed or unsigned integers, not signless ones), found 'i8' (TileLegality) [pto:tile-operand-type]}}
  pto.memset %z, %c : i8, memref<4x4xi8, #pto.mem<cube_m16>>
  return
}

func.func @memset_of_another_space(%z: f32, %c: memref<4x4xf32, 5>) {
  // expected-error@+1 {{expected target in a memory of pto, found the memory space 5 : i64 [pto:space]}}
  pto.memset %z, %c : f32, memref<4x4xf32, 5>
  return
}

func.func @memset_of_rank_0(%z: f32, %c: memref<f32, #pto.mem<psum>>) {
  // expected-error@+1 {{expected target of at least one dimension, the partition, found 'memref<f32, #pto.mem<psum>>' [pto:rank]}}
  pto.memset %z, %c : f32, memref<f32, #pto.mem<psum>>
  return
}

func.func @memset_of_nothing(%z: f32, %c: memref<4x0xf32, #pto.mem<psum>>) {
  // expected-error@+1 {{expected target with elements, found 'memref<4x0xf32, #pto.mem<psum>>' [pto:shape]}}
  pto.memset %z, %c : f32, memref<4x0xf32, #pto.mem<psum>>
  return
}

func.func @copy_on_the_pe(%s: memref<32x16xf32>, %c: !C) {
  // expected-error@+1 {{found pe, which only multiplies [pto:engine]}}
  pto.copy %s, %c : memref<32x16xf32>, !C engine(pe)
  return
}

func.func @copy_of_another_shape(%s: memref<16x32xf32>, %c: !C) {
  // expected-error@+1 {{expected source and target of one shape, found 'memref<16x32xf32>' and 'memref<32x16xf32, #pto.mem<psum>>' [pto:shape]}}
  pto.copy %s, %c : memref<16x32xf32>, !C
  return
}

func.func @copy_of_another_rank(%s: memref<512xf32>, %c: !C) {
  // expected-error@+1 {{expected source and target of one shape}}
  pto.copy %s, %c : memref<512xf32>, !C
  return
}

// The machine that has tiles has no psum.
func.func @copy_from_a_tile(%s: memref<32x16xf32, #pto.mem<shared>>, %c: !C) {
  // expected-error@+1 {{expected a tile to be copied from or to hbm or a tile, found psum [pto:tile-space]}}
  pto.copy %s, %c : memref<32x16xf32, #pto.mem<shared>>, !C
  return
}

func.func @copy_to_psum_of_f16(%s: memref<32x16xf32>, %c: memref<32x16xf16, #pto.mem<psum>>) {
  // expected-error@+1 {{expected target of f32, i32 or bf16 in psum, found 'f16' [pto:element-type]}}
  pto.copy %s, %c : memref<32x16xf32>, memref<32x16xf16, #pto.mem<psum>>
  return
}

func.func @copy_of_index(%s: memref<32x16xindex>, %c: !C) {
  // expected-error@+1 {{expected source of integers or floats of whole bytes, found 'index' [pto:element-type]}}
  pto.copy %s, %c : memref<32x16xindex>, !C
  return
}

func.func @copy_of_too_many_partitions(%s: memref<129x16xf32>, %c: memref<129x16xf32, #pto.mem<sbuf>>) {
  // expected-error@+1 {{expected target partitions of at most 128 on any target, found 129 [pto:buffer-size]}}
  pto.copy %s, %c : memref<129x16xf32>, memref<129x16xf32, #pto.mem<sbuf>>
  return
}

func.func @expect_another_shape(%y: memref<4xf32>) {
  // expected-error@+1 {{expected elements in a tensor of the shape of the buffer, 'memref<4xf32>', found 'tensor<5xf32>' [pto:shape]}}
  pto.expect_eq %y, dense<0.0> : tensor<5xf32>, memref<4xf32>
  return
}

func.func @expect_a_vector(%y: memref<4xf32>) {
  // expected-error@+1 {{expected elements in a tensor of the shape of the buffer, 'memref<4xf32>', found 'vector<4xf32>' [pto:shape]}}
  pto.expect_eq %y, dense<0.0> : vector<4xf32>, memref<4xf32>
  return
}

func.func @expect_another_type(%y: memref<4xf32>) {
  // expected-error@+1 {{expected elements of 'f32', found 'bf16' [pto:element-type]}}
  pto.expect_eq %y, dense<0.0> : tensor<4xbf16>, memref<4xf32>
  return
}

func.func @expect_a_tile(%y: memref<4xf32, #pto.mem<cube_m16>>) {
  // expected-error@+1 {{expected the buffer of rank 2, found 'memref<4xf32, #pto.mem<cube_m16>>' [pto:rank]}}
  pto.expect_eq %y, dense<0.0> : tensor<4xf32>, memref<4xf32, #pto.mem<cube_m16>>
  return
}

func.func @expect_close_integers(%y: memref<4xi32>) {
  // expected-error@+1 {{expected a buffer of floats, found 'i32' [pto:element-type]}}
  pto.expect_close %y, dense<0> : tensor<4xi32>, memref<4xi32> {ulp = 1}
  return
}

func.func @expect_close_by_less_than_nothing(%y: memref<4xf32>) {
  // expected-error@+1 {{expected ulp of at least 0, found -1 [pto:ulp]}}
  pto.expect_close %y, dense<0.0> : tensor<4xf32>, memref<4xf32> {ulp = -1}
  return
}
