func.func @main(%A: memref<32x64xf32>, %B: memref<64x200xf32>, %C: memref<32x200xf32>) {
  linalg.matmul ins(%A, %B : memref<32x64xf32>, memref<64x200xf32>) outs(%C : memref<32x200xf32>)
  return
}
