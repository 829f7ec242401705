// Back to auto: all flags, and what legalization inserted. What the author wrote stays.
// RUN: %pto_opt --pto-reset-acc %s | FileCheck %s
// RUN: %pto_opt --pto-reset-acc %s -o %t.auto
// RUN: %pto_opt --pto-legalize-acc %t.auto -o %t.legal
// RUN: %pto_opt --pto-reset-acc %t.legal | diff %t.auto -
// RUN: %pto_opt --pto-reset-acc --pto-legalize-acc %t.legal | diff %t.legal -
// RUN: %pto_opt --canonicalize --cse --pto-reset-acc --pto-legalize-acc --canonicalize --cse %t.legal -o %t.clean
// RUN: %pto_opt --canonicalize --cse %t.legal | diff %t.clean -

!w = memref<128x64xbf16, #pto.mem<sbuf>>
!w32 = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!x64 = memref<128x64xbf16, #pto.mem<sbuf>>
!small = memref<32x128xf32, #pto.mem<psum>>
!big = memref<64x128xf32, #pto.mem<psum>>
!half = memref<64x64xf32, strided<[128, 1]>, #pto.mem<psum>>
!split = memref<64x2x64xf32, #pto.mem<psum>>

// CHECK-LABEL: func.func @flags
// CHECK-NOT:     attributes
func.func @flags(%w: !w, %x: !x, %out: memref<64x128xf32>) attributes {pto.acc_provisional, pto.acc_legalized} {
  %a = pto.psum_alloc bank(0) : !big
  // CHECK: pto.tmatmul {{.*}} outs(%{{.*}} : memref<64x128xf32, #pto.mem<psum>>){{$}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !big) acc<start|stop> zero_region(0)
  // CHECK: pto.tmatmul_acc {{.*}} outs(%{{.*}} : memref<64x128xf32, #pto.mem<psum>>){{$}}
  pto.tmatmul_acc ins(%a, %w, %x : !big, !w, !x) outs(%a : !big) zero_region(0)
  pto.copy %a, %out : !big, memref<64x128xf32>
  return
}

// Legalizing this takes a memset of an access, one of a rectangle, and tokens.
// CHECK-LABEL: func.func @memsets
func.func @memsets(%w: !w, %w32: !w32, %x: !x, %x64: !x64, %o: memref<32x128xf32>, %p: memref<64x128xf32>) {
  %s = pto.psum_alloc bank(0) : !small
  %a = pto.psum_alloc bank(0) offset(512) : !big
  %h = memref.subview %a[0, 0] [64, 64] [1, 1] : !big to !half
  pto.tmatmul ins(%w32, %x : !w32, !x) outs(%s : !small)
  pto.tmatmul ins(%w, %x64 : !w, !x64) outs(%h : !half)
  pto.tmatmul_acc ins(%a, %w, %x : !big, !w, !x) outs(%a : !big)
  pto.copy %s, %o : !small, memref<32x128xf32>
  pto.copy %a, %p : !big, memref<64x128xf32>
  return
}

// The same in an allocation that is no matrix.
// CHECK-LABEL: func.func @memsets_of_rank_3
func.func @memsets_of_rank_3(%w: !w, %w32: !w32, %x: !x, %x64: !x64, %o: memref<32x128xf32>, %p: memref<64x128xf32>) {
  %s = pto.psum_alloc bank(0) : !small
  %a3 = pto.psum_alloc bank(0) offset(512) : !split
  %a = memref.collapse_shape %a3 [[0], [1, 2]] : !split into !big
  %h = memref.subview %a[0, 0] [64, 64] [1, 1] : !big to !half
  pto.tmatmul ins(%w32, %x : !w32, !x) outs(%s : !small)
  pto.tmatmul ins(%w, %x64 : !w, !x64) outs(%h : !half)
  pto.tmatmul_acc ins(%a, %w, %x : !big, !w, !x) outs(%a : !big)
  pto.copy %s, %o : !small, memref<32x128xf32>
  pto.copy %a, %p : !big, memref<64x128xf32>
  return
}

// A memset and a token of the author stay, beside those that were inserted.
// CHECK-LABEL: func.func @own_memset
// CHECK:         %[[T:.*]] = pto.memset {{.*}} -> !pto.token{{$}}
// CHECK-NEXT:    pto.tmatmul_acc {{.*}} after(%[[T]]){{$}}
func.func @own_memset(%w: !w, %x: !x, %out: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(0) : !big
  %i = pto.memset %zero, %a : f32, !big -> !pto.token {inserted}
  %t = pto.memset %zero, %a : f32, !big -> !pto.token
  pto.tmatmul_acc ins(%a, %w, %x : !big, !w, !x) outs(%a : !big) after(%i, %t) {inserted_after = array<i32: 0>}
  pto.copy %a, %out : !big, memref<64x128xf32>
  return
}
