// An attention block of two heads, f32: projections, scores, softmax, values, projection back.
// The softmax is linalg and math throughout. Heads are a batch dimension in the middle.

#act = affine_map<(s, h, d, k) -> (s, k)>
#weight = affine_map<(s, h, d, k) -> (k, h, d)>
#head = affine_map<(s, h, d, k) -> (s, h, d)>

#query = affine_map<(h, q, k, d) -> (q, h, d)>
#key = affine_map<(h, q, k, d) -> (k, h, d)>
#score = affine_map<(h, q, k, d) -> (h, q, k)>

#prob = affine_map<(h, q, d, k) -> (h, q, k)>
#value = affine_map<(h, q, d, k) -> (k, h, d)>
#mixed = affine_map<(h, q, d, k) -> (q, h, d)>

#all = affine_map<(h, q, k) -> (h, q, k)>
#row = affine_map<(h, q, k) -> (h, q)>

#heads = affine_map<(s, o, h, d) -> (s, h, d)>
#back = affine_map<(s, o, h, d) -> (h, d, o)>
#out = affine_map<(s, o, h, d) -> (s, o)>

func.func @main(
    %x: tensor<36x48xf32>,
    %wq: tensor<48x2x24xf32>, %wk: tensor<48x2x24xf32>, %wv: tensor<48x2x24xf32>,
    %wo: tensor<2x24x48xf32>) -> tensor<36x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32

  %he = tensor.empty() : tensor<36x2x24xf32>
  %hz = linalg.fill ins(%zero : f32) outs(%he : tensor<36x2x24xf32>) -> tensor<36x2x24xf32>
  %q = linalg.generic {indexing_maps = [#act, #weight, #head], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %wq : tensor<36x48xf32>, tensor<48x2x24xf32>) outs(%hz : tensor<36x2x24xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %c, %p : f32
      linalg.yield %r : f32
  } -> tensor<36x2x24xf32>
  %k = linalg.generic {indexing_maps = [#act, #weight, #head], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %wk : tensor<36x48xf32>, tensor<48x2x24xf32>) outs(%hz : tensor<36x2x24xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %c, %p : f32
      linalg.yield %r : f32
  } -> tensor<36x2x24xf32>
  %v = linalg.generic {indexing_maps = [#act, #weight, #head], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %wv : tensor<36x48xf32>, tensor<48x2x24xf32>) outs(%hz : tensor<36x2x24xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %c, %p : f32
      linalg.yield %r : f32
  } -> tensor<36x2x24xf32>

  %se = tensor.empty() : tensor<2x36x36xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x36x36xf32>) -> tensor<2x36x36xf32>
  %scores = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<36x2x24xf32>, tensor<36x2x24xf32>) outs(%sz : tensor<2x36x36xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %c, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x36x36xf32>

  // Softmax over the keys: exp(scale * (s - max)) / sum.
  %re = tensor.empty() : tensor<2x36xf32>
  %rl = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x36xf32>) -> tensor<2x36xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scores : tensor<2x36x36xf32>) outs(%rl : tensor<2x36xf32>) {
    ^bb0(%s: f32, %m: f32):
      %n = arith.maximumf %s, %m : f32
      linalg.yield %n : f32
  } -> tensor<2x36xf32>
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %max : tensor<2x36x36xf32>, tensor<2x36xf32>) outs(%se : tensor<2x36x36xf32>) {
    ^bb0(%s: f32, %m: f32, %o: f32):
      %d = arith.subf %s, %m : f32
      %f = arith.mulf %d, %scale : f32
      %e = math.exp %f : f32
      linalg.yield %e : f32
  } -> tensor<2x36x36xf32>
  %rz = linalg.fill ins(%zero : f32) outs(%re : tensor<2x36xf32>) -> tensor<2x36xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<2x36x36xf32>) outs(%rz : tensor<2x36xf32>) {
    ^bb0(%e: f32, %t: f32):
      %u = arith.addf %t, %e : f32
      linalg.yield %u : f32
  } -> tensor<2x36xf32>
  %probs = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<2x36x36xf32>, tensor<2x36xf32>) outs(%se : tensor<2x36x36xf32>) {
    ^bb0(%e: f32, %t: f32, %o: f32):
      %p = arith.divf %e, %t : f32
      linalg.yield %p : f32
  } -> tensor<2x36x36xf32>

  %mix = linalg.generic {indexing_maps = [#prob, #value, #mixed], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%probs, %v : tensor<2x36x36xf32>, tensor<36x2x24xf32>) outs(%hz : tensor<36x2x24xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %c, %p : f32
      linalg.yield %r : f32
  } -> tensor<36x2x24xf32>

  // Back to the model's width: a sum over heads and over each head.
  %oe = tensor.empty() : tensor<36x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<36x48xf32>) -> tensor<36x48xf32>
  %y = linalg.generic {indexing_maps = [#heads, #back, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%mix, %wo : tensor<36x2x24xf32>, tensor<2x24x48xf32>) outs(%oz : tensor<36x48xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %c, %p : f32
      linalg.yield %r : f32
  } -> tensor<36x48xf32>
  return %y : tensor<36x48xf32>
}
