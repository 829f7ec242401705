// A declaration, and an argument for which there is no memory.

module {
  func.func private @declaration(memref<2147483647x256xf32, #pto.mem<psum>>)
}
