// A destination that is the left operand: the product is of what it held before. It has no words until
// legalization gives the result another tile.
// RUN: %pto_run %s 2>&1 | FileCheck %s --check-prefix=EXECUTED
// RUN: not %pto_translate --pto-to-tile-words %s 2>&1 | FileCheck %s --check-prefix=WORDS
// RUN: %pto_opt --pto-legalize-acc=target=tile %s | %pto_run - 2>&1 | FileCheck %s --check-prefix=EXECUTED
// RUN: %pto_opt --pto-legalize-acc=target=tile %s | %pto_translate --pto-to-tile-words | FileCheck %s --check-prefix=LEGAL
// EXECUTED: remark: ran the reference alone
// EXECUTED-NOT: error
// WORDS: TileLegality: expected a destination that is no source of the instruction, found one tile for both; pto-legalize-acc gives it another [pto:tile-alias]
// LEGAL: "name": "TMATMUL"
// LEGAL: "register": [[LEFT:[0-9]+]],
// LEGAL: "destination": {
// LEGAL-NOT: "register": [[LEFT]],
// LEGAL: "last": true

!square = memref<2x2xf32, #pto.mem<cube_m16>>
!right = memref<2x2xf32, #pto.mem<cube_n8>>

func.func @f() {
  %a = pto.tile_alloc : !square
  %b = pto.tile_alloc : !right
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  linalg.fill ins(%one : f32) outs(%a : !square)
  linalg.fill ins(%one : f32) outs(%b : !right)
  memref.store %two, %a[%i0, %i1] : !square
  memref.store %two, %b[%i1, %i1] : !right
  // [1 2; 1 1] [1 1; 1 2]
  pto.tmatmul ins(%a, %b : !square, !right) outs(%a : !square)
  pto.expect_eq %a, dense<[[3.0, 5.0], [2.0, 3.0]]> : tensor<2x2xf32>, !square
  return
}
