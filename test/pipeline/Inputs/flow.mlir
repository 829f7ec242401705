// Contractions in loops, branches and callees; a caller that passes one buffer twice; a global.
#t0 = affine_map<(m, n, k) -> (k, m)>
#t1 = affine_map<(m, n, k) -> (n, k)>
#t2 = affine_map<(m, n, k) -> (n, m)>
memref.global "private" @weights : memref<40x24xf32> = dense<2.0>
func.func @step(%a: memref<20x40xf32>, %c: memref<20x24xf32>) {
  %w = memref.get_global @weights : memref<40x24xf32>
  linalg.matmul ins(%a, %w : memref<20x40xf32>, memref<40x24xf32>) outs(%c : memref<20x24xf32>)
  return
}
func.func @transposed(%a: memref<40x20xf32>, %b: memref<24x40xf32>, %c: memref<24x20xf32>) {
  linalg.generic {indexing_maps = [#t0, #t1, #t2], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<40x20xf32>, memref<24x40xf32>) outs(%c : memref<24x20xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
  }
  return
}
func.func @square(%x: memref<16x16xf32>, %y: memref<16x16xf32>, %z: memref<16x16xf32>) {
  linalg.matmul ins(%x, %x : memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<16x16xf32>)
  linalg.matmul ins(%x, %x : memref<16x16xf32>, memref<16x16xf32>) outs(%z : memref<16x16xf32>)
  return
}
func.func @chain(%x: memref<16x16xf32>, %y: memref<16x16xf32>, %z: memref<16x16xf32>, %u: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<16x16xf32>)
  linalg.matmul ins(%x, %x : memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<16x16xf32>)
  linalg.matmul ins(%z, %z : memref<16x16xf32>, memref<16x16xf32>) outs(%u : memref<16x16xf32>)
  return
}
func.func @main(%a: memref<20x40xf32>, %at: memref<40x20xf32>, %b: memref<24x40xf32>, %c: memref<20x24xf32>, %ct: memref<24x20xf32>, %x: memref<16x16xf32>, %y: memref<16x16xf32>, %u: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %w = memref.get_global @weights : memref<40x24xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    func.call @step(%a, %c) : (memref<20x40xf32>, memref<20x24xf32>) -> ()
    linalg.matmul ins(%a, %w : memref<20x40xf32>, memref<40x24xf32>) outs(%c : memref<20x24xf32>)
    %odd = arith.cmpi eq, %i, %c1 : index
    scf.if %odd {
      func.call @transposed(%at, %b, %ct) : (memref<40x20xf32>, memref<24x40xf32>, memref<24x20xf32>) -> ()
    } else {
      linalg.generic {indexing_maps = [#t0, #t1, #t2], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%at, %b : memref<40x20xf32>, memref<24x40xf32>) outs(%ct : memref<24x20xf32>) {
        ^bb0(%p: f32, %q: f32, %z: f32):
          %pp = arith.mulf %p, %q : f32
          %s = arith.addf %pp, %z : f32
          linalg.yield %s : f32
      }
    }
  }
  // Output y is z of the other, and an input of the second after being the output of the first.
  func.call @square(%x, %y, %y) : (memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) -> ()
  func.call @chain(%x, %y, %y, %u) : (memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
