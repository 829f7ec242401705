// Banks are shared across a region whose last operation is no terminator.
"builtin.module"() ({
  "func.func"() <{function_type = (memref<128x64xbf16, #pto.mem<sbuf>>, memref<128x256xbf16, #pto.mem<sbuf>>, memref<64x256xf32>) -> (), sym_name = "memset"}> ({
  ^bb0(%arg0: memref<128x64xbf16, #pto.mem<sbuf>>, %arg1: memref<128x256xbf16, #pto.mem<sbuf>>, %arg2: memref<64x256xf32>):
    %0 = "pto.psum_alloc"() <{bank = 0 : i64}> : () -> memref<64x256xf32, #pto.mem<psum>>
    %1 = "pto.psum_alloc"() <{bank = 0 : i64, offset = 1024 : i64}> : () -> memref<64x256xf32, #pto.mem<psum>>
    "pto.tmatmul"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (memref<128x64xbf16, #pto.mem<sbuf>>, memref<128x256xbf16, #pto.mem<sbuf>>, memref<64x256xf32, #pto.mem<psum>>) -> ()
"test.region"() ({
    "pto.tmatmul"(%arg0, %arg1, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (memref<128x64xbf16, #pto.mem<sbuf>>, memref<128x256xbf16, #pto.mem<sbuf>>, memref<64x256xf32, #pto.mem<psum>>) -> ()
    "pto.copy"(%0, %arg2) : (memref<64x256xf32, #pto.mem<psum>>, memref<64x256xf32>) -> ()
}) : () -> ()
  }) : () -> ()
}) : () -> ()