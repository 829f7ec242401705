// The syntax of operations on tiles.
// RUN: %pto_opt %s | FileCheck %s
// RUN: %pto_opt %s | %pto_opt | FileCheck %s
// RUN: %pto_opt -mlir-print-op-generic %s | %pto_opt | FileCheck %s
// RUN: %pto_opt -emit-bytecode %s | %pto_opt | FileCheck %s

!A = memref<16x64xf16, #pto.mem<cube_m16>>
!B = memref<64x32xf16, #pto.mem<cube_n8>>
!C = memref<16x32xf32, #pto.mem<cube_m16>>
!D = memref<16x32xsi8, #pto.mem<cube_m16>>
!E = memref<16x32x!pto.hif8, #pto.mem<cube_m16>>
!V = memref<1x32xf32, #pto.mem<cube_m16>>
!Q = memref<1x32xi64, #pto.mem<cube_m16>>
!R = memref<16x1xf32, #pto.mem<cube_m16>>
!G = memref<16x4xf32, #pto.mem<cube_m16>>
!S = memref<16x1xui8, #pto.mem<cube_m32>>

// CHECK-LABEL: func.func @allocations
func.func @allocations() {
  // CHECK-NEXT: pto.tile_alloc : memref<16x32xf32, #pto.mem<cube_m16>>{{$}}
  %0 = pto.tile_alloc : !C
  // CHECK-NEXT: pto.tile_alloc size(10) : memref<16x32xf32, #pto.mem<cube_m16>>{{$}}
  %1 = pto.tile_alloc size(10) : !C
  // CHECK-NEXT: pto.tile_alloc {note} : memref<1x32xi64, #pto.mem<cube_m16>>{{$}}
  %2 = pto.tile_alloc {note} : !Q
  // CHECK-NEXT: pto.tile_alloc size(12) : memref<256x256xf32, #pto.mem<shared>>{{$}}
  %3 = pto.tile_alloc size(12) : memref<256x256xf32, #pto.mem<shared>>
  // CHECK-NEXT: pto.tile_alloc size(1) : memref<3x7x!pto.e1m2, #pto.mem<cube_n8>>{{$}}
  %4 = pto.tile_alloc size(1) : memref<3x7x!pto.e1m2, #pto.mem<cube_n8>>
  // CHECK-NEXT: pto.tile_alloc : memref<32x512x!pto.hif4, #pto.mem<cube_m32>>{{$}}
  %5 = pto.tile_alloc : memref<32x512x!pto.hif4, #pto.mem<cube_m32>>
  return
}

// CHECK-LABEL: func.func @variants
func.func @variants(%a: !A, %b: !B, %c: !C, %d: !C, %v: !V) {
  // CHECK-NEXT: pto.tmatmul ins(%{{.*}}, %{{.*}} : memref<16x64xf16, #pto.mem<cube_m16>>, memref<64x32xf16, #pto.mem<cube_n8>>) outs(%{{.*}} : memref<16x32xf32, #pto.mem<cube_m16>>){{$}}
  pto.tmatmul ins(%a, %b : !A, !B) outs(%d : !C)
  // CHECK-NEXT: pto.tmatmul_acc ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<16x32xf32, #pto.mem<cube_m16>>, memref<16x64xf16, #pto.mem<cube_m16>>, memref<64x32xf16, #pto.mem<cube_n8>>) outs(%{{.*}} : memref<16x32xf32, #pto.mem<cube_m16>>){{$}}
  pto.tmatmul_acc ins(%c, %a, %b : !C, !A, !B) outs(%d : !C)
  // CHECK-NEXT: pto.tmatmul_bias ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<16x64xf16, #pto.mem<cube_m16>>, memref<64x32xf16, #pto.mem<cube_n8>>, memref<1x32xf32, #pto.mem<cube_m16>>) outs(%{{.*}} : memref<16x32xf32, #pto.mem<cube_m16>>){{$}}
  pto.tmatmul_bias ins(%a, %b, %v : !A, !B, !V) outs(%d : !C)
  // The accumulator in place: before registers are assigned.
  // CHECK-NEXT: pto.tmatmul_acc ins(%[[C:.*]], %{{.*}}, %{{.*}}) outs(%[[C]] :
  pto.tmatmul_acc ins(%c, %a, %b : !C, !A, !B) outs(%c : !C)
  return
}

!MA = memref<16x96xf8E4M3FN, #pto.mem<cube_m16>>
!MS = memref<16x3xf8E8M0FNU, #pto.mem<cube_m32>>
!MB = memref<96x32x!pto.hif4, #pto.mem<cube_n8>>
!MT = memref<32x2xui32, #pto.mem<cube_m32>>
!H = memref<16x96xbf16, #pto.mem<cube_m16>>
!I = memref<96x32xf16, #pto.mem<cube_n8>>

// CHECK-LABEL: func.func @scaled
func.func @scaled(%a: !MA, %sa: !MS, %b: !MB, %sb: !MT, %h: !H, %i: !I, %c: !C, %d: !C, %v: !V) {
  // CHECK-NEXT: pto.tmatmul_mx ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<16x96xf8E4M3FN, #pto.mem<cube_m16>>, memref<16x3xf8E8M0FNU, #pto.mem<cube_m32>>, memref<96x32x!pto.hif4, #pto.mem<cube_n8>>, memref<32x2xui32, #pto.mem<cube_m32>>) outs(
  pto.tmatmul_mx ins(%a, %sa, %b, %sb : !MA, !MS, !MB, !MT) outs(%d : !C)
  // CHECK-NEXT: pto.tmatmul_mx ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<16x96xbf16, #pto.mem<cube_m16>>, memref<96x32x!pto.hif4, #pto.mem<cube_n8>>, memref<32x2xui32, #pto.mem<cube_m32>>) outs(
  pto.tmatmul_mx ins(%h, %b, %sb : !H, !MB, !MT) outs(%d : !C)
  // CHECK-NEXT: pto.tmatmul_mx_acc ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<16x32xf32, #pto.mem<cube_m16>>, memref<16x96xf8E4M3FN, #pto.mem<cube_m16>>, memref<16x3xf8E8M0FNU, #pto.mem<cube_m32>>, memref<96x32xf16, #pto.mem<cube_n8>>) outs(
  pto.tmatmul_mx_acc ins(%c, %a, %sa, %i : !C, !MA, !MS, !I) outs(%d : !C)
  // CHECK-NEXT: pto.tmatmul_mx_bias ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<16x96xbf16, #pto.mem<cube_m16>>, memref<96x32xf16, #pto.mem<cube_n8>>, memref<1x32xf32, #pto.mem<cube_m16>>) outs(
  pto.tmatmul_mx_bias ins(%h, %i, %v : !H, !I, !V) outs(%d : !C)
  return
}

// CHECK-LABEL: func.func @clauses
func.func @clauses(%a: !A, %b: !B, %c: !C, %d: !D, %e: !E, %q: i64, %p: !Q, %s: !S, %ri: !R, %ro: !R, %g: !G) {
  // CHECK-NEXT: %[[T:.*]] = pto.tmatmul ins({{.*}}) outs({{.*}}) quant(%{{.*}} : i64) -> !pto.token {post = #pto.post<pre_quant = 24, relu = 0, group = 0>}{{$}}
  %t = pto.tmatmul ins(%a, %b : !A, !B) outs(%d : !D) quant(%q : i64) -> !pto.token {post = #pto.post<pre_quant = 24>}
  // CHECK-NEXT: pto.tmatmul_acc ins({{.*}}) outs({{.*}}) after(%[[T]]) c_scale(%{{.*}} : memref<16x1xui8, #pto.mem<cube_m32>>) row_max_in(%{{.*}} : memref<16x1xf32, #pto.mem<cube_m16>>) quant(%{{.*}} : memref<1x32xi64, #pto.mem<cube_m16>>) prelu(%{{.*}} : memref<1x32xi64, #pto.mem<cube_m16>>) row_max(%{{.*}} : memref<16x1xf32, #pto.mem<cube_m16>>) group_max(%{{.*}} : memref<16x4xf32, #pto.mem<cube_m16>>) -> !pto.token {mask = 14 : i64, post = #pto.post<pre_quant = 28, relu = 3, group = 1, row_max, group_max, row_max_init, max_abs>, sat}{{$}}
  %u = pto.tmatmul_acc ins(%c, %a, %b : !C, !A, !B) outs(%e : !E) after(%t) c_scale(%s : !S) row_max_in(%ri : !R) quant(%p : !Q) prelu(%p : !Q) row_max(%ro : !R) group_max(%g : !G) -> !pto.token
      {sat, post = #pto.post<max_abs, row_max_init, group = 1, relu = 3, row_max, pre_quant = 28, group_max>, mask = 14}
  // CHECK-NEXT: pto.tmatmul ins({{.*}}) outs({{.*}}) prelu(%{{.*}} : i64) {post = #pto.post<pre_quant = 0, relu = 2, group = 0>, rmode = #pto.rmode<default>}{{$}}
  pto.tmatmul ins(%a, %b : !A, !B) outs(%c : !C) prelu(%q : i64) {rmode = #pto.rmode<default>, post = #pto.post<relu = 2>}
  // CHECK-NEXT: pto.tmatmul ins({{.*}}) outs({{.*}}) {mask = 0 : i64, post = #pto.post<pre_quant = 0, relu = 0, group = 0>}{{$}}
  pto.tmatmul ins(%a, %b : !A, !B) outs(%c : !C) {post = #pto.post<>, mask = 0}
  return
}

!SA = memref<64x48xsi8, #pto.mem<shared>>
!SB = memref<64x8xsi4, #pto.mem<shared>>
!SD = memref<16x8xsi32, #pto.mem<cube_m16>>

// CHECK-LABEL: func.func @attributes
func.func @attributes(%sa: !SA, %sb: !SB, %d: !SD, %a: memref<1x64xf32, #pto.mem<cube_m32>>, %b: !B, %v: memref<1x32xf32, #pto.mem<cube_m32>>) {
  // CHECK-NEXT: pto.tmatmul ins({{.*}}) outs({{.*}}) {mask = 15 : i64, trans_a}{{$}}
  pto.tmatmul ins(%sa, %sb : !SA, !SB) outs(%d : !SD) {trans_a, mask = 15}
  // CHECK-NEXT: pto.tmatmul ins({{.*}}) outs({{.*}}) {gemv}{{$}}
  pto.tmatmul ins(%a, %b : memref<1x64xf32, #pto.mem<cube_m32>>, !B) outs(%v : memref<1x32xf32, #pto.mem<cube_m32>>) {gemv}
  return
}

// The generic form may leave out the groups of post-processing.
// CHECK-LABEL: func.func @short_generic
func.func @short_generic(%a: !A, %b: !B, %c: !C) {
  // CHECK-NEXT: pto.tmatmul ins(%{{.*}}) outs(%{{.*}}){{$}}
  "pto.tmatmul"(%a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (!A, !B, !C) -> ()
  // CHECK-NEXT: pto.tmatmul_mx ins(%{{.*}}) outs(%{{.*}}){{$}}
  "pto.tmatmul_mx"(%a, %b, %c) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 1, 0>}> : (!A, !B, !C) -> ()
  return
}

// CHECK-LABEL: func.func @expectations
func.func @expectations(%c: memref<1x2xf32, #pto.mem<cube_m16>>, %e: memref<1x2x!pto.hif8, #pto.mem<cube_m16>>, %f: memref<2x1x!pto.e1m2, #pto.mem<cube_n8>>, %h: memref<1x1x!pto.hf32, #pto.mem<shared>>) {
  // CHECK-NEXT: pto.expect_eq %{{.*}}, dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<cube_m16>>{{$}}
  pto.expect_eq %c, dense<[[1.0, 2.0]]> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<cube_m16>>
  // CHECK-NEXT: pto.expect_eq %{{.*}}, dense<{{\[\[}}8, -128]]> : tensor<1x2xi8>, memref<1x2x!pto.hif8, #pto.mem<cube_m16>>{{$}}
  pto.expect_eq %e, dense<[[8, 0x80]]> : tensor<1x2xi8>, memref<1x2x!pto.hif8, #pto.mem<cube_m16>>
  // CHECK-NEXT: pto.expect_eq %{{.*}} : tensor<2x1xi4>, memref<2x1x!pto.e1m2, #pto.mem<cube_n8>>{{$}}
  pto.expect_eq %f, dense<[[1], [7]]> : tensor<2x1xi4>, memref<2x1x!pto.e1m2, #pto.mem<cube_n8>>
  // CHECK-NEXT: pto.expect_eq %{{.*}} : tensor<2x1xi8>, memref<2x1x!pto.e1m2, #pto.mem<cube_n8>>{{$}}
  pto.expect_eq %f, dense<[[1], [7]]> : tensor<2x1xi8>, memref<2x1x!pto.e1m2, #pto.mem<cube_n8>>
  // CHECK-NEXT: pto.expect_eq %{{.*}} : tensor<1x1xi32>, memref<1x1x!pto.hf32, #pto.mem<shared>>{{$}}
  pto.expect_eq %h, dense<0x3f800000> : tensor<1x1xi32>, memref<1x1x!pto.hf32, #pto.mem<shared>>
  // CHECK-NEXT: pto.expect_close %{{.*}} {ulp = 1 : i64}
  pto.expect_close %c, dense<1.0> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<cube_m16>> {ulp = 1}
  return
}
