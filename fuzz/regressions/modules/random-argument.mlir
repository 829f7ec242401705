// An argument for which there is no memory.
func.func @main(%a: memref<2147483647x256xf32>) {
  return
}
