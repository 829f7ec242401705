// Buffers may be anything: reset asks for no cells.
// RUN: %pto_opt --pto-reset-acc %s | FileCheck %s

!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!big = memref<64x128xf32, #pto.mem<psum>>

// CHECK-LABEL: func.func @unknown_buffer
// CHECK:         pto.tmatmul {{.*}} outs(%{{.*}} : memref<64x128xf32, #pto.mem<psum>>){{$}}
func.func @unknown_buffer(%w: !w, %x: !x, %a: !big, %b: !big, %c: i1) {
  %s = arith.select %c, %a, %b : !big
  pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !big) acc<start> zero_region(0)
  return
}
