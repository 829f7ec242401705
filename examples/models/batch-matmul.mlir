// A batch of products of i8, both operands stored transposed, sums in i32: as quantized scores.

func.func @main(%a: tensor<3x140x37xi8>, %b: tensor<3x50x140xi8>, %c: tensor<3x37x50xi32>) -> tensor<3x37x50xi32> {
  %y = linalg.batch_matmul
      indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (b, n, k)>,
                       affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%a, %b : tensor<3x140x37xi8>, tensor<3x50x140xi8>) outs(%c : tensor<3x37x50xi32>) -> tensor<3x37x50xi32>
  return %y : tensor<3x37x50xi32>
}
