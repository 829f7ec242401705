// RUN: %pto_run %s 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: {{.}}

memref.global "private" constant @a : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
memref.global "private" constant @b : memref<3x2xf32> = dense<[[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]]>
memref.global "private" constant @bytes : memref<2x2xi8> = dense<[[1, -2], [3, 4]]>

func.func @moves() {
  %a = memref.get_global @a : memref<2x3xf32>
  %t = memref.alloc() : memref<3x2xf32>
  linalg.transpose ins(%a : memref<2x3xf32>) outs(%t : memref<3x2xf32>) permutation = [1, 0]
  pto.expect_eq %t, dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>, memref<3x2xf32>
  %cube = memref.alloc() : memref<2x3x1xf32>
  %view = memref.expand_shape %a [[0], [1, 2]] output_shape [2, 3, 1] : memref<2x3xf32> into memref<2x3x1xf32>
  linalg.copy ins(%view : memref<2x3x1xf32>) outs(%cube : memref<2x3x1xf32>)
  %turned = memref.alloc() : memref<3x1x2xf32>
  linalg.transpose ins(%cube : memref<2x3x1xf32>) outs(%turned : memref<3x1x2xf32>) permutation = [1, 2, 0]
  pto.expect_eq %turned, dense<[[[1.0, 4.0]], [[2.0, 5.0]], [[3.0, 6.0]]]> : tensor<3x1x2xf32>, memref<3x1x2xf32>
  %wide = memref.alloc() : memref<2x3x2xf32>
  linalg.broadcast ins(%a : memref<2x3xf32>) outs(%wide : memref<2x3x2xf32>) dimensions = [2]
  %last = memref.subview %wide[1, 0, 0] [1, 3, 2] [1, 1, 1] : memref<2x3x2xf32> to memref<3x2xf32, strided<[2, 1], offset: 6>>
  pto.expect_eq %last, dense<[[4.0, 4.0], [5.0, 5.0], [6.0, 6.0]]> : tensor<3x2xf32>, memref<3x2xf32, strided<[2, 1], offset: 6>>
  return
}

func.func @products() {
  %a = memref.get_global @a : memref<2x3xf32>
  %b = memref.get_global @b : memref<3x2xf32>
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<2x2xf32>)
  linalg.matmul ins(%a, %b : memref<2x3xf32>, memref<3x2xf32>) outs(%c : memref<2x2xf32>)
  // It adds to what is there.
  linalg.matmul ins(%a, %b : memref<2x3xf32>, memref<3x2xf32>) outs(%c : memref<2x2xf32>)
  pto.expect_eq %c, dense<[[10.0, -2.0], [28.0, -2.0]]> : tensor<2x2xf32>, memref<2x2xf32>

  // Operands transposed by their maps.
  %d = memref.alloc() : memref<3x3xf32>
  linalg.fill ins(%zero : f32) outs(%d : memref<3x3xf32>)
  linalg.matmul indexing_maps = [
      affine_map<(m, n, k) -> (k, m)>,
      affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<2x3xf32>, memref<3x2xf32>) outs(%d : memref<3x3xf32>)
  pto.expect_eq %d, dense<[[1.0, 6.0, -4.0], [2.0, 9.0, -5.0], [3.0, 12.0, -6.0]]> : tensor<3x3xf32>, memref<3x3xf32>

  %a3 = memref.expand_shape %a [[0, 1], [2]] output_shape [1, 2, 3] : memref<2x3xf32> into memref<1x2x3xf32>
  %b3 = memref.expand_shape %b [[0, 1], [2]] output_shape [1, 3, 2] : memref<3x2xf32> into memref<1x3x2xf32>
  %e = memref.alloc() : memref<1x2x2xf32>
  linalg.fill ins(%zero : f32) outs(%e : memref<1x2x2xf32>)
  linalg.batch_matmul ins(%a3, %b3 : memref<1x2x3xf32>, memref<1x3x2xf32>) outs(%e : memref<1x2x2xf32>)
  pto.expect_eq %e, dense<[[[5.0, -1.0], [14.0, -1.0]]]> : tensor<1x2x2xf32>, memref<1x2x2xf32>

  // Integers sum in the type of the result.
  %bytes = memref.get_global @bytes : memref<2x2xi8>
  %sum = memref.alloc() : memref<2x2xi32>
  %izero = arith.constant 0 : i32
  linalg.fill ins(%izero : i32) outs(%sum : memref<2x2xi32>)
  linalg.matmul ins(%bytes, %bytes : memref<2x2xi8>, memref<2x2xi8>) outs(%sum : memref<2x2xi32>)
  pto.expect_eq %sum, dense<[[-5, -10], [15, 10]]> : tensor<2x2xi32>, memref<2x2xi32>

  %x = memref.subview %a[0, 0] [1, 3] [1, 1] : memref<2x3xf32> to memref<3xf32, strided<[1]>>
  %v = memref.alloc() : memref<2xf32>
  linalg.fill ins(%zero : f32) outs(%v : memref<2xf32>)
  linalg.matvec ins(%a, %x : memref<2x3xf32>, memref<3xf32, strided<[1]>>) outs(%v : memref<2xf32>)
  pto.expect_eq %v, dense<[14.0, 32.0]> : tensor<2xf32>, memref<2xf32>
  return
}

func.func @loops() {
  %a = memref.get_global @a : memref<2x3xf32>
  // The body sees the indices and a scalar operand.
  %two = arith.constant 2.0 : f32
  %out = memref.alloc() : memref<2x3xf32>
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
    ins(%a, %two : memref<2x3xf32>, f32) outs(%out : memref<2x3xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %n = arith.index_cast %k : index to i32
    %f = arith.sitofp %n : i32 to f32
    %y = arith.mulf %x, %s : f32
    %z = arith.addf %y, %f : f32
    linalg.yield %z : f32
  }
  pto.expect_eq %out, dense<[[2.0, 5.0, 8.0], [9.0, 12.0, 15.0]]> : tensor<2x3xf32>, memref<2x3xf32>

  %sum = memref.alloc() : memref<2xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<2xf32>)
  linalg.reduce { arith.addf } ins(%a : memref<2x3xf32>) outs(%sum : memref<2xf32>) dimensions = [1]
  pto.expect_eq %sum, dense<[6.0, 15.0]> : tensor<2xf32>, memref<2xf32>

  %product = memref.alloc() : memref<2x3xf32>
  linalg.map { arith.mulf } ins(%a, %a : memref<2x3xf32>, memref<2x3xf32>) outs(%product : memref<2x3xf32>)
  pto.expect_eq %product, dense<[[1.0, 4.0, 9.0], [16.0, 25.0, 36.0]]> : tensor<2x3xf32>, memref<2x3xf32>
  linalg.add ins(%a, %product : memref<2x3xf32>, memref<2x3xf32>) outs(%product : memref<2x3xf32>)
  pto.expect_eq %product, dense<[[2.0, 6.0, 12.0], [20.0, 30.0, 42.0]]> : tensor<2x3xf32>, memref<2x3xf32>

  // A sliding window: an index that is a sum of two dimensions.
  %line = memref.get_global @line : memref<5xf32>
  %window = memref.alloc() : memref<2xf32>
  %smoothed = memref.alloc() : memref<4xf32>
  linalg.fill ins(%two : f32) outs(%window : memref<2xf32>)
  linalg.fill ins(%zero : f32) outs(%smoothed : memref<4xf32>)
  linalg.conv_1d ins(%line, %window : memref<5xf32>, memref<2xf32>) outs(%smoothed : memref<4xf32>)
  pto.expect_eq %smoothed, dense<[6.0, 10.0, 14.0, 18.0]> : tensor<4xf32>, memref<4xf32>

  // A map that is not linear.
  %twice = memref.alloc() : memref<10xf32>
  linalg.generic {
      indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
    ins(%line : memref<5xf32>) outs(%twice : memref<10xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  pto.expect_eq %twice, dense<[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]> : tensor<10xf32>, memref<10xf32>

  // Nothing to do is done.
  %none = memref.alloc() : memref<0x3xf32>
  linalg.add ins(%none, %none : memref<0x3xf32>, memref<0x3xf32>) outs(%none : memref<0x3xf32>)
  return
}
memref.global "private" constant @line : memref<5xf32> = dense<[1.0, 2.0, 3.0, 4.0, 5.0]>

func.func @main() {
  call @moves() : () -> ()
  call @products() : () -> ()
  call @loops() : () -> ()
  return
}
