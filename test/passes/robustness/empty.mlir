// Modules and functions with little or nothing in them.
// RUN: %pto_opt --pto-order-column-tiles --pto-mark-first --pto-legalize-acc --pto-verify-acc --pto-reset-acc -split-input-file -allow-unregistered-dialect %s | FileCheck %s

// CHECK: module {
// CHECK-NEXT: }
module {
}

// -----

// CHECK: func.func private @declaration(memref<64x256xf32, #pto.mem<psum>>)
func.func private @declaration(memref<64x256xf32, #pto.mem<psum>>)

// -----

// CHECK-LABEL: func.func @only_a_return
func.func @only_a_return() {
  return
}

// -----

// CHECK-LABEL: func.func @only_branches
func.func @only_branches() {
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  return
}

// -----

// Blocks that cannot be reached may use what comes later.
!acc = memref<64x256xf32, #pto.mem<psum>>
// CHECK-LABEL: func.func @unreachable
func.func @unreachable() {
  return
^bb1:
  "test.use"(%a) : (!acc) -> ()
  %a = pto.psum_alloc bank(1) : !acc
  cf.br ^bb1
}

// -----

// Blocks need not be in an order in which definitions come first.
!acc = memref<64x256xf32, #pto.mem<psum>>
!out = memref<64x256xf32>
!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
// CHECK-LABEL: func.func @shuffled_blocks
func.func @shuffled_blocks(%w: !w, %x: !x, %out: !out) {
  cf.br ^bb2
^bb1:
  pto.copy %a, %out : !acc, !out
  return
^bb2:
  %a = pto.psum_alloc bank(1) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  cf.br ^bb1
}

// -----

// Regions without a terminator, without blocks, and of operations that nobody knows.
// CHECK-LABEL: func.func @strange_regions
func.func @strange_regions() {
  "test.graph"() ({
  }) : () -> ()
  "test.graph"() ({
    "test.op"() : () -> ()
  }, {
  }) : () -> ()
  return
}

// -----

// A function that is no func.func, inside another symbol table.
!acc = memref<128x128xf32, #pto.mem<psum>>
!w = memref<128x128xbf16, #pto.mem<sbuf>>
// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK: gpu.func @kernel
  gpu.func @kernel(%w: !w) {
    %a = pto.psum_alloc bank(0) : !acc
    pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc)
    gpu.return
  }
}

// -----

// The IR may be in the middle of an expansion to structures: psum in a 0-d buffer.
!acc = memref<128x128xf32, #pto.mem<psum>>
!base = memref<f32, #pto.mem<psum>>
!out = memref<128x128xf32>
// CHECK-LABEL: func.func @strided_metadata
func.func @strided_metadata(%out: !out) {
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(0) : !acc
  pto.memset %zero, %a : f32, !acc
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : !acc -> !base, index, index, index, index, index
  %v = memref.reinterpret_cast %base to offset: [0], sizes: [128, 128], strides: [128, 1] : !base to !acc
  pto.copy %v, %out : !acc, !out
  return
}
