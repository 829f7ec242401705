// Index arithmetic as tiling and lowering leave it: in a basis, of the `index` dialect, taken from a memref.
// RUN: %pto_run --entry=main %s 2>&1 | FileCheck %s --allow-empty
// RUN: not %pto_run --entry=empty %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not %pto_run --entry=no_basis %s 2>&1 | FileCheck %s --check-prefix=BASIS
// CHECK-NOT: {{.}}

func.func @main() {
  call @bases() : () -> ()
  call @index_dialect() : () -> ()
  call @parts_of_a_memref() : () -> ()
  return
}

// Every number below 24 there and back, and one below zero.
func.func @bases() {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %out = memref.alloc() : memref<5xi64>
  affine.for %i = 0 to 24 {
    %p:3 = affine.delinearize_index %i into (2, 3, %c4) : index, index, index
    %q:3 = affine.delinearize_index %i into (3, 4) : index, index, index
    %same = affine.linearize_index [%p#0, %p#1, %q#2] by (2, 3, %c4) : index
    %again = affine.linearize_index disjoint [%q#0, %q#1, %p#2] by (3, %c4) : index
    %is_same = arith.cmpi eq, %i, %same : index
    %is_again = arith.cmpi eq, %i, %again : index
    cf.assert %is_same, "with the outermost size"
    cf.assert %is_again, "without it"
  }
  %below = arith.constant -5 : index
  %n:2 = affine.delinearize_index %below into (4) : index, index
  %none = affine.linearize_index [] by () : index
  %p:3 = affine.delinearize_index %c4 into (2, 3, 4) : index, index, index
  %w:2 = func.call @words(%n#0, %n#1) : (index, index) -> (i64, i64)
  %v:2 = func.call @words(%p#1, %p#2) : (index, index) -> (i64, i64)
  %z:2 = func.call @words(%none, %none) : (index, index) -> (i64, i64)
  affine.store %w#0, %out[0] : memref<5xi64>
  affine.store %w#1, %out[1] : memref<5xi64>
  affine.store %v#0, %out[2] : memref<5xi64>
  affine.store %v#1, %out[3] : memref<5xi64>
  affine.store %z#0, %out[4] : memref<5xi64>
  pto.expect_eq %out, dense<[-2, 3, 1, 0, 0]> : tensor<5xi64>, memref<5xi64>
  return
}

func.func @words(%a: index, %b: index) -> (i64, i64) {
  %x = index.casts %a : index to i64
  %y = index.castu %b : index to i64
  return %x, %y : i64, i64
}

func.func @index_dialect() {
  %m7 = index.constant -7
  %2 = index.constant 2
  %true = index.bool.constant true
  %floor = index.floordivs %m7, %2
  %ceil = index.ceildivs %m7, %2
  %quotient = index.divs %m7, %2
  %rest = index.rems %m7, %2
  %smaller = index.mins %m7, %2
  %larger = index.maxu %m7, %2
  %less = index.cmp slt(%m7, %2)
  %below = index.cmp ult(%m7, %2)
  %not_below = arith.xori %below, %true : i1
  cf.assert %less, "with a sign"
  cf.assert %not_below, "without"
  %out = memref.alloc() : memref<6xi64>
  %a:2 = func.call @words(%floor, %ceil) : (index, index) -> (i64, i64)
  %b:2 = func.call @words(%quotient, %rest) : (index, index) -> (i64, i64)
  %c:2 = func.call @words(%smaller, %larger) : (index, index) -> (i64, i64)
  affine.store %a#0, %out[0] : memref<6xi64>
  affine.store %a#1, %out[1] : memref<6xi64>
  affine.store %b#0, %out[2] : memref<6xi64>
  affine.store %b#1, %out[3] : memref<6xi64>
  affine.store %c#0, %out[4] : memref<6xi64>
  affine.store %c#1, %out[5] : memref<6xi64>
  pto.expect_eq %out, dense<[-4, -3, -3, -1, -7, -7]> : tensor<6xi64>, memref<6xi64>
  return
}

func.func @parts_of_a_memref() {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4x8xi64>
  linalg.fill ins(%zero : i64) outs(%m : memref<4x8xi64>)
  %part = memref.subview %m[1, 2] [2, 3] [1, 2] : memref<4x8xi64> to memref<2x3xi64, strided<[8, 2], offset: 10>>
  memref.prefetch %part[%c0, %c0], read, locality<3>, data : memref<2x3xi64, strided<[8, 2], offset: 10>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %part
    : memref<2x3xi64, strided<[8, 2], offset: 10>> -> memref<i64>, index, index, index, index, index
  %again = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#0, %sizes#1], strides: [%strides#0, %strides#1]
    : memref<i64> to memref<?x?xi64, strided<[?, ?], offset: ?>>
  %other = memref.alloc() : memref<4xi64>
  %apart:2 = memref.distinct_objects %again, %other : memref<?x?xi64, strided<[?, ?], offset: ?>>, memref<4xi64>
  %value = memref.alloca_scope -> (i64) {
    %own = memref.alloca() : memref<1xi64>
    memref.store %one, %own[%c0] : memref<1xi64>
    %loaded = memref.load %own[%c0] : memref<1xi64>
    memref.alloca_scope.return %loaded : i64
  }
  linalg.fill ins(%value : i64) outs(%apart#0 : memref<?x?xi64, strided<[?, ?], offset: ?>>)
  pto.expect_eq %m, dense<[[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0, 1, 0], [0, 0, 1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0, 0, 0]]>
    : tensor<4x8xi64>, memref<4x8xi64>
  return
}

func.func @empty() {
  %m = memref.alloc() : memref<0x4xf32>
  // EMPTY: index.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: a buffer without elements has no first one [pto:shape]
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m : memref<0x4xf32> -> memref<f32>, index, index, index, index, index
  return
}

func.func @no_basis() {
  %c0 = arith.constant 0 : index
  %zero = arith.muli %c0, %c0 : index
  // BASIS: index.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: divides by a number that is not positive [pto:division-by-zero]
  %p:2 = affine.delinearize_index %c0 into (%zero) : index, index
  return
}
