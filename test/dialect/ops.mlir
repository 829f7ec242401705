// RUN: %pto_opt %s | FileCheck %s
// RUN: %pto_opt %s | %pto_opt | FileCheck %s
// RUN: %pto_opt -mlir-print-op-generic %s | %pto_opt | FileCheck %s
// RUN: %pto_opt -emit-bytecode %s | %pto_opt | FileCheck %s

!W = memref<128x128xbf16, #pto.mem<sbuf>>
!V = memref<128x32xbf16, #pto.mem<sbuf>>
!X = memref<128x512xbf16, #pto.mem<sbuf>>
!C = memref<128x512xf32, #pto.mem<psum>>
!D = memref<32x512xf32, #pto.mem<psum>>

// CHECK-LABEL: func.func @allocations
func.func @allocations() {
  // CHECK-NEXT: pto.psum_alloc : memref<128x512xf32, #pto.mem<psum>>{{$}}
  %0 = pto.psum_alloc : !C
  // CHECK-NEXT: pto.psum_alloc bank(2) offset(0) partition(0) : memref<128x512xf32, #pto.mem<psum>>{{$}}
  %1 = pto.psum_alloc bank(2) offset(0) partition(0) : !C
  // CHECK-NEXT: pto.psum_alloc bank(7) : memref<32x512xf32, #pto.mem<psum>>{{$}}
  %2 = pto.psum_alloc bank(7) : !D
  // CHECK-NEXT: pto.psum_alloc bank(1) partition(96) {note = "x"} : memref<32x512xf32, #pto.mem<psum>>{{$}}
  %3 = pto.psum_alloc bank(1) partition(96) {note = "x"} : !D
  // CHECK-NEXT: pto.psum_alloc {note = 1 : i64} : memref<7xi32, #pto.mem<psum>>{{$}}
  %4 = pto.psum_alloc {note = 1} : memref<7xi32, #pto.mem<psum>>
  // CHECK-NEXT: pto.psum_alloc bank(0) offset(2044) partition(64) : memref<33x1xbf16, #pto.mem<psum>>{{$}}
  %5 = pto.psum_alloc bank(0) offset(2044) partition(64) : memref<33x1xbf16, #pto.mem<psum>>
  // CHECK-NEXT: pto.psum_alloc bank(0) : memref<128x8x512xf32, #pto.mem<psum>>{{$}}
  %6 = pto.psum_alloc bank(0) : memref<128x8x512xf32, #pto.mem<psum>>
  // CHECK-NEXT: pto.sbuf_alloc : memref<128x32xbf16, #pto.mem<sbuf>>{{$}}
  %7 = pto.sbuf_alloc : !V
  // CHECK-NEXT: pto.sbuf_alloc partition(64) offset(4096) : memref<32x64xf8E4M3FN, #pto.mem<sbuf>>{{$}}
  %8 = pto.sbuf_alloc partition(64) offset(4096) : memref<32x64xf8E4M3FN, #pto.mem<sbuf>>
  // CHECK-NEXT: pto.sbuf_alloc offset(3) : memref<1x1xi8, #pto.mem<sbuf>>{{$}}
  %9 = pto.sbuf_alloc offset(3) : memref<1x1xi8, #pto.mem<sbuf>>
  return
}

// CHECK-LABEL: func.func @matmuls
// CHECK-SAME: (%[[W:.*]]: memref<128x128xbf16, {{.*}}>, %[[V:.*]]: memref<128x32xbf16, {{.*}}>, %[[X:.*]]: memref<{{.*}}>, %[[C:.*]]: memref<128x512xf32, {{.*}}>, %[[D:.*]]: memref<32x512xf32, {{.*}}>, %[[P:.*]]: i1, %[[Q:.*]]: i1)
func.func @matmuls(%w: !W, %v: !V, %x: !X, %c: !C, %d: !D, %p: i1, %q: i1) {
  // CHECK-NEXT: pto.tmatmul ins(%[[W]], %[[X]] : memref<128x128xbf16, #pto.mem<sbuf>>, memref<128x512xbf16, #pto.mem<sbuf>>) outs(%[[C]] : memref<128x512xf32, #pto.mem<psum>>){{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C)
  // CHECK-NEXT: pto.tmatmul_acc ins(%[[C]], %[[W]], %[[X]] : memref<128x512xf32, #pto.mem<psum>>, memref<128x128xbf16, #pto.mem<sbuf>>, memref<128x512xbf16, #pto.mem<sbuf>>) outs(%[[C]] : memref<128x512xf32, #pto.mem<psum>>){{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C)
  // CHECK-NEXT: %[[T0:.*]] = pto.tmatmul {{.*}}) tile(128, 32) at(0, 64) -> !pto.token{{$}}
  %t0 = pto.tmatmul ins(%v, %x : !V, !X) outs(%d : !D) tile(128, 32) at(0, 64) -> !pto.token
  // CHECK-NEXT: %[[T1:.*]] = pto.tmatmul_acc {{.*}}) tile(128, 32) at(0, 64) acc<start|stop> zero_region(0) start_if(%[[P]]) stop_if(%[[Q]]) after(%[[T0]]) -> !pto.token {note, which = 3 : i64}{{$}}
  %t1 = pto.tmatmul_acc ins(%d, %v, %x : !D, !V, !X) outs(%d : !D)
    tile(128, 32) at(0, 64) acc<stop | start> zero_region(0) start_if(%p) stop_if(%q) after(%t0) -> !pto.token {which = 3, note}
  // CHECK-NEXT: pto.tmatmul {{.*}}) start_if(%[[P]]) after(%[[T0]], %[[T1]]){{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) start_if(%p) after(%t0, %t1)
  // CHECK-NEXT: pto.tmatmul {{.*}}) stop_if(%[[Q]]) {inserted_after = array<i32>}{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) stop_if(%q) {inserted_after = array<i32>}
  // CHECK-NEXT: pto.tmatmul {{.*}}) zero_region(3) after(%[[T0]], %[[T1]]) -> !pto.token {inserted_after = array<i32: 1>, inserted_token}{{$}}
  %t2 = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) zero_region(3) after(%t0, %t1) -> !pto.token {inserted_after = array<i32: 1>, inserted_token}
  return
}

// The bytes that exist, and the order in which flags print.
// CHECK-LABEL: func.func @flags
func.func @flags(%w: !W, %x: !X, %c: !C) {
  // CHECK: acc<none>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<none>
  // CHECK: acc<start>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<start>
  // CHECK: acc<stop>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<stop>
  // CHECK: acc<start|stop>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<start|stop>
  // CHECK: acc<accumulate> zero_region(2){{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<accumulate> zero_region(2)
  // CHECK: acc<stop|accumulate>{{$}}
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) acc<accumulate|stop>
  return
}

// CHECK-LABEL: func.func @moves
// CHECK-SAME: (%[[Z:.*]]: f32, %[[I:.*]]: i8, %[[C:.*]]: memref<{{.*}}>, %[[X:.*]]: memref<{{.*}}>, %[[U:.*]]: memref<{{.*}}>, %[[H:.*]]: memref<{{.*}}>)
func.func @moves(%z: f32, %i: i8, %c: !C, %x: !X, %u: memref<4x4xui8, #pto.mem<sbuf>>, %h: memref<128x512xf32>) {
  // CHECK-NEXT: pto.memset %[[Z]], %[[C]] : f32, memref<128x512xf32, #pto.mem<psum>>{{$}}
  pto.memset %z, %c : f32, !C
  // CHECK-NEXT: %[[T0:.*]] = pto.memset %[[Z]], %[[X]] : f32, memref<128x512xbf16, #pto.mem<sbuf>> engine(gpsimd) -> !pto.token {inserted, inserted_token}{{$}}
  %t0 = pto.memset %z, %x : f32, !X engine(gpsimd) -> !pto.token {inserted_token, inserted}
  // CHECK-NEXT: pto.memset %[[I]], %[[U]] : i8, memref<4x4xui8, #pto.mem<sbuf>> after(%[[T0]]){{$}}
  pto.memset %i, %u : i8, memref<4x4xui8, #pto.mem<sbuf>> after(%t0)
  // CHECK-NEXT: pto.copy %[[C]], %[[X]] : memref<128x512xf32, #pto.mem<psum>>, memref<128x512xbf16, #pto.mem<sbuf>>{{$}}
  pto.copy %c, %x : !C, !X
  // CHECK-NEXT: pto.copy %[[H]], %[[X]] : memref<128x512xf32>, memref<128x512xbf16, #pto.mem<sbuf>> engine(dma) after(%[[T0]]) -> !pto.token{{$}}
  %t1 = pto.copy %h, %x : memref<128x512xf32>, !X engine(dma) after(%t0) -> !pto.token
  // CHECK-NEXT: pto.copy %[[H]], %[[C]] : memref<128x512xf32>, memref<128x512xf32, #pto.mem<psum>> engine(vector){{$}}
  pto.copy %h, %c : memref<128x512xf32>, !C engine(vector)
  return
}

// CHECK-LABEL: func.func @expectations
func.func @expectations(%y: memref<1x2xf32, #pto.mem<sbuf>>, %u: memref<2xui8>) {
  // CHECK-NEXT: pto.expect_eq %{{.*}}, dense<{{\[}}[1.000000e+00, 0x7FC00000]]> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<sbuf>>{{$}}
  pto.expect_eq %y, dense<[[1.0, 0x7FC00000]]> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<sbuf>>
  // CHECK-NEXT: pto.expect_eq %{{.*}}, dense<255> : tensor<2xui8>, memref<2xui8>{{$}}
  pto.expect_eq %u, dense<255> : tensor<2xui8>, memref<2xui8>
  // CHECK-NEXT: pto.expect_close %{{.*}}, dense<1.000000e+00> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<sbuf>> {ulp = 2 : i64}{{$}}
  pto.expect_close %y, dense<1.0> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<sbuf>> {ulp = 2 : i64}
  return
}

// Every combination of element types of the PE.
// CHECK-LABEL: func.func @element_types
func.func @element_types(
    %e4: memref<8x8xf8E4M3FN, #pto.mem<sbuf>>, %e5: memref<8x8xf8E5M2, #pto.mem<sbuf>>,
    %e3: memref<8x8xf8E3M4, #pto.mem<sbuf>>, %b: memref<8x8xbf16, #pto.mem<sbuf>>,
    %h: memref<8x8xf16, #pto.mem<sbuf>>, %t: memref<8x8xtf32, #pto.mem<sbuf>>,
    %f: memref<8x8xf32, #pto.mem<sbuf>>, %i: memref<8x8xi8, #pto.mem<sbuf>>,
    %s: memref<8x8xsi8, #pto.mem<sbuf>>, %u: memref<8x8xui8, #pto.mem<sbuf>>,
    %c: memref<8x8xf32, #pto.mem<psum>>, %ci: memref<8x8xi32, #pto.mem<psum>>,
    %cb: memref<8x8xbf16, #pto.mem<psum>>) {
  // CHECK-COUNT-7: pto.tmatmul ins
  pto.tmatmul ins(%e4, %e5 : memref<8x8xf8E4M3FN, #pto.mem<sbuf>>, memref<8x8xf8E5M2, #pto.mem<sbuf>>) outs(%c : memref<8x8xf32, #pto.mem<psum>>)
  pto.tmatmul ins(%e3, %b : memref<8x8xf8E3M4, #pto.mem<sbuf>>, memref<8x8xbf16, #pto.mem<sbuf>>) outs(%c : memref<8x8xf32, #pto.mem<psum>>)
  pto.tmatmul ins(%h, %b : memref<8x8xf16, #pto.mem<sbuf>>, memref<8x8xbf16, #pto.mem<sbuf>>) outs(%cb : memref<8x8xbf16, #pto.mem<psum>>)
  pto.tmatmul ins(%t, %f : memref<8x8xtf32, #pto.mem<sbuf>>, memref<8x8xf32, #pto.mem<sbuf>>) outs(%c : memref<8x8xf32, #pto.mem<psum>>)
  pto.tmatmul ins(%f, %f : memref<8x8xf32, #pto.mem<sbuf>>, memref<8x8xf32, #pto.mem<sbuf>>) outs(%c : memref<8x8xf32, #pto.mem<psum>>)
  pto.tmatmul ins(%i, %u : memref<8x8xi8, #pto.mem<sbuf>>, memref<8x8xui8, #pto.mem<sbuf>>) outs(%ci : memref<8x8xi32, #pto.mem<psum>>)
  pto.tmatmul ins(%s, %s : memref<8x8xsi8, #pto.mem<sbuf>>, memref<8x8xsi8, #pto.mem<sbuf>>) outs(%ci : memref<8x8xi32, #pto.mem<psum>>)
  return
}

// Views, and sizes that are not known: what is known agrees.
// CHECK-LABEL: func.func @views
func.func @views(%w: !W, %x: !X, %c: !C, %d: memref<?x?xbf16, #pto.mem<sbuf>>, %i: index) {
  %0 = memref.subview %c[32, %i] [32, 64] [1, 1] : !C to memref<32x64xf32, strided<[512, 1], offset: ?>, #pto.mem<psum>>
  %1 = memref.subview %w[0, 0] [128, 32] [1, 1] : !W to memref<128x32xbf16, strided<[128, 1]>, #pto.mem<sbuf>>
  // CHECK: pto.tmatmul
  pto.tmatmul ins(%1, %d : memref<128x32xbf16, strided<[128, 1]>, #pto.mem<sbuf>>, memref<?x?xbf16, #pto.mem<sbuf>>)
    outs(%0 : memref<32x64xf32, strided<[512, 1], offset: ?>, #pto.mem<psum>>)
  return
}

// Every memory space, target and engine parses, wherever an attribute stands.
// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: memref<4xf32, #pto.mem<hbm>>, memref<4xf32, #pto.mem<cube_m16>>, memref<4xf32, #pto.mem<cube_m32>>, memref<4xf32, #pto.mem<cube_n8>>, memref<4xf32, #pto.mem<shared>>, !pto.token
// CHECK-SAME: all = [#pto.target<trn1>, #pto.target<trn2>, #pto.target<trn3>, #pto.target<nogroup>, #pto.target<tile>, #pto.engine<pe>, #pto.engine<scalar>, #pto.acc<start|stop>, #pto.mem<psum>]
func.func private @attributes(memref<4xf32, #pto.mem<hbm>>, memref<4xf32, #pto.mem<cube_m16>>, memref<4xf32, #pto.mem<cube_m32>>, memref<4xf32, #pto.mem<cube_n8>>, memref<4xf32, #pto.mem<shared>>, !pto.token)
  attributes {all = [#pto.target<trn1>, #pto.target<trn2>, #pto.target<trn3>, #pto.target<nogroup>, #pto.target<tile>, #pto.engine<pe>, #pto.engine<scalar>, #pto.acc<start|stop>, #pto.mem<psum>]}

// CHECK-LABEL: func.func @marks
// CHECK-SAME: (%{{.*}}: memref<128x512xf32, #pto.mem<psum>> {pto.bank = 2 : i64, pto.fresh, pto.offset = 0 : i64, pto.partition = 0 : i64})
// CHECK-SAME: attributes {pto.acc_legalized, pto.acc_provisional, pto.psum_banks = array<i32: 2, 3>}
func.func @marks(%c: !C {pto.bank = 2, pto.offset = 0, pto.partition = 0, pto.fresh})
  attributes {pto.acc_provisional, pto.acc_legalized, pto.psum_banks = array<i32: 2, 3>} {
  return
}
