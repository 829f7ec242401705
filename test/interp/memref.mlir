// RUN: %pto_run %s 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: {{.}}

memref.global "private" constant @table : memref<2x3xi16> = dense<[[1, 2, 3], [4, 5, 6]]>
memref.global "private" constant @splat : memref<4xbf16> = dense<1.5>
memref.global "private" @scratch : memref<2xi32> = uninitialized

func.func @globals() {
  %table = memref.get_global @table : memref<2x3xi16>
  pto.expect_eq %table, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>, memref<2x3xi16>
  %splat = memref.get_global @splat : memref<4xbf16>
  pto.expect_eq %splat, dense<1.5> : tensor<4xbf16>, memref<4xbf16>
  // One buffer, however often it is asked for.
  %scratch = memref.get_global @scratch : memref<2xi32>
  %seven = arith.constant 7 : i32
  linalg.fill ins(%seven : i32) outs(%scratch : memref<2xi32>)
  %again = memref.get_global @scratch : memref<2xi32>
  pto.expect_eq %again, dense<7> : tensor<2xi32>, memref<2xi32>
  return
}

// 0, 1, 2, ... in row-major order.
func.func @count(%buffer: memref<4x6xi32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 6 {
      %n = affine.apply affine_map<(d0, d1) -> (d0 * 6 + d1)>(%i, %j)
      %v = arith.index_cast %n : index to i32
      affine.store %v, %buffer[%i, %j] : memref<4x6xi32>
    }
  }
  return
}

func.func @views() {
  %base = memref.alloca() : memref<4x6xi32>
  call @count(%base) : (memref<4x6xi32>) -> ()
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index

  %sub = memref.subview %base[%c1, 1] [2, %c2] [2, 3] : memref<4x6xi32> to memref<2x?xi32, strided<[12, 3], offset: ?>>
  %fixed = memref.cast %sub : memref<2x?xi32, strided<[12, 3], offset: ?>> to memref<2x2xi32, strided<[12, 3], offset: 7>>
  pto.expect_eq %fixed, dense<[[7, 10], [19, 22]]> : tensor<2x2xi32>, memref<2x2xi32, strided<[12, 3], offset: 7>>

  // Ranks shrink where sizes are 1; the strides say which.
  %column = memref.subview %base[0, 2] [4, 1] [1, 1] : memref<4x6xi32> to memref<4xi32, strided<[6], offset: 2>>
  pto.expect_eq %column, dense<[2, 8, 14, 20]> : tensor<4xi32>, memref<4xi32, strided<[6], offset: 2>>
  %row = memref.subview %base[3, 0] [1, 6] [1, 1] : memref<4x6xi32> to memref<6xi32, strided<[1], offset: 18>>
  pto.expect_eq %row, dense<[18, 19, 20, 21, 22, 23]> : tensor<6xi32>, memref<6xi32, strided<[1], offset: 18>>
  %one = memref.subview %base[2, 3] [1, 1] [1, 1] : memref<4x6xi32> to memref<i32, strided<[], offset: 15>>
  %fifteen = memref.load %one[] : memref<i32, strided<[], offset: 15>>
  memref.store %fifteen, %base[%c1, %c2] : memref<4x6xi32>
  pto.expect_eq %base, dense<[[0, 1, 2, 3, 4, 5], [6, 7, 15, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi32>, memref<4x6xi32>

  %split = memref.expand_shape %base [[0, 1], [2, 3]] output_shape [2, 2, 3, 2] : memref<4x6xi32> into memref<2x2x3x2xi32>
  %flat = memref.collapse_shape %split [[0, 1, 2, 3]] : memref<2x2x3x2xi32> into memref<24xi32>
  %tail = memref.subview %flat[20] [4] [1] : memref<24xi32> to memref<4xi32, strided<[1], offset: 20>>
  pto.expect_eq %tail, dense<[20, 21, 22, 23]> : tensor<4xi32>, memref<4xi32, strided<[1], offset: 20>>

  %diagonal = memref.reinterpret_cast %base to offset: [1], sizes: [3], strides: [7] : memref<4x6xi32> to memref<3xi32, strided<[7], offset: 1>>
  pto.expect_eq %diagonal, dense<[1, 15, 15]> : tensor<3xi32>, memref<3xi32, strided<[7], offset: 1>>

  %turned = memref.transpose %base (i, j) -> (j, i) : memref<4x6xi32> to memref<6x4xi32, strided<[1, 6]>>
  %first = memref.subview %turned[0, 0] [2, 4] [1, 1] : memref<6x4xi32, strided<[1, 6]>> to memref<2x4xi32, strided<[1, 6]>>
  pto.expect_eq %first, dense<[[0, 6, 12, 18], [1, 7, 13, 19]]> : tensor<2x4xi32>, memref<2x4xi32, strided<[1, 6]>>

  // A copy between layouts, within one buffer.
  %left = memref.subview %base[0, 0] [4, 1] [1, 1] : memref<4x6xi32> to memref<4x1xi32, strided<[6, 1]>>
  %right = memref.subview %base[0, 5] [4, 1] [1, 1] : memref<4x6xi32> to memref<4x1xi32, strided<[6, 1], offset: 5>>
  memref.copy %left, %right : memref<4x1xi32, strided<[6, 1]>> to memref<4x1xi32, strided<[6, 1], offset: 5>>
  pto.expect_eq %right, dense<[[0], [6], [12], [18]]> : tensor<4x1xi32>, memref<4x1xi32, strided<[6, 1], offset: 5>>
  return
}

func.func @sizes() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %buffer = memref.alloc(%c5) : memref<3x?xi64>
  %rows = memref.dim %buffer, %c0 : memref<3x?xi64>
  %columns = memref.dim %buffer, %c1 : memref<3x?xi64>
  %rank = memref.rank %buffer : memref<3x?xi64>
  %out = memref.alloc() : memref<3xi64>
  %0 = arith.index_cast %rows : index to i64
  %1 = arith.index_cast %columns : index to i64
  %2 = arith.index_cast %rank : index to i64
  affine.store %0, %out[0] : memref<3xi64>
  affine.store %1, %out[1] : memref<3xi64>
  affine.store %2, %out[2] : memref<3xi64>
  pto.expect_eq %out, dense<[3, 5, 2]> : tensor<3xi64>, memref<3xi64>
  memref.dealloc %buffer : memref<3x?xi64>
  return
}

// A buffer that travels through a loop is one buffer each time; those left behind are reclaimed.
func.func @carried() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 600 : index
  %start = memref.alloc() : memref<512x512xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  memref.store %zero, %start[%c0, %c0] : memref<512x512xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%old = %start) -> memref<512x512xf32> {
    %new = memref.alloc() : memref<512x512xf32>
    %v = memref.load %old[%c0, %c0] : memref<512x512xf32>
    %w = arith.addf %v, %one : f32
    memref.store %w, %new[%c0, %c0] : memref<512x512xf32>
    scf.yield %new : memref<512x512xf32>
  }
  %corner = memref.subview %last[0, 0] [1, 1] [1, 1] : memref<512x512xf32> to memref<1x1xf32, strided<[512, 1]>>
  pto.expect_eq %corner, dense<600.0> : tensor<1x1xf32>, memref<1x1xf32, strided<[512, 1]>>
  return
}

func.func @main() {
  call @globals() : () -> ()
  call @views() : () -> ()
  call @sizes() : () -> ()
  call @carried() : () -> ()
  return
}
