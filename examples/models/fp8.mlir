// A product of two kinds of fp8, four steps of K, ragged in all three dimensions, then scaled: an inference layer.

func.func @main(%a: tensor<131x390xf8E4M3FN>, %b: tensor<390x33xf8E5M2>) -> tensor<131x33xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<131x33xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<131x33xf32>) -> tensor<131x33xf32>
  %s = linalg.matmul ins(%a, %b : tensor<131x390xf8E4M3FN>, tensor<390x33xf8E5M2>) outs(%z : tensor<131x33xf32>) -> tensor<131x33xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<131x33xf32>) outs(%e : tensor<131x33xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.mulf %v, %scale : f32
      linalg.yield %r : f32
  } -> tensor<131x33xf32>
  return %y : tensor<131x33xf32>
}
