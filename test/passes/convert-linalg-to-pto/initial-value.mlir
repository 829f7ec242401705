// What the output holds before: a fill with zeros is START, everything else goes into the accumulator first.
// RUN: %pto_opt --convert-linalg-to-pto %s | FileCheck %s

!a = memref<8x8xf32>

// Allocations between do not touch the output. The fill goes.
// CHECK-LABEL: func.func @next_to_it
// CHECK-NOT:     linalg.fill
// CHECK:         pto.tmatmul ins
func.func @next_to_it(%A: !a, %B: !a) -> !a {
  %zero = arith.constant -0.0 : f32
  %C = memref.alloc() : !a
  linalg.fill ins(%zero : f32) outs(%C : !a)
  %D = memref.alloc() : !a
  linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  return %C : !a
}

// Something reads the zeros: they stay for it, and the matmul overwrites all the same.
// CHECK-LABEL: func.func @read_between
// CHECK:         linalg.fill
// CHECK:         memref.load
// CHECK:         pto.tmatmul ins
func.func @read_between(%A: !a, %B: !a, %C: !a) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  linalg.fill ins(%zero : f32) outs(%C : !a)
  %v = memref.load %C[%c0, %c0] : !a
  linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  return %v : f32
}

// Something may write in between, here through another argument.
// CHECK-LABEL: func.func @written_between
// CHECK:         linalg.fill
// CHECK:         memref.store
// CHECK:         pto.copy %arg2, %[[ACC:.*]] :
// CHECK:         pto.tmatmul_acc ins(%[[ACC]]
func.func @written_between(%A: !a, %B: !a, %C: !a, %D: !a) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  linalg.fill ins(%zero : f32) outs(%C : !a)
  memref.store %zero, %D[%c0, %c0] : !a
  linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  return
}

// Not zero.
// CHECK-LABEL: func.func @ones
// CHECK:         linalg.fill
// CHECK:         pto.copy %arg2, %[[ACC:.*]] :
// CHECK:         pto.tmatmul_acc ins(%[[ACC]]
func.func @ones(%A: !a, %B: !a, %C: !a) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%C : !a)
  linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  return
}

// A second matmul adds onto the first; the fill belongs to the first alone.
// CHECK-LABEL: func.func @two
// CHECK-NOT:     linalg.fill
// CHECK:         pto.tmatmul ins
// CHECK:         pto.copy %{{.*}}, %arg2 :
// CHECK:         pto.copy %arg2, %[[ACC:.*]] :
// CHECK:         pto.tmatmul_acc ins(%[[ACC]]
// CHECK:         pto.copy %[[ACC]], %arg2 :
func.func @two(%A: !a, %B: !a, %C: !a) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : !a)
  linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  linalg.matmul ins(%B, %A : !a, !a) outs(%C : !a)
  return
}

// The fill is of the whole buffer, the matmul of a part.
// CHECK-LABEL: func.func @part
// CHECK:         linalg.fill
// CHECK:         pto.tmatmul_acc ins
func.func @part(%A: !a, %B: !a, %C: memref<8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<8x16xf32>)
  %left = memref.subview %C[0, 0] [8, 8] [1, 1] : memref<8x16xf32> to memref<8x8xf32, strided<[16, 1]>>
  linalg.matmul ins(%A, %B : !a, !a) outs(%left : memref<8x8xf32, strided<[16, 1]>>)
  return
}

// The fill is outside the loop: it is zero in the first iteration only.
// CHECK-LABEL: func.func @loop
// CHECK:         linalg.fill
// CHECK:         scf.for
// CHECK:           pto.copy %arg2, %[[ACC:.*]] :
// CHECK:           pto.tmatmul_acc ins(%[[ACC]]
func.func @loop(%A: !a, %B: !a, %C: !a) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  linalg.fill ins(%zero : f32) outs(%C : !a)
  scf.for %i = %c0 to %c4 step %c1 {
    linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  }
  return
}

// Front ends fill once and use the zeros for many; bufferization copies them.
// CHECK-LABEL: func.func @shared_zeros
// CHECK:         linalg.fill
// CHECK-NOT:     memref.copy
// CHECK-COUNT-2: pto.tmatmul ins
func.func @shared_zeros(%A: !a, %B: !a) -> (!a, !a) {
  %zero = arith.constant 0.0 : f32
  %zeros = memref.alloc() : !a
  linalg.fill ins(%zero : f32) outs(%zeros : !a)
  %C = memref.alloc() : !a
  memref.copy %zeros, %C : !a to !a
  linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  %D = memref.alloc() : !a
  memref.copy %zeros, %D : !a to !a
  linalg.matmul ins(%B, %A : !a, !a) outs(%D : !a)
  return %C, %D : !a, !a
}

// The zeros are gone before they are copied.
// CHECK-LABEL: func.func @zeros_gone
// CHECK:         memref.copy
// CHECK:         pto.tmatmul_acc ins
func.func @zeros_gone(%A: !a, %B: !a, %v: f32) -> !a {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %zeros = memref.alloc() : !a
  linalg.fill ins(%zero : f32) outs(%zeros : !a)
  memref.store %v, %zeros[%c0, %c0] : !a
  %C = memref.alloc() : !a
  memref.copy %zeros, %C : !a to !a
  linalg.matmul ins(%A, %B : !a, !a) outs(%C : !a)
  return %C : !a
}
