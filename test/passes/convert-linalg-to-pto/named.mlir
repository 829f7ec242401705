// Every named contraction, with values: vectors and scalars take the place of matrices.
// RUN: %pto_opt --convert-linalg-to-pto %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not=linalg.matvec --implicit-check-not=linalg.vecmat \
// RUN:   --implicit-check-not=linalg.dot --implicit-check-not=linalg.matmul --implicit-check-not=linalg.batch
// RUN: %pto_run %t.mlir 2>&1 | FileCheck %s --check-prefix=RAN
// RAN: ran the reference alone
// RAN-NOT: error

// CHECK-LABEL: func.func @main
func.func @main() {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %A = memref.alloc() : memref<2x3xf32>
  %B = memref.alloc() : memref<3x2xf32>
  linalg.fill ins(%two : f32) outs(%A : memref<2x3xf32>)
  linalg.fill ins(%three : f32) outs(%B : memref<3x2xf32>)
  %x = memref.alloc() : memref<3xf32>
  linalg.fill ins(%three : f32) outs(%x : memref<3xf32>)

  // CHECK: pto.tmatmul ins
  %y = memref.alloc() : memref<2xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<2xf32>)
  linalg.matvec ins(%A, %x : memref<2x3xf32>, memref<3xf32>) outs(%y : memref<2xf32>)
  pto.expect_eq %y, dense<18.0> : tensor<2xf32>, memref<2xf32>

  // CHECK: pto.tmatmul_acc ins
  linalg.vecmat ins(%x, %B : memref<3xf32>, memref<3x2xf32>) outs(%y : memref<2xf32>)
  pto.expect_eq %y, dense<45.0> : tensor<2xf32>, memref<2xf32>

  // CHECK: pto.tmatmul_acc ins
  %s = memref.alloc() : memref<f32>
  linalg.fill ins(%one : f32) outs(%s : memref<f32>)
  linalg.dot ins(%x, %x : memref<3xf32>, memref<3xf32>) outs(%s : memref<f32>)
  pto.expect_eq %s, dense<28.0> : tensor<f32>, memref<f32>

  // CHECK-COUNT-2: pto.tmatmul
  %P = memref.alloc() : memref<2x2x3xf32>
  %Q = memref.alloc() : memref<2x3x2xf32>
  %R = memref.alloc() : memref<2x2x2xf32>
  linalg.fill ins(%two : f32) outs(%P : memref<2x2x3xf32>)
  linalg.fill ins(%three : f32) outs(%Q : memref<2x3x2xf32>)
  linalg.fill ins(%one : f32) outs(%R : memref<2x2x2xf32>)
  linalg.batch_matmul ins(%P, %Q : memref<2x2x3xf32>, memref<2x3x2xf32>) outs(%R : memref<2x2x2xf32>)
  pto.expect_eq %R, dense<19.0> : tensor<2x2x2xf32>, memref<2x2x2xf32>
  %x2 = memref.alloc() : memref<2x3xf32>
  %y2 = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%three : f32) outs(%x2 : memref<2x3xf32>)
  linalg.fill ins(%zero : f32) outs(%y2 : memref<2x2xf32>)
  linalg.batch_matvec ins(%P, %x2 : memref<2x2x3xf32>, memref<2x3xf32>) outs(%y2 : memref<2x2xf32>)
  pto.expect_eq %y2, dense<18.0> : tensor<2x2xf32>, memref<2x2xf32>

  // A transposed operand, and a transposed view of one.
  %C = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%zero : f32) outs(%C : memref<2x2xf32>)
  %T = memref.transpose %A (i, j) -> (j, i) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
  linalg.matmul ins(%A, %T : memref<2x3xf32>, memref<3x2xf32, strided<[1, 3]>>) outs(%C : memref<2x2xf32>)
  pto.expect_eq %C, dense<12.0> : tensor<2x2xf32>, memref<2x2xf32>
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %A : memref<2x3xf32>, memref<2x3xf32>) outs(%C : memref<2x2xf32>)
  pto.expect_eq %C, dense<24.0> : tensor<2x2xf32>, memref<2x2xf32>
  return
}
