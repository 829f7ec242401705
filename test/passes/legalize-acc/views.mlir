// Two values are one location where their cells are equal, however they were made. Every chain below
// is A0 A1 on the lower half of partitions and the upper half of columns: one group, no memset.
// RUN: %pto_opt --pto-legalize-acc %s | FileCheck %s
// RUN: %pto_opt --pto-legalize-acc %s | %pto_opt --pto-legalize-acc | FileCheck %s

!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!big = memref<128x256xf32, #pto.mem<psum>>
!view = memref<64x128xf32, strided<[256, 1], offset: 128>, #pto.mem<psum>>
!any = memref<?x?xf32, strided<[?, ?], offset: ?>, #pto.mem<psum>>
!split = memref<128x2x128xf32, #pto.mem<psum>>
!part = memref<64x1x128xf32, strided<[256, 128, 1], offset: 128>, #pto.mem<psum>>
!out = memref<64x128xf32>

// CHECK-LABEL: func.func @two_subviews
func.func @two_subviews(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !big
  %u = memref.subview %a[0, 128] [64, 128] [1, 1] : !big to !view
  %v = memref.subview %a[0, 128] [64, 128] [1, 1] : !big to !view
  // CHECK-NOT: pto.memset
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%u : !view)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%v, %w, %x : !view, !w, !x) outs(%v : !view)
  pto.copy %u, %out : !view, !out
  return
}

// CHECK-LABEL: func.func @subview_of_subview
func.func @subview_of_subview(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !big
  %u = memref.subview %a[0, 128] [64, 128] [1, 1] : !big to !view
  %r = memref.subview %a[0, 64] [96, 192] [1, 1] : !big to memref<96x192xf32, strided<[256, 1], offset: 64>, #pto.mem<psum>>
  %v = memref.subview %r[0, 64] [64, 128] [1, 1] : memref<96x192xf32, strided<[256, 1], offset: 64>, #pto.mem<psum>> to !view
  // CHECK: pto.tmatmul {{.*}} acc<start>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%u : !view)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop>
  pto.tmatmul_acc ins(%v, %w, %x : !view, !w, !x) outs(%v : !view)
  pto.copy %u, %out : !view, !out
  return
}

// A type may hide what the views say.
// CHECK-LABEL: func.func @hidden_by_a_cast
func.func @hidden_by_a_cast(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !big
  %u = memref.subview %a[0, 128] [64, 128] [1, 1] : !big to !view
  %d = memref.cast %a : !big to !any
  %e = memref.subview %d[0, 128] [64, 128] [1, 1] : !any to memref<64x128xf32, strided<[?, ?], offset: ?>, #pto.mem<psum>>
  %v = memref.cast %e : memref<64x128xf32, strided<[?, ?], offset: ?>, #pto.mem<psum>> to !any
  // CHECK: pto.tmatmul {{.*}} acc<start>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%u : !view)
  // CHECK: pto.copy {{.*}}
  pto.copy %v, %out : !any, !out
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop>
  pto.tmatmul_acc ins(%u, %w, %x : !view, !w, !x) outs(%u : !view)
  pto.copy %u, %out : !view, !out
  return
}

// CHECK-LABEL: func.func @reshaped
func.func @reshaped(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !split
  %f = memref.collapse_shape %a [[0], [1, 2]] : !split into !big
  %u = memref.subview %f[0, 128] [64, 128] [1, 1] : !big to !view
  %p = memref.subview %a[0, 1, 0] [64, 1, 128] [1, 1, 1] : !split to !part
  %v = memref.collapse_shape %p [[0], [1, 2]] : !part into !view
  %e = memref.expand_shape %f [[0], [1, 2]] output_shape [128, 2, 128] : !big into !split
  %q = memref.subview %e[0, 1, 0] [64, 1, 128] [1, 1, 1] : !split to !view
  // CHECK: pto.tmatmul {{.*}} acc<start>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%u : !view)
  // CHECK: pto.tmatmul_acc {{.*}} acc<none>
  pto.tmatmul_acc ins(%v, %w, %x : !view, !w, !x) outs(%v : !view)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop>
  pto.tmatmul_acc ins(%q, %w, %x : !view, !w, !x) outs(%q : !view)
  pto.copy %u, %out : !view, !out
  return
}

// Columns that are not neighbours: two locations in one bank, the second of which begins where the
// START of the first left it pending.
!even = memref<64x128xf32, strided<[256, 2]>, #pto.mem<psum>>
!odd = memref<64x128xf32, strided<[256, 2], offset: 1>, #pto.mem<psum>>
// CHECK-LABEL: func.func @interleaved_columns
func.func @interleaved_columns(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !big
  %even = memref.subview %a[0, 0] [64, 128] [1, 2] : !big to !even
  %odd = memref.subview %a[0, 1] [64, 128] [1, 2] : !big to !odd
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%even : !even)
  // CHECK: pto.tmatmul {{.*}} acc<stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%odd : !odd)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%even, %w, %x : !even, !w, !x) outs(%even : !even)
  pto.copy %even, %out : !even, !out
  pto.copy %odd, %out : !odd, !out
  return
}
