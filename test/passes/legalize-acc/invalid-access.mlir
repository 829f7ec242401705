// What is not a known set of cells is refused, with the place that hides it.
// RUN: %pto_opt --pto-legalize-acc -split-input-file -verify-diagnostics %s
// RUN: %pto_opt --pto-mark-first -split-input-file -verify-diagnostics %s
// RUN: %pto_opt --pto-verify-acc -split-input-file -verify-diagnostics %s

!w = memref<128x64xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!acc = memref<64x256xf32, #pto.mem<psum>>
func.func @select(%w: !w, %x: !x, %c: i1) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  // expected-note @+1 {{made here; a branch with the matmul in both arms knows which one}}
  %s = arith.select %c, %a, %b : !acc
  // expected-error @+1 {{expected a psum buffer that is known before run time, found one made by `arith.select` [pto:dynamic-access]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !acc)
  return
}

// -----

// A buffer that leaves the function is live after it, so it must be known too.
!acc = memref<64x256xf32, #pto.mem<psum>>
func.func @returned(%c: i1) -> !acc {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  // expected-note @+1 {{made here}}
  %s = scf.if %c -> !acc {
    scf.yield %a : !acc
  } else {
    scf.yield %b : !acc
  }
  // expected-error @+1 {{found one made by `scf.if` [pto:dynamic-access]}}
  return %s : !acc
}

// -----

!acc = memref<64x256xf32, #pto.mem<psum>>
!out = memref<64x256xf32>
func.func @iter_arg(%out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  // expected-note @+1 {{carried by this; buffers that take turns are known once it is unrolled as often, and canonicalized}}
  scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %a, %q = %b) -> (!acc, !acc) {
    // expected-error @+1 {{found a block argument [pto:dynamic-access]}}
    pto.copy %p, %out : !acc, !out
    scf.yield %q, %p : !acc, !acc
  }
  return
}

// -----

!acc = memref<64x256xf32, #pto.mem<psum>>
!out = memref<64x256xf32>
func.func @branch(%out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  cf.br ^bb1(%a : !acc)
^bb1(%p: !acc):
  // expected-error @+1 {{found a block argument [pto:dynamic-access]}}
  pto.copy %p, %out : !acc, !out
  return
}

// -----

!acc = memref<64x256xf32, #pto.mem<psum>>
!out = memref<64x256xf32>
func.func private @make() -> !acc
func.func @call_result(%out: !out) {
  // expected-note @+1 {{made here}}
  %a = call @make() : () -> !acc
  // expected-error @+1 {{found one made by `func.call` [pto:dynamic-access]}}
  pto.copy %a, %out : !acc, !out
  return
}

// -----

!big = memref<128x256xf32, #pto.mem<psum>>
!view = memref<64x256xf32, strided<[256, 1], offset: ?>, #pto.mem<psum>>
func.func @offset(%out: memref<64x256xf32>, %i: index) {
  %a = pto.psum_alloc bank(0) : !big
  // expected-note @+1 {{not static from here on}}
  %v = memref.subview %a[%i, 0] [64, 256] [1, 1] : !big to !view
  // expected-error @+1 {{expected a view of psum with static offset, sizes and strides, found memref<64x256xf32, strided<[256, 1], offset: ?>, #pto.mem<psum>> [pto:dynamic-access]}}
  pto.copy %v, %out : !view, memref<64x256xf32>
  return
}

// -----

func.func @size(%n: index) {
  // expected-error @+1 {{expected a psum buffer of static shape and layout, found memref<?x256xf32, #pto.mem<psum>> [pto:dynamic-access]}}
  %a = memref.alloc(%n) : memref<?x256xf32, #pto.mem<psum>>
  // It is said once: what uses the buffer says nothing more.
  memref.dealloc %a : memref<?x256xf32, #pto.mem<psum>>
  return
}

// -----

// expected-error @+1 {{expected a psum buffer of static shape and layout, found memref<*xf32, #pto.mem<psum>> [pto:dynamic-access]}}
func.func @unranked(%a: memref<*xf32, #pto.mem<psum>>) {
  return
}

// -----

// expected-error @+1 {{expected a psum buffer with the identity layout, found memref<64x256xf32, strided<[512, 1]>, #pto.mem<psum>> [pto:view]}}
func.func @padded(%a: memref<64x256xf32, strided<[512, 1]>, #pto.mem<psum>>) {
  return
}

// -----

!big = memref<128x256xf32, #pto.mem<psum>>
!view = memref<64x256xf32, strided<[512, 1]>, #pto.mem<psum>>
func.func @partition_step(%out: memref<64x256xf32>) {
  // expected-note @+1 {{the allocation is here}}
  %a = pto.psum_alloc bank(0) : !big
  %v = memref.subview %a[0, 0] [64, 256] [2, 1] : !big to !view
  // expected-error @+1 {{expected dimension 0 to be the partitions with step 1, which is a stride of 256 elements here, found a stride of 512 [pto:view]}}
  pto.copy %v, %out : !view, memref<64x256xf32>
  return
}

// -----

!big = memref<128x128xf32, #pto.mem<psum>>
!view = memref<128x128xf32, strided<[1, 128]>, #pto.mem<psum>>
func.func @transposed(%out: memref<128x128xf32>) {
  // expected-note @+1 {{the allocation is here}}
  %a = pto.psum_alloc bank(0) : !big
  %v = memref.transpose %a (i, j) -> (j, i) : !big to !view
  // expected-error @+1 {{found a stride of 1 [pto:view]}}
  pto.copy %v, %out : !view, memref<128x128xf32>
  return
}

// -----

!big = memref<4x16xf32, #pto.mem<psum>>
!flat = memref<64xf32, #pto.mem<psum>>
func.func @partitions_collapsed(%out: memref<64xf32>) {
  // expected-note @+1 {{the allocation is here}}
  %a = pto.psum_alloc bank(0) : !big
  %v = memref.collapse_shape %a [[0, 1]] : !big into !flat
  // expected-error @+1 {{found a stride of 1 [pto:view]}}
  pto.copy %v, %out : !flat, memref<64xf32>
  return
}

// -----

!big = memref<64x256xf32, #pto.mem<psum>>
!view = memref<65x256xf32, #pto.mem<psum>>
func.func @outside(%out: memref<65x256xf32>) {
  // expected-note @+1 {{the allocation is here}}
  %a = pto.psum_alloc bank(0) : !big
  %v = memref.reinterpret_cast %a to offset: [0], sizes: [65, 256], strides: [256, 1] : !big to !view
  // expected-error @+1 {{expected partitions within 0..64, found 0..65 [pto:view]}}
  pto.copy %v, %out : !view, memref<65x256xf32>
  return
}

// -----

!big = memref<64x256xf32, #pto.mem<psum>>
!view = memref<2x16xf32, strided<[256, 1], offset: 250>, #pto.mem<psum>>
func.func @across_partitions(%out: memref<2x16xf32>) {
  // expected-note @+1 {{the allocation is here}}
  %a = pto.psum_alloc bank(0) : !big
  %v = memref.reinterpret_cast %a to offset: [250], sizes: [2, 16], strides: [256, 1] : !big to !view
  // expected-error @+1 {{expected every row of the view to stay within the 256 elements of one partition of its allocation [pto:view]}}
  pto.copy %v, %out : !view, memref<2x16xf32>
  return
}

// -----

!psum = memref<64x256xf32, #pto.mem<psum>>
func.func @space_cast() {
  %a = pto.psum_alloc bank(0) : !psum
  // expected-error @+1 {{expected a buffer in psum to stay there, found a cast from memref<64x256xf32, #pto.mem<psum>> to memref<64x256xf32> [pto:view]}}
  %v = memref.memory_space_cast %a : !psum to memref<64x256xf32>
  return
}
