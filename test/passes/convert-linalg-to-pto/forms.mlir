// A contraction as loops over tiles, and as straight-line code.
// RUN: %pto_opt --convert-linalg-to-pto -split-input-file %s | FileCheck %s --check-prefix=LOOPS
// RUN: %pto_opt --convert-linalg-to-pto=unroll -split-input-file %s | FileCheck %s --check-prefix=STRAIGHT

// Three steps of K: the first, which overwrites, is apart; the others are a loop, and what is left over.
// The fill is in the first. A transposed operand is a transposed view.

// LOOPS-LABEL: func.func @matmul
// LOOPS-NOT:     linalg
// LOOPS:         %[[ACC:.*]] = pto.psum_alloc : memref<64x512xf32, #pto.mem<psum>>
// LOOPS:         %[[OUT:.*]] = memref.subview %arg2[0, 0] [64, 512]
// LOOPS:         memref.subview %arg0[0, 0] [64, 128]
// LOOPS:         %[[T:.*]] = memref.transpose
// LOOPS:         %[[W:.*]] = pto.sbuf_alloc : memref<128x64xf32, #pto.mem<sbuf>>
// LOOPS:         pto.copy %[[T]], %[[W]] {{.*}} engine(dma)
// LOOPS:         memref.subview %arg1[0, 0] [128, 512]
// LOOPS:         pto.tmatmul ins(%[[W]], %{{.*}} outs(%[[ACC]]
// LOOPS:         scf.for %[[K:.*]] = %c128 to %c384 step %c128 {
// LOOPS:           memref.subview %arg0[0, %[[K]]] [64, 128]
// LOOPS:           memref.subview %arg1[%[[K]], 0] [128, 512]
// LOOPS:           pto.tmatmul_acc ins(%[[ACC]], {{.*}} outs(%[[ACC]]
// LOOPS:         }
// LOOPS:         memref.subview %arg0[0, 384] [64, 16]
// LOOPS:         pto.tmatmul_acc ins(%[[ACC]], {{.*}} memref<16x64xf32, #pto.mem<sbuf>>, memref<16x512xf32, #pto.mem<sbuf>>)
// LOOPS:         pto.copy %[[ACC]], %[[OUT]]
// The ragged edge of N is a tile of its own.
// LOOPS:         pto.psum_alloc : memref<64x88xf32, #pto.mem<psum>>

// In straight-line code the tiles of the left operand are loaded once for all columns.

// STRAIGHT-LABEL: func.func @matmul
// STRAIGHT-NOT:     scf.for
// STRAIGHT-COUNT-4: pto.sbuf_alloc : memref<{{128|16}}x64xf32
// STRAIGHT:         %[[ACC:.*]] = pto.psum_alloc : memref<64x512xf32
// STRAIGHT:         pto.tmatmul ins
// STRAIGHT-COUNT-3: pto.tmatmul_acc ins(%[[ACC]]
// STRAIGHT:         pto.copy %[[ACC]]
// STRAIGHT:         %[[ACC2:.*]] = pto.psum_alloc : memref<64x88xf32
// STRAIGHT-NOT:     pto.sbuf_alloc : memref<{{128|16}}x64xf32
// STRAIGHT:         pto.tmatmul ins
// STRAIGHT-COUNT-3: pto.tmatmul_acc ins(%[[ACC2]]
// STRAIGHT:         pto.copy %[[ACC2]]
// STRAIGHT-NOT:     pto.copy
func.func @matmul(%A: memref<64x400xf32>, %B: memref<400x600xf32>, %C: memref<64x600xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<64x600xf32>)
  linalg.matmul ins(%A, %B : memref<64x400xf32>, memref<400x600xf32>) outs(%C : memref<64x600xf32>)
  return
}

// -----

// What the output holds goes before the first product, and nothing overwrites. Operands of two widths are
// both staged in the wider.

// STRAIGHT-LABEL: func.func @seeded
// STRAIGHT:         pto.copy %arg0, %[[W:.*]] : memref<32x16xbf16>, memref<32x16xf32, #pto.mem<sbuf>> engine(dma)
// STRAIGHT:         %[[ACC:.*]] = pto.psum_alloc : memref<16x8xf32, #pto.mem<psum>>
// STRAIGHT:         pto.copy %arg2, %[[ACC]] : memref<16x8xf32>, memref<16x8xf32, #pto.mem<psum>>
// STRAIGHT:         pto.tmatmul_acc ins(%[[ACC]], %[[W]]
// STRAIGHT:         pto.copy %[[ACC]], %arg2 : memref<16x8xf32, #pto.mem<psum>>, memref<16x8xf32>
// STRAIGHT-NOT:     pto.copy

// LOOPS-LABEL: func.func @seeded
// LOOPS-NOT:     scf.for
func.func @seeded(%A: memref<32x16xbf16>, %B: memref<32x8xf32>, %C: memref<16x8xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%A, %B : memref<32x16xbf16>, memref<32x8xf32>) outs(%C : memref<16x8xf32>) {
  ^bb0(%a: bf16, %b: f32, %c: f32):
    %w = arith.extf %a : bf16 to f32
    %p = arith.mulf %w, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Sums of a narrow output are kept in f32 and rounded by the copy that drains them.

// STRAIGHT-LABEL: func.func @narrow
// STRAIGHT:         %[[ACC:.*]] = pto.psum_alloc : memref<16x8xf32, #pto.mem<psum>>
// STRAIGHT:         pto.copy %arg2, %[[ACC]] : memref<16x8xf16>, memref<16x8xf32, #pto.mem<psum>>
// STRAIGHT:         pto.tmatmul_acc
// STRAIGHT:         pto.copy %[[ACC]], %arg2 : memref<16x8xf32, #pto.mem<psum>>, memref<16x8xf16>
func.func @narrow(%A: memref<16x32xf16>, %B: memref<32x8xf16>, %C: memref<16x8xf16>) {
  linalg.matmul ins(%A, %B : memref<16x32xf16>, memref<32x8xf16>) outs(%C : memref<16x8xf16>)
  return
}

// -----

// Loops that are neighbours in every operand that has them are one loop: pixels, and channels of k.

// STRAIGHT-LABEL: func.func @neighbours
// STRAIGHT-DAG:     memref.collapse_shape {{.*}} into memref<12x30xf32>
// STRAIGHT-DAG:     memref.collapse_shape %arg1 {{\[\[}}0, 1], [2]] : memref<5x6x7xf32> into memref<30x7xf32>
// STRAIGHT:         pto.tmatmul_acc ins({{.*}} : memref<12x7xf32, #pto.mem<psum>>, memref<30x12xf32, #pto.mem<sbuf>>, memref<30x7xf32, #pto.mem<sbuf>>)
func.func @neighbours(%A: memref<3x4x5x6xf32>, %B: memref<5x6x7xf32>, %C: memref<3x4x7xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(h, w, n, j, k) -> (h, w, j, k)>, affine_map<(h, w, n, j, k) -> (j, k, n)>,
                     affine_map<(h, w, n, j, k) -> (h, w, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%A, %B : memref<3x4x5x6xf32>, memref<5x6x7xf32>) outs(%C : memref<3x4x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Batches and second loops of m, n and k take single steps; of each the longest is tiled, of k the
// innermost, so that sums stay in row-major order.

// LOOPS-LABEL: func.func @many
// LOOPS:         scf.for %[[B:.*]] = %c0 to %c3 step %c1
// LOOPS:           pto.psum_alloc : memref<20x50xi32, #pto.mem<psum>>
// LOOPS:           scf.for %[[K:.*]] = %c0 to %c4 step %c1
// LOOPS:             memref.subview %arg0[%[[B]], %[[K]], 0, 0] [1, 1, 20, 64]
// LOOPS:             pto.sbuf_alloc : memref<64x20xi8, #pto.mem<sbuf>>
// LOOPS:             pto.tmatmul_acc
func.func @many(%A: memref<3x4x20x64xi8>, %B: memref<4x3x50x64xi8>, %C: memref<50x3x20xi32>) {
  linalg.generic {
    indexing_maps = [affine_map<(b, m, n, j, k) -> (b, j, m, k)>, affine_map<(b, m, n, j, k) -> (j, b, n, k)>,
                     affine_map<(b, m, n, j, k) -> (n, b, m)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%A, %B : memref<3x4x20x64xi8>, memref<4x3x50x64xi8>) outs(%C : memref<50x3x20xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %u = arith.extsi %a : i8 to i32
    %v = arith.extsi %b : i8 to i32
    %p = arith.muli %u, %v : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  }
  return
}

// -----

// No rows, or nothing to sum: the output stays as it is.

// LOOPS-LABEL: func.func @empty
// LOOPS-NEXT:    %[[ZERO:.*]] = arith.constant
// LOOPS-NEXT:    linalg.fill ins(%[[ZERO]]
// LOOPS-NEXT:    return
func.func @empty(%A: memref<8x0xf32>, %B: memref<0x8xf32>, %C: memref<8x8xf32>, %D: memref<0x8xf32>,
                 %E: memref<0x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<8x8xf32>)
  linalg.matmul ins(%A, %B : memref<8x0xf32>, memref<0x8xf32>) outs(%C : memref<8x8xf32>)
  linalg.matmul ins(%D, %C : memref<0x8xf32>, memref<8x8xf32>) outs(%E : memref<0x8xf32>)
  return
}
