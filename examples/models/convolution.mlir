// A 3x3 convolution, f16 image and filter, sums in f32, then a ReLU. Upstream's im2col makes a contraction
// of it (im2col.mlir): 144 pixels by 20 channels, 81 products each.

func.func @main(%image: tensor<1x14x14x9xf16>, %filter: tensor<3x3x9x20xf16>) -> tensor<1x12x12x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x12x12x20xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x12x20xf32>) -> tensor<1x12x12x20xf32>
  %s = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x14x14x9xf16>, tensor<3x3x9x20xf16>)
      outs(%z : tensor<1x12x12x20xf32>) -> tensor<1x12x12x20xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<1x12x12x20xf32>) outs(%e : tensor<1x12x12x20xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.maximumf %v, %zero : f32
      linalg.yield %r : f32
  } -> tensor<1x12x12x20xf32>
  return %y : tensor<1x12x12x20xf32>
}
