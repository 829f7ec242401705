// What is too much to be written in a row keeps its loops.

// RUN: %pto_opt --convert-linalg-to-pto=unroll -verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-COUNT-3: scf.for
// CHECK: pto.tmatmul
func.func @rows(%a: memref<4294967295x4096xf32>, %b: memref<4096x6000xf32>, %c: memref<4294967295x6000xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4294967295x6000xf32>)
  // expected-warning @below {{expected at most 1048576 matmuls to unroll, found 12884901888; the loops stay [pto:unroll-limit]}}
  linalg.matmul ins(%a, %b : memref<4294967295x4096xf32>, memref<4096x6000xf32>) outs(%c : memref<4294967295x6000xf32>)
  return
}
