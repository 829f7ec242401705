// A linear layer on tensors.
func.func @main(%x: tensor<130x300xf32>, %w: tensor<300x40xf32>) -> tensor<130x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<130x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<130x40xf32>) -> tensor<130x40xf32>
  %y = linalg.matmul ins(%x, %w : tensor<130x300xf32>, tensor<300x40xf32>) outs(%z : tensor<130x40xf32>) -> tensor<130x40xf32>
  return %y : tensor<130x40xf32>
}
