// A step of zero, which the custom syntax refuses.
func.func @main(%a: memref<128x512xf32, #pto.mem<psum>>) {
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 0 : index, upperBoundMap = affine_map<() -> (3)>}> ({
  ^bb0(%i: index):
    "test.use"(%a) : (memref<128x512xf32, #pto.mem<psum>>) -> ()
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
