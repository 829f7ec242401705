// Accumulation groups on tiles: the form that adds in place becomes one with a register for each
// value. Doing it twice changes nothing.
// RUN: %pto_opt --pto-legalize-acc=target=tile %s -o %t.once
// RUN: FileCheck %s --input-file %t.once
// RUN: %pto_opt --pto-legalize-acc=target=tile %t.once | diff %t.once -
// The module says the target as well as the option does, and there is nothing to reset.
// RUN: %pto_opt --pto-legalize-acc %s | diff %t.once -
// RUN: %pto_opt --pto-reset-acc %t.once | diff %t.once -
// RUN: %mlir_opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --pto-legalize-acc=target=tile %s | diff %t.once -

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>
!h = memref<16x32xf16, #pto.mem<cube_m16>>
!v = memref<1x32xf32, #pto.mem<cube_m16>>
!xa = memref<16x64xf8E4M3FN, #pto.mem<cube_m16>>
!xs = memref<16x2xf8E8M0FNU, #pto.mem<cube_m32>>
!row = memref<16x1xf32, #pto.mem<cube_m16>>
!exp = memref<16x1xui8, #pto.mem<cube_m32>>

module attributes {pto.target = #pto.target<tile>} {

// The first one begins, home and one new tile take turns, the tail converts into another tile.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[A:.*]]: memref<16x64xf16, {{.*}}>, %[[B:.*]]: memref<64x32xf16, {{.*}}>, %[[H:.*]]: memref<16x32xf16
// CHECK:         %[[T:.*]] = pto.tile_alloc size(5)
// CHECK-NEXT:    %[[C:.*]] = pto.tile_alloc size(5)
// CHECK-NEXT:    pto.tmatmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[C]], %[[A]], %[[B]] : {{.*}}) outs(%[[T]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[T]], %[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[C]], %[[A]], %[[B]] : {{.*}}) outs(%[[H]] : {{.*}}) {post = #pto.post<pre_quant = 1
func.func @chain(%a: !a, %b: !b, %h: !h) {
  %c = pto.tile_alloc size(5) : !c
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%h : !h) {post = #pto.post<pre_quant = 1>}
  return
}

// Readers look where the value is, be they copies or returns.
// CHECK-LABEL: func.func @readers
// CHECK:         %[[T:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[C:.*]] = pto.tile_alloc
// CHECK-NEXT:    pto.tmatmul_bias {{.*}} outs(%[[C]] :
// CHECK-NEXT:    memref.copy %[[C]], %[[OUT:.*]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[C]], {{.*}} outs(%[[T]] :
// CHECK-NEXT:    memref.copy %[[T]], %[[OUT]] :
// CHECK-NEXT:    return %[[T]]
func.func @readers(%a: !a, %b: !b, %v: !v, %out: memref<16x32xf32>) -> !c {
  %c = pto.tile_alloc : !c
  pto.tmatmul_bias ins(%a, %b, %v : !a, !b, !v) outs(%c : !c)
  memref.copy %c, %out : !c to memref<16x32xf32>
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  memref.copy %c, %out : !c to memref<16x32xf32>
  return %c : !c
}

// Scales and tokens stay; a beginning has nothing to scale down.
// CHECK-LABEL: func.func @scaled
// CHECK:         %[[T:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[C:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[T0:.*]] = pto.tmatmul_mx ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%[[C]] : {{[^)]*}}) -> !pto.token {mask = 15 : i64, note = 7 : i64}
// CHECK-NEXT:    pto.tmatmul_mx_acc ins(%[[C]], {{.*}}) outs(%[[T]] : {{[^)]*}}) after(%[[T0]]) c_scale(
// CHECK-NEXT:    pto.expect_eq %[[T]],
func.func @scaled(%a: !xa, %sa: !xs, %b: !b, %e: !exp) {
  %c = pto.tile_alloc : !c
  %t = pto.tmatmul_mx_acc ins(%c, %a, %sa, %b : !c, !xa, !xs, !b) outs(%c : !c) c_scale(%e : !exp) -> !pto.token {mask = 15 : i64, note = 7 : i64}
  pto.tmatmul_mx_acc ins(%c, %a, %sa, %b : !c, !xa, !xs, !b) outs(%c : !c) after(%t) c_scale(%e : !exp)
  pto.expect_eq %c, dense<0.0> : tensor<16x32xf32>, !c
  return
}

// A tail may activate in place, and reduce: row maxima that go on in place move as well.
// CHECK-LABEL: func.func @maxima
// CHECK:         %[[R1:.*]] = pto.tile_alloc : memref<16x1xf32
// CHECK-NEXT:    %[[R:.*]] = pto.tile_alloc : memref<16x1xf32
// CHECK:         pto.tmatmul ins({{.*}}) outs(%{{.*}}) row_max(%[[R]] :
// CHECK:         pto.tmatmul ins({{.*}}) outs(%{{.*}}) row_max_in(%[[R]] : {{.*}}) row_max(%[[R1]] : {{.*}}) {post = #pto.post<pre_quant = 0, relu = 1
// CHECK:         memref.copy %[[R1]],
func.func @maxima(%a: !a, %b: !b, %out: memref<16x1xf32>) {
  %r = pto.tile_alloc : !row
  %c = pto.tile_alloc : !c
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c) row_max(%r : !row) {post = #pto.post<row_max>}
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c) row_max_in(%r : !row) row_max(%r : !row) {post = #pto.post<relu = 1, row_max, row_max_init>}
  memref.copy %r, %out : !row to memref<16x1xf32>
  return
}

// An argument comes from home and goes home: one accumulation needs a copy, three a third register.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME:    %[[C:[^:]*]]: memref<16x32xf32, {{[^%]*}}%[[D:[^:]*]]: memref<16x32xf32, {{[^%]*}}%{{[^:]*}}: memref<16x64xf16
// CHECK-NEXT:    %[[U:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[S:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[T:.*]] = pto.tile_alloc
// CHECK-NEXT:    memref.copy %[[C]], %[[T]]
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[T]], {{.*}} outs(%[[C]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[D]], {{.*}} outs(%[[S]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[S]], {{.*}} outs(%[[U]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[U]], {{.*}} outs(%[[D]] :
func.func @arguments(%c: !c, %d: !c, %a: !a, %b: !b) {
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  pto.tmatmul_acc ins(%d, %a, %b : !c, !a, !b) outs(%d : !c)
  pto.tmatmul_acc ins(%d, %a, %b : !c, !a, !b) outs(%d : !c)
  pto.tmatmul_acc ins(%d, %a, %b : !c, !a, !b) outs(%d : !c)
  return
}

// Two accumulations in a loop body take turns. Around the loop the value is at home.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[T:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[C:.*]] = pto.tile_alloc
// CHECK-NEXT:    pto.tmatmul ins({{.*}} outs(%[[C]] :
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      pto.tmatmul_acc ins(%[[C]], {{.*}} outs(%[[T]] :
// CHECK-NEXT:      pto.tmatmul_acc ins(%[[T]], {{.*}} outs(%[[C]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.copy %[[C]],
func.func @loop(%a: !a, %b: !b, %n: index, %out: memref<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = pto.tile_alloc : !c
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c)
  scf.for %i = %c0 to %n step %c1 {
    pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
    pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  }
  memref.copy %c, %out : !c to memref<16x32xf32>
  return
}

// Views look at home, so the group begins where it ends there.
// CHECK-LABEL: func.func @view
// CHECK:         %[[T:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[C:.*]] = pto.tile_alloc
// CHECK-NEXT:    %[[V:.*]] = memref.subview %[[C]]
// CHECK-NEXT:    pto.tmatmul ins({{.*}} outs(%[[T]] :
// CHECK-NEXT:    pto.tmatmul_acc ins(%[[T]], {{.*}} outs(%[[C]] :
// CHECK-NEXT:    memref.copy %[[V]],
func.func @view(%a: !a, %b: !b, %out: memref<8x32xf32>) {
  %c = pto.tile_alloc : !c
  %v = memref.subview %c[0, 0] [8, 32] [1, 1] : !c to memref<8x32xf32, strided<[32, 1]>, #pto.mem<cube_m16>>
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  memref.copy %v, %out : memref<8x32xf32, strided<[32, 1]>, #pto.mem<cube_m16>> to memref<8x32xf32>
  return
}

// Nobody takes part, so nothing happens, and nothing changes.
// CHECK-LABEL: func.func @no_element
// CHECK:         pto.tmatmul_acc ins(%[[C:.*]], {{.*}} outs(%[[C]] : {{.*}}) {mask = 0 : i64}
func.func @no_element(%c: !c, %a: !a, %b: !b) {
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c) {mask = 0 : i64}
  return
}

// Registers given by hand stay, also where tiles come from who knows where.
// CHECK-LABEL: func.func @by_hand
// CHECK:         scf.if
// CHECK:         pto.tmatmul_acc ins(%[[C:.*]], {{.*}} outs(%[[D:.*]] :
func.func @by_hand(%c: !c, %d: !c, %a: !a, %b: !b, %p: i1) {
  %x = scf.if %p -> !c {
    scf.yield %c : !c
  } else {
    scf.yield %d : !c
  }
  %y = pto.tile_alloc : !c
  pto.tmatmul_acc ins(%x, %a, %b : !c, !a, !b) outs(%y : !c)
  return
}

// CHECK-LABEL: func.func private @declaration
func.func private @declaration(!c)
}
