// Findings that hold under one meaning of START or one reading of its partitions name it, and are not
// there when it is not asked for.
// RUN: not %pto_opt --pto-verify-acc=target=trn3 %s -o /dev/null 2>&1 | FileCheck %s --check-prefixes=WRITTEN,EAGER,GROUP
// RUN: not %pto_opt --pto-verify-acc='target=trn3 model=written-bit' %s -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ONLY-WRITTEN
// RUN: not %pto_opt --pto-verify-acc='target=trn3 model=eager-zero' %s -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ONLY-EAGER
// RUN: not %pto_opt --pto-verify-acc='target=trn3 extent=dst' %s -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ONLY-DST

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!half = memref<128x64xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!rows = memref<64x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
!top = memref<64x128xf32>

// A START over zeros: pending under written-bit, zero as before under eager-zero.
func.func @written_only(%w: !w, %out: !out) {
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  pto.memset %zero, %b : f32, !acc
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  // WRITTEN: models.mlir:[[#@LINE+6]]:{{.*}} error: expected a value that is still needed here, found that a later start clears it: partitions 0..128, bytes 0..512 of the buffer (under written-bit) [pto:start-clobbers]
  // WRITTEN: models.mlir:[[#@LINE-2]]:{{.*}} note: the start is here
  // ONLY-WRITTEN: models.mlir:[[#@LINE+4]]:{{.*}} of the buffer [pto:start-clobbers]
  // ONLY-WRITTEN: models.mlir:[[#@LINE-4]]:{{.*}} note: the start is here
  // ONLY-EAGER-NOT: models.mlir:[[#@LINE+2]]:
  // ONLY-DST: models.mlir:[[#@LINE+1]]:{{.*}} (under written-bit) [pto:start-clobbers]
  pto.copy %b, %out : !acc, !out
  pto.copy %a, %out : !acc, !out
  return
}

// A START over a value whose pending bits ACCUMULATE clears: the value survives under written-bit.
func.func @eager_only(%w: !w, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  pto.copy %out, %b : !out, !acc
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !acc) acc<start|stop> zero_region(0)
  // EAGER: models.mlir:[[#@LINE+6]]:{{.*}} error: expected a value that is still needed here, found that a later start clears it: partitions 0..128, bytes 0..512 of the buffer (under eager-zero) [pto:start-clobbers]
  // EAGER: models.mlir:[[#@LINE-2]]:{{.*}} note: the start is here
  // ONLY-EAGER: models.mlir:[[#@LINE+4]]:{{.*}} of the buffer [pto:start-clobbers]
  // ONLY-EAGER: models.mlir:[[#@LINE-4]]:{{.*}} note: the start is here
  // ONLY-WRITTEN-NOT: models.mlir:[[#@LINE+2]]:
  // ONLY-DST: models.mlir:[[#@LINE+1]]:{{.*}} (under eager-zero) [pto:start-clobbers]
  pto.tmatmul_acc ins(%b, %w, %w : !acc, !w, !w) outs(%b : !acc) acc<stop|accumulate> zero_region(0)
  pto.copy %b, %out : !acc, !out
  pto.copy %a, %out : !acc, !out
  return
}

// A START on 64 rows without a tile: its column group has all 128 partitions.
func.func @group_only(%w: !w, %half: !half, %top: !top) {
  %a = pto.psum_alloc bank(0) : !rows
  %b = pto.psum_alloc bank(0) offset(512) partition(64) : !rows
  pto.copy %top, %b : !top, !rows
  pto.tmatmul ins(%half, %w : !half, !w) outs(%a : !rows) acc<start|stop> zero_region(0)
  // GROUP: models.mlir:[[#@LINE+3]]:{{.*}} of the buffer (under written-bit with regions of whole column groups, eager-zero with regions of whole column groups) [pto:start-clobbers]
  // GROUP: models.mlir:[[#@LINE-2]]:{{.*}} note: the start is here
  // ONLY-DST-NOT: models.mlir:[[#@LINE+1]]:
  pto.copy %b, %top : !rows, !top
  pto.copy %a, %top : !rows, !top
  return
}
