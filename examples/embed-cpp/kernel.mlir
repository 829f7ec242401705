func.func @main(%w: memref<300x64xf32>, %x: memref<300x32xf32>, %y: memref<64x32xf32>) {
  "mini.matmul"(%w, %x, %y) : (memref<300x64xf32>, memref<300x32xf32>, memref<64x32xf32>) -> ()
  return
}
