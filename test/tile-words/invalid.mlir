// What has no words.
// RUN: not %pto_translate --pto-to-tile-words -split-input-file %s 2>&1 | FileCheck %s

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>

// CHECK: [[@LINE+2]]:3: error: TileLegality: expected a destination that is no source of the instruction, found one tile for both; pto-legalize-acc gives it another [pto:tile-alias]
func.func @in_place(%c: !c, %a: !a, %b: !b) {
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  return
}

// -----

// CHECK: error: expected a straight line of instructions, found an operation with regions [pto:control-flow]
func.func @branch(%p: i1) {
  scf.if %p {
  }
  return
}

// -----

// CHECK: error: expected a straight line of instructions, found several blocks [pto:control-flow]
func.func @blocks() {
  cf.br ^next
^next:
  return
}

// -----

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>

// CHECK: error: expected a tile that is made in the function or is an argument of it, found one that is known at run time only [pto:dynamic-access]
func.func @select(%c: !c, %d: !c, %a: !a, %b: !b, %p: i1) {
  %x = arith.select %p, %c, %d : !c
  pto.tmatmul ins(%a, %b : !a, !b) outs(%x : !c)
  return
}
