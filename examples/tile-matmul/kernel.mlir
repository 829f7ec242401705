// Two layers on the tile ISA: y = relu(x . w1) . w2 + bias, and the largest element of each row of y.
//
// The first product is a chain over K: three tiles of 64, each step from one accumulator into the other,
// for C and D are two tiles. Its last step converts on the way out, to f16 and without negatives, into the
// layout of a left operand: the second product reads it where it is.

!Input   = memref<16x64xf16, #pto.mem<cube_m16>>
!Weight1 = memref<64x64xf16, #pto.mem<cube_n8>>
!Sum     = memref<16x64xf32, #pto.mem<cube_m16>>
!Hidden  = memref<16x64xf16, #pto.mem<cube_m16>>
!Weight2 = memref<64x24xf16, #pto.mem<cube_n8>>
!Bias    = memref<1x24xf32, #pto.mem<cube_m16>>
!Output  = memref<16x24xf32, #pto.mem<cube_m16>>
!Maxima  = memref<16x1xf32, #pto.mem<cube_m16>>

!X = memref<16x64xf16, strided<[192, 1], offset: ?>>
!W = memref<64x64xf16, strided<[64, 1], offset: ?>>

module attributes {pto.target = #pto.target<tile>} {
  func.func @main(%x: memref<16x192xf16>, %w1: memref<192x64xf16>, %w2: memref<64x24xf16>, %bias: memref<1x24xf32>,
                  %y: memref<16x24xf32>, %maxima: memref<16x1xf32>) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %a = pto.tile_alloc : !Input
    %b = pto.tile_alloc : !Weight1
    %ping = pto.tile_alloc : !Sum
    %pong = pto.tile_alloc : !Sum
    %hidden = pto.tile_alloc : !Hidden

    call @load(%x, %w1, %c0, %a, %b) : (memref<16x192xf16>, memref<192x64xf16>, index, !Input, !Weight1) -> ()
    pto.tmatmul ins(%a, %b : !Input, !Weight1) outs(%ping : !Sum)
    call @load(%x, %w1, %c64, %a, %b) : (memref<16x192xf16>, memref<192x64xf16>, index, !Input, !Weight1) -> ()
    pto.tmatmul_acc ins(%ping, %a, %b : !Sum, !Input, !Weight1) outs(%pong : !Sum)
    call @load(%x, %w1, %c128, %a, %b) : (memref<16x192xf16>, memref<192x64xf16>, index, !Input, !Weight1) -> ()
    pto.tmatmul_acc ins(%pong, %a, %b : !Sum, !Input, !Weight1) outs(%hidden : !Hidden)
        {post = #pto.post<pre_quant = 1, relu = 1>}

    %v = pto.tile_alloc : !Weight2
    %row = pto.tile_alloc : !Bias
    %result = pto.tile_alloc : !Output
    %largest = pto.tile_alloc : !Maxima
    pto.copy %w2, %v : memref<64x24xf16>, !Weight2
    pto.copy %bias, %row : memref<1x24xf32>, !Bias
    pto.tmatmul_bias ins(%hidden, %v, %row : !Hidden, !Weight2, !Bias) outs(%result : !Output)
        row_max(%largest : !Maxima) {post = #pto.post<row_max>}
    pto.copy %result, %y : !Output, memref<16x24xf32>
    pto.copy %largest, %maxima : !Maxima, memref<16x1xf32>
    return
  }

  // Columns k to k + 64 of x, and the rows of w1 that belong to them.
  func.func private @load(%x: memref<16x192xf16>, %w1: memref<192x64xf16>, %k: index, %a: !Input, %b: !Weight1) {
    %columns = memref.subview %x[0, %k] [16, 64] [1, 1] : memref<16x192xf16> to !X
    %rows = memref.subview %w1[%k, 0] [64, 64] [1, 1] : memref<192x64xf16> to !W
    pto.copy %columns, %a : !X, !Input
    pto.copy %rows, %b : !W, !Weight1
    return
  }
}
