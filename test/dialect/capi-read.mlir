// What the C accessors say.
// RUN: %capi_test read %s | FileCheck %s

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

// CHECK: builtin.module kind 0{{$}}
// CHECK: func.func kind 0{{$}}
func.func @read(%w: !W, %x: !X, %p: i1, %z: f32, %h: memref<32x16xf32>, %g: memref<32x16xf32, 3>, %u: memref<*xf32>, %i: index) {
  // CHECK-NEXT: pto.psum_alloc kind 3 space 2 bank 0 offset 0 partition 0 unplaced memref<32x16xf32, #pto.mem<psum>>{{$}}
  %c = pto.psum_alloc : !C
  // CHECK-NEXT: pto.psum_alloc kind 3 space 2 bank 7 offset 4 partition 96 placed memref
  %d = pto.psum_alloc bank(7) offset(4) partition(96) : !C
  // CHECK-NEXT: pto.sbuf_alloc kind 4 space 1 bank 0 offset 0 partition 0 unplaced memref
  %s = pto.sbuf_alloc : !X
  // CHECK-NEXT: pto.sbuf_alloc kind 4 space 1 bank 0 offset 0 partition 64 placed memref
  %t = pto.sbuf_alloc partition(64) : !X
  // CHECK-NEXT: pto.tmatmul kind 1 acc -1 region -1 tile 128x128 at 0,0 whole accumulator 0 predicates 00
  // CHECK-SAME: lhs memref<64x32xbf16, #pto.mem<sbuf>> rhs memref<64x16xbf16, #pto.mem<sbuf>>
  // CHECK-SAME: engine 0 token 1 inserted 0 after operands 1/1,1/1,2/3{{$}}
  %a = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  // CHECK-NEXT: pto.tmatmul_acc kind 2 acc 6 region 3 tile 64x32 at 64,96 given accumulator 1 predicates 01
  // CHECK-SAME: engine 0 token 1 inserted 0 after pto.tmatmul operands 2/1,1/1,1/1,2/3,5/0,5/0{{$}}
  %b = pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) tile(64, 32) at(64, 96) acc<stop|accumulate> zero_region(3) stop_if(%p) after(%a) -> !pto.token
  // CHECK-NEXT: pto.tmatmul kind 1 acc 0 region 0 {{.*}} predicates 10
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) zero_region(0) start_if(%p)
  // CHECK-NEXT: pto.memset kind 5 engine 3 token 0 inserted 1 after pto.tmatmul pto.tmatmul_acc* operands 5/0,2/2,5/0,5/0{{$}}
  pto.memset %z, %c : f32, !C engine(gpsimd) after(%a, %b) {inserted, inserted_after = array<i32: 1>}
  // CHECK-NEXT: pto.copy kind 6 engine 1 token 0 inserted 0 after operands 2/1,0/2{{$}}
  pto.copy %c, %h : !C, memref<32x16xf32>
  // CHECK-NEXT: pto.expect_eq kind 7 operands 0/3{{$}}
  pto.expect_eq %h, dense<0.0> : tensor<32x16xf32>, memref<32x16xf32>
  // CHECK-NEXT: pto.expect_close kind 8 operands 0/3{{$}}
  pto.expect_close %h, dense<0.0> : tensor<32x16xf32>, memref<32x16xf32> {ulp = 1}
  // CHECK-NEXT: memref.subview kind 0 operands 2/0 view{{$}}
  %0 = memref.subview %c[0, 0] [32, 8] [1, 1] : !C to memref<32x8xf32, strided<[16, 1]>, #pto.mem<psum>>
  // CHECK-NEXT: memref.cast kind 0 operands 2/0 view{{$}}
  %1 = memref.cast %0 : memref<32x8xf32, strided<[16, 1]>, #pto.mem<psum>> to memref<32x8xf32, strided<[16, 1], offset: ?>, #pto.mem<psum>>
  // CHECK-NEXT: memref.collapse_shape kind 0 operands 2/0 view{{$}}
  %2 = memref.collapse_shape %c [[0, 1]] : !C into memref<512xf32, #pto.mem<psum>>
  // CHECK-NEXT: memref.expand_shape kind 0 operands 2/0 view{{$}}
  %3 = memref.expand_shape %c [[0], [1, 2]] output_shape [32, 4, 4] : !C into memref<32x4x4xf32, #pto.mem<psum>>
  // CHECK-NEXT: memref.reinterpret_cast kind 0 operands 2/0 view{{$}}
  %4 = memref.reinterpret_cast %c to offset: [0], sizes: [32, 8], strides: [16, 1] : !C to memref<32x8xf32, strided<[16, 1]>, #pto.mem<psum>>
  // CHECK-NEXT: memref.transpose kind 0 operands 2/0 view{{$}}
  %5 = memref.transpose %c (i, j) -> (j, i) : !C to memref<16x32xf32, strided<[1, 16]>, #pto.mem<psum>>
  // CHECK-NEXT: memref.load kind 0 operands 4/1,5/0,5/0{{$}}
  %6 = memref.load %g[%i, %i] : memref<32x16xf32, 3>
  // CHECK-NEXT: memref.store kind 0 operands 5/0,2/2,5/0,5/0{{$}}
  memref.store %6, %c[%i, %i] : !C
  // CHECK-NEXT: memref.copy kind 0 operands 2/1,0/2{{$}}
  memref.copy %c, %h : !C to memref<32x16xf32>
  // CHECK-NEXT: memref.dealloc kind 0 operands 2/8{{$}}
  memref.dealloc %d : !C
  // CHECK-NEXT: memref.alloc kind 0{{$}}
  %7 = memref.alloc() : !C
  // CHECK-NEXT: func.call kind 0 operands 2/3,0/3,5/0{{$}}
  func.call @other(%c, %u, %z) : (!C, memref<*xf32>, f32) -> ()
  // CHECK-NEXT: arith.index_cast kind 0 operands 5/0{{$}}
  %8 = arith.index_cast %i : index to i64
  return
}

func.func private @other(!C, memref<*xf32>, f32)
