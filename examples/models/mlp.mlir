// A perceptron of three layers, bf16 weights and activations, sums in f32: what a front end makes of
// `relu(x @ w + b)`, twice, and `h @ w + b`. Sizes are ragged on purpose.

#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

func.func @main(
    %x: tensor<40x200xbf16>,
    %w0: tensor<200x144xbf16>, %b0: tensor<144xf32>,
    %w1: tensor<144x96xbf16>, %b1: tensor<96xf32>,
    %w2: tensor<96x10xbf16>, %b2: tensor<10xf32>) -> tensor<40x10xf32> {
  %zero = arith.constant 0.0 : f32

  %e0 = tensor.empty() : tensor<40x144xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<40x144xf32>) -> tensor<40x144xf32>
  %s0 = linalg.matmul ins(%x, %w0 : tensor<40x200xbf16>, tensor<200x144xbf16>) outs(%z0 : tensor<40x144xf32>) -> tensor<40x144xf32>
  %f0 = tensor.empty() : tensor<40x144xbf16>
  %h0 = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%s0, %b0 : tensor<40x144xf32>, tensor<144xf32>) outs(%f0 : tensor<40x144xbf16>) {
    ^bb0(%s: f32, %b: f32, %o: bf16):
      %t = arith.addf %s, %b : f32
      %r = arith.maximumf %t, %zero : f32
      %n = arith.truncf %r : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<40x144xbf16>

  %e1 = tensor.empty() : tensor<40x96xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40x96xf32>) -> tensor<40x96xf32>
  %s1 = linalg.matmul ins(%h0, %w1 : tensor<40x144xbf16>, tensor<144x96xbf16>) outs(%z1 : tensor<40x96xf32>) -> tensor<40x96xf32>
  %f1 = tensor.empty() : tensor<40x96xbf16>
  %h1 = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%s1, %b1 : tensor<40x96xf32>, tensor<96xf32>) outs(%f1 : tensor<40x96xbf16>) {
    ^bb0(%s: f32, %b: f32, %o: bf16):
      %t = arith.addf %s, %b : f32
      %r = arith.maximumf %t, %zero : f32
      %n = arith.truncf %r : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<40x96xbf16>

  // The last bias is the initial value of the sum.
  %e2 = tensor.empty() : tensor<40x10xf32>
  %z2 = linalg.broadcast ins(%b2 : tensor<10xf32>) outs(%e2 : tensor<40x10xf32>) dimensions = [0]
  %y = linalg.matmul ins(%h1, %w2 : tensor<40x96xbf16>, tensor<96x10xbf16>) outs(%z2 : tensor<40x10xf32>) -> tensor<40x10xf32>
  return %y : tensor<40x10xf32>
}
