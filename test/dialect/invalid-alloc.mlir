// Rules of allocations.
// RUN: %pto_opt %s -split-input-file -verify-diagnostics

func.func @psum_alloc_in_sbuf() {
  // expected-error@+1 {{expected the buffer in #pto.mem<psum>, found #pto.mem<sbuf> [pto:space]}}
  %0 = pto.psum_alloc : memref<4x4xf32, #pto.mem<sbuf>>
  return
}

func.func @psum_alloc_in_hbm() {
  // expected-error@+1 {{expected the buffer in #pto.mem<psum>, found #pto.mem<hbm> [pto:space]}}
  %0 = pto.psum_alloc : memref<4x4xf32>
  return
}

func.func @psum_alloc_in_another_space() {
  // expected-error@+1 {{expected the buffer in #pto.mem<psum>, found the memory space 3 : i32 [pto:space]}}
  %0 = pto.psum_alloc : memref<4x4xf32, 3 : i32>
  return
}

func.func @psum_alloc_of_a_tile() {
  // expected-error@+1 {{expected the buffer in #pto.mem<psum>, found #pto.mem<shared>, a tile register of the tile ISA [pto:tile-space]}}
  %0 = pto.psum_alloc : memref<4x4xf32, #pto.mem<shared>>
  return
}

func.func @sbuf_alloc_in_psum() {
  // expected-error@+1 {{expected the buffer in #pto.mem<sbuf>, found #pto.mem<psum> [pto:space]}}
  %0 = pto.sbuf_alloc : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @dynamic() {
  // expected-error@+1 {{expected a buffer of static shape, found 'memref<4x?xf32, #pto.mem<psum>>' [pto:dynamic-shape]}}
  %0 = pto.psum_alloc : memref<4x?xf32, #pto.mem<psum>>
  return
}

func.func @dynamic_sbuf() {
  // expected-error@+1 {{expected a buffer of static shape, found 'memref<?xf32, #pto.mem<sbuf>>' [pto:dynamic-shape]}}
  %0 = pto.sbuf_alloc : memref<?xf32, #pto.mem<sbuf>>
  return
}

func.func @unranked() {
  // expected-error@+1 {{result #0 must be a memref, but got 'memref<*xf32, #pto.mem<psum>>'}}
  %0 = "pto.psum_alloc"() : () -> memref<*xf32, #pto.mem<psum>>
  return
}

func.func @layout() {
  // expected-error@+1 {{expected a buffer without a layout, found 'memref<4x4xf32, strided<[8, 1]>, #pto.mem<psum>>' [pto:layout]}}
  %0 = pto.psum_alloc : memref<4x4xf32, strided<[8, 1]>, #pto.mem<psum>>
  return
}

func.func @affine_layout() {
  // expected-error@+1 {{expected a buffer without a layout}}
  %0 = pto.sbuf_alloc : memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, #pto.mem<sbuf>>
  return
}

func.func @rank_0() {
  // expected-error@+1 {{expected the buffer of at least one dimension, the partition, found 'memref<f32, #pto.mem<psum>>' [pto:rank]}}
  %0 = pto.psum_alloc : memref<f32, #pto.mem<psum>>
  return
}

func.func @rank_0_sbuf() {
  // expected-error@+1 {{expected the buffer of at least one dimension, the partition, found 'memref<f32, #pto.mem<sbuf>>' [pto:rank]}}
  %0 = pto.sbuf_alloc : memref<f32, #pto.mem<sbuf>>
  return
}

func.func @empty() {
  // expected-error@+1 {{expected the buffer with elements, found 'memref<4x0xf32, #pto.mem<psum>>' [pto:shape]}}
  %0 = pto.psum_alloc : memref<4x0xf32, #pto.mem<psum>>
  return
}

func.func @no_partition() {
  // expected-error@+1 {{expected the buffer with elements, found 'memref<0x4xf32, #pto.mem<psum>>' [pto:shape]}}
  %0 = pto.psum_alloc : memref<0x4xf32, #pto.mem<psum>>
  return
}

func.func @partitions() {
  // expected-error@+1 {{expected the buffer partitions of at most 128 on any target, found 129 [pto:buffer-size]}}
  %0 = pto.psum_alloc : memref<129x4xf32, #pto.mem<psum>>
  return
}

func.func @partitions_sbuf() {
  // expected-error@+1 {{expected the buffer partitions of at most 128 on any target, found 256 [pto:buffer-size]}}
  %0 = pto.sbuf_alloc : memref<256x4xf32, #pto.mem<sbuf>>
  return
}

func.func @psum_of_f16() {
  // expected-error@+1 {{expected the buffer of f32, i32 or bf16 in psum, found 'f16' [pto:element-type]}}
  %0 = pto.psum_alloc : memref<4x4xf16, #pto.mem<psum>>
  return
}

func.func @psum_of_si32() {
  // expected-error@+1 {{expected the buffer of f32, i32 or bf16 in psum, found 'si32' [pto:element-type]}}
  %0 = pto.psum_alloc : memref<4x4xsi32, #pto.mem<psum>>
  return
}

func.func @psum_of_vectors() {
  // expected-error@+1 {{expected the buffer of f32, i32 or bf16 in psum, found 'vector<4xf32>' [pto:element-type]}}
  %0 = pto.psum_alloc : memref<4x4xvector<4xf32>, #pto.mem<psum>>
  return
}

func.func @sbuf_of_index() {
  // expected-error@+1 {{expected the buffer of integers or floats of whole bytes, found 'index' [pto:element-type]}}
  %0 = pto.sbuf_alloc : memref<4x4xindex, #pto.mem<sbuf>>
  return
}

func.func @sbuf_of_i1() {
  // expected-error@+1 {{expected the buffer of integers or floats of whole bytes, found 'i1' [pto:element-type]}}
  %0 = pto.sbuf_alloc : memref<4x4xi1, #pto.mem<sbuf>>
  return
}

// A bf16 takes a cell of four bytes as well.
func.func @too_large() {
  // expected-error@+1 {{expected a buffer of at most 16384 bytes a partition, found 16388 [pto:buffer-size]}}
  %0 = pto.psum_alloc : memref<1x4097xbf16, #pto.mem<psum>>
  return
}

func.func @overflow() {
  // expected-error@+1 {{expected a buffer that fits in a partition, found 'memref<1x4611686018427387904x4611686018427387904xf32, #pto.mem<psum>>' [pto:buffer-size]}}
  %0 = pto.psum_alloc : memref<1x4611686018427387904x4611686018427387904xf32, #pto.mem<psum>>
  return
}

func.func @overflow_sbuf() {
  // expected-error@+1 {{expected a buffer that fits in a partition}}
  %0 = pto.sbuf_alloc : memref<1x9223372036854775807xi16, #pto.mem<sbuf>>
  return
}

func.func @offset_without_bank() {
  // expected-error@+1 {{expected a bank beside the offset, found none [pto:placement]}}
  %0 = pto.psum_alloc offset(4) : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @partition_without_bank() {
  // expected-error@+1 {{expected a bank beside the partition, found none [pto:placement]}}
  %0 = pto.psum_alloc partition(32) : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @bank_8() {
  // expected-error@+1 {{expected a bank from 0 to 7, found 8 [pto:placement]}}
  %0 = pto.psum_alloc bank(8) : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @bank_negative() {
  // expected-error@+1 {{expected a bank from 0 to 7, found -1 [pto:placement]}}
  %0 = pto.psum_alloc bank(-1) : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @bank_highest() {
  // expected-error@+1 {{expected a bank from 0 to 7, found 9223372036854775807 [pto:placement]}}
  %0 = pto.psum_alloc bank(9223372036854775807) : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @offset_2048() {
  // expected-error@+1 {{expected an offset that is a multiple of 4 below 2048, found 2048 [pto:placement]}}
  %0 = pto.psum_alloc bank(0) offset(2048) : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @offset_2() {
  // expected-error@+1 {{expected an offset that is a multiple of 4 below 2048, found 2 [pto:placement]}}
  %0 = pto.psum_alloc bank(0) offset(2) : memref<4x4xbf16, #pto.mem<psum>>
  return
}

func.func @offset_negative() {
  // expected-error@+1 {{expected an offset that is a multiple of 4 below 2048, found -4 [pto:placement]}}
  %0 = pto.psum_alloc bank(0) offset(-4) : memref<4x4xf32, #pto.mem<psum>>
  return
}

func.func @beyond_the_last_bank() {
  // expected-error@+1 {{expected a buffer that ends at byte 16384 of its partitions or before, found one from 15360 to 16388 [pto:placement]}}
  %0 = pto.psum_alloc bank(7) offset(1024) : memref<4x257xf32, #pto.mem<psum>>
  return
}

func.func @start_of_65() {
  // expected-error@+1 {{expected a first partition that 65 partitions may begin at (more than 64: 0; more than 32: 0 or 64; others: a multiple of 32), found 32 [pto:start-partition]}}
  %0 = pto.psum_alloc bank(0) partition(32) : memref<65x4xf32, #pto.mem<psum>>
  return
}

func.func @start_of_33() {
  // expected-error@+1 {{expected a first partition that 33 partitions may begin at (more than 64: 0; more than 32: 0 or 64; others: a multiple of 32), found 32 [pto:start-partition]}}
  %0 = pto.psum_alloc bank(0) partition(32) : memref<33x4xf32, #pto.mem<psum>>
  return
}

func.func @start_of_1() {
  // expected-error@+1 {{found 16 [pto:start-partition]}}
  %0 = pto.psum_alloc bank(0) partition(16) : memref<1x4xf32, #pto.mem<psum>>
  return
}

func.func @start_negative() {
  // expected-error@+1 {{found -32 [pto:start-partition]}}
  %0 = pto.psum_alloc bank(0) partition(-32) : memref<1x4xf32, #pto.mem<psum>>
  return
}

func.func @start_128() {
  // expected-error@+1 {{found 128 [pto:start-partition]}}
  %0 = pto.psum_alloc bank(0) partition(128) : memref<1x4xf32, #pto.mem<psum>>
  return
}

func.func @start_highest() {
  // expected-error@+1 {{found 9223372036854775807 [pto:start-partition]}}
  %0 = pto.psum_alloc bank(0) partition(9223372036854775807) : memref<1x4xf32, #pto.mem<psum>>
  return
}

func.func @sbuf_partition() {
  // expected-error@+1 {{expected a first partition from 0 to 64, found 65 [pto:placement]}}
  %0 = pto.sbuf_alloc partition(65) : memref<64x4xf32, #pto.mem<sbuf>>
  return
}

func.func @sbuf_partition_lowest() {
  // expected-error@+1 {{expected a first partition from 0 to 64, found -9223372036854775808 [pto:placement]}}
  %0 = pto.sbuf_alloc partition(-9223372036854775808) : memref<64x4xf32, #pto.mem<sbuf>>
  return
}

func.func @sbuf_offset() {
  // expected-error@+1 {{expected an offset of at least 0, found -1 [pto:placement]}}
  %0 = pto.sbuf_alloc offset(-1) : memref<64x4xf32, #pto.mem<sbuf>>
  return
}

// -----

func.func @more_than_64_bits() {
  // expected-error@+1 {{integer constant out of range for attribute}}
  %0 = pto.psum_alloc bank(18446744073709551616) : memref<4x4xf32, #pto.mem<psum>>
  return
}
