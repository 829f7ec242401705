// Inlining keeps flags, tiles, tokens and marks.
// RUN: %pto_opt %s -inline | FileCheck %s
// RUN: %pto_opt %s -mlir-print-op-generic -inline | FileCheck %s --check-prefix=GENERIC

!W = memref<128x32xbf16, #pto.mem<sbuf>>
!X = memref<128x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

func.func private @step(%w: !W, %x: !X, %c: !C, %p: i1) {
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) tile(128, 32) at(0, 32) acc<start> zero_region(1) -> !pto.token {inserted_token}
  %u = pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) acc<none> stop_if(%p) after(%t) -> !pto.token {inserted_after = array<i32: 0>}
  %z = arith.constant 0.0 : f32
  %d = pto.psum_alloc bank(1) offset(4) partition(32) : !C
  pto.memset %z, %d : f32, !C engine(gpsimd) after(%u) {inserted}
  pto.copy %d, %c : !C, !C engine(scalar)
  pto.expect_close %c, dense<0.0> : tensor<32x16xf32>, !C {ulp = 1}
  return
}

// CHECK-LABEL: func.func @main
func.func @main(%w: !W, %x: !X, %c: !C, %p: i1) {
  // CHECK-NOT: call
  // CHECK: %[[T:.*]] = pto.tmatmul {{.*}}) tile(128, 32) at(0, 32) acc<start> zero_region(1) -> !pto.token {inserted_token}
  // CHECK: %[[U:.*]] = pto.tmatmul_acc {{.*}}) acc<none> stop_if(%{{.*}}) after(%[[T]]) -> !pto.token {inserted_after = array<i32: 0>}
  // CHECK: pto.psum_alloc bank(1) offset(4) partition(32) :
  // CHECK: pto.memset {{.*}} engine(gpsimd) after(%[[U]]) {inserted}
  // CHECK: pto.copy {{.*}} engine(scalar)
  // CHECK: pto.expect_close {{.*}} {ulp = 1 : i64}
  // GENERIC-LABEL: sym_name = "main"
  // GENERIC: "pto.tmatmul"({{.*}}) <{acc = #pto.acc<start>, inserted_token, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, tile_position = array<i32: 0, 32>, tile_size = array<i32: 128, 32>, zero_region = 1 : i64}>
  // GENERIC: "pto.tmatmul_acc"({{.*}}) <{acc = #pto.acc<none>, inserted_after = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0>}>
  // GENERIC: "pto.psum_alloc"() <{bank = 1 : i64, offset = 4 : i64, partition = 32 : i64}>
  // GENERIC: "pto.memset"({{.*}}) <{engine = #pto.engine<gpsimd>, inserted}>
  // GENERIC: "pto.copy"({{.*}}) <{engine = #pto.engine<scalar>}>
  // GENERIC: "pto.expect_close"({{.*}}) <{expected = dense<0.000000e+00> : tensor<32x16xf32>, ulp = 1 : i64}>
  func.call @step(%w, %x, %c, %p) : (!W, !X, !C, i1) -> ()
  return
}
