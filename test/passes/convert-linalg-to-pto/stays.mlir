// What stays as it is, and why. A contraction that its author would expect to be converted is a warning.
// RUN: %pto_opt --convert-linalg-to-pto --remarks-filter="pto.*" -verify-diagnostics %s -o %t
// RUN: %pto_opt --convert-linalg-to-pto %s 2>/dev/null | FileCheck %s
// Without being asked it says nothing but the warnings.
// RUN: sed /expected-/d %s | %pto_opt --convert-linalg-to-pto -o /dev/null 2>&1 | FileCheck %s --check-prefix=QUIET
// QUIET-COUNT-3: warning:
// QUIET-NOT:     {{warning|remark}}

#A = affine_map<(m, n, k) -> (m, k)>
#B = affine_map<(m, n, k) -> (k, n)>
#C = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @dyn
// CHECK:         linalg.matmul
func.func @dyn(%A: memref<?x4xf32>, %B: memref<4x8xf32>, %C: memref<?x8xf32>) {
  // expected-warning @+1 {{expected a static shape, found memref<?x4xf32>; this contraction stays as it is [pto:dynamic-shape]}}
  linalg.matmul ins(%A, %B : memref<?x4xf32>, memref<4x8xf32>) outs(%C : memref<?x8xf32>)
  return
}

// The output is an input.
// CHECK-LABEL: func.func @alias
// CHECK:         linalg.matmul
func.func @alias(%A: memref<8x8xf32>, %B: memref<8x8xf32>) {
  // expected-warning @+1 {{expected an output that shares no element with an input; this contraction stays as it is [pto:output-overlaps-input]}}
  linalg.matmul ins(%A, %B : memref<8x8xf32>, memref<8x8xf32>) outs(%A : memref<8x8xf32>)
  return
}

// Two parts of one buffer that share nothing: converted.
// CHECK-LABEL: func.func @parts
// CHECK-NOT:     linalg.matmul
// CHECK:         pto.tmatmul_acc
func.func @parts(%A: memref<8x16xf32>, %B: memref<8x8xf32>) {
  %l = memref.subview %A[0, 0] [8, 8] [1, 1] : memref<8x16xf32> to memref<8x8xf32, strided<[16, 1]>>
  %r = memref.subview %A[0, 8] [8, 8] [1, 1] : memref<8x16xf32> to memref<8x8xf32, strided<[16, 1], offset: 8>>
  // expected-remark @+1 {{linalg.matmul of 8x8x8 iterations}}
  linalg.matmul ins(%l, %B : memref<8x8xf32, strided<[16, 1]>>, memref<8x8xf32>) outs(%r : memref<8x8xf32, strided<[16, 1], offset: 8>>)
  return
}

// Two parts that share a column.
// CHECK-LABEL: func.func @half
// CHECK:         linalg.matmul
func.func @half(%A: memref<8x16xf32>, %B: memref<8x8xf32>) {
  %l = memref.subview %A[0, 0] [8, 8] [1, 1] : memref<8x16xf32> to memref<8x8xf32, strided<[16, 1]>>
  %r = memref.subview %A[0, 7] [8, 8] [1, 1] : memref<8x16xf32> to memref<8x8xf32, strided<[16, 1], offset: 7>>
  // expected-warning @+1 {{[pto:output-overlaps-input]}}
  linalg.matmul ins(%l, %B : memref<8x8xf32, strided<[16, 1]>>, memref<8x8xf32>) outs(%r : memref<8x8xf32, strided<[16, 1], offset: 7>>)
  return
}

// CHECK-LABEL: func.func @f64
// CHECK:         linalg.matmul
func.func @f64(%A: memref<8x8xf64>, %B: memref<8x8xf64>, %C: memref<8x8xf64>) {
  // expected-remark @+1 {{expected floats of at most 32 bits into f32, f16 or bf16, or i8 into i32, found f64 and f64 into f64 [pto:element-type]}}
  linalg.matmul ins(%A, %B : memref<8x8xf64>, memref<8x8xf64>) outs(%C : memref<8x8xf64>)
  return
}

// CHECK-LABEL: func.func @relu
// CHECK:         linalg.generic
func.func @relu(%A: memref<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  // expected-remark @+1 {{linalg.fill: expected op with 2 inputs and 1 output for a contraction [pto:unconverted]}}
  linalg.fill ins(%z : f32) outs(%A : memref<8x8xf32>)
  // expected-remark @+1 {{linalg.generic: expected op with 2 inputs}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%A : memref<8x8xf32>) {
  ^bb0(%x: f32):
    %m = arith.maximumf %x, %z : f32
    linalg.yield %m : f32
  }
  return
}

// Extended with zeros: the PE array would need ui8 buffers.
// CHECK-LABEL: func.func @u8
// CHECK:         linalg.matmul
func.func @u8(%A: memref<8x8xi8>, %B: memref<8x8xi8>, %C: memref<8x8xi32>) {
  // expected-remark @+1 {{linalg.matmul: expected a body that adds a product of its inputs, extended with sign, to the output [pto:unconverted]}}
  linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%A, %B : memref<8x8xi8>, memref<8x8xi8>) outs(%C : memref<8x8xi32>)
  return
}

// Another semiring.
// CHECK-LABEL: func.func @max
// CHECK:         linalg.generic
func.func @max(%A: memref<8x8xf32>, %B: memref<8x8xf32>, %C: memref<8x8xf32>) {
  // expected-remark @+1 {{linalg.generic: expected add/mul op in the body for a contraction [pto:unconverted]}}
  linalg.generic {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<8x8xf32>, memref<8x8xf32>) outs(%C : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.addf %a, %b : f32
    %m = arith.maximumf %p, %c : f32
    linalg.yield %m : f32
  }
  return
}

// CHECK-LABEL: func.func @tensors
// CHECK:         linalg.matmul
func.func @tensors(%A: tensor<8x8xf32>, %B: tensor<8x8xf32>, %C: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @+1 {{expected buffers, found tensors: bufferize first [pto:unconverted]}}
  %r = linalg.matmul ins(%A, %B : tensor<8x8xf32>, tensor<8x8xf32>) outs(%C : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @otherspace
// CHECK:         linalg.matmul
func.func @otherspace(%A: memref<8x8xf32, 1>, %B: memref<8x8xf32>, %C: memref<8x8xf32>) {
  // expected-remark @+1 {{expected a buffer in hbm, sbuf or psum, found memref<8x8xf32, 1> [pto:space]}}
  linalg.matmul ins(%A, %B : memref<8x8xf32, 1>, memref<8x8xf32>) outs(%C : memref<8x8xf32>)
  return
}

// A reduction of one input alone.
// CHECK-LABEL: func.func @onlyA
// CHECK:         linalg.generic
func.func @onlyA(%A: memref<8x8x3xf32>, %B: memref<8x8xf32>, %C: memref<8x8xf32>) {
  // expected-remark @+1 {{expected every reduction in both inputs, and every other loop in the output and an input [pto:unconverted]}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k, j) -> (m, k, j)>, affine_map<(m, n, k, j) -> (k, n)>, affine_map<(m, n, k, j) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%A, %B : memref<8x8x3xf32>, memref<8x8xf32>) outs(%C : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %m = arith.addf %p, %c : f32
    linalg.yield %m : f32
  }
  return
}

