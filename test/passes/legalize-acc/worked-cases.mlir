// Small programs, each with the flags that are right for it. A letter is a location, a number counts
// its matmuls. A location of 128 columns takes 512 of the 2048 bytes of a bank.
// RUN: %pto_opt --pto-legalize-acc='target=trn2 validate' %s | FileCheck %s --check-prefixes=CHECK,TRN2
// RUN: %pto_opt --pto-legalize-acc='target=trn3 validate' %s | FileCheck %s --check-prefixes=CHECK,TRN3

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// A0 A1 A2: the first of a group is START, the last STOP.
// CHECK-LABEL: func.func @chain
func.func @chain(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<none> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// A0: both.
// CHECK-LABEL: func.func @single
func.func @single(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start|stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// The first write to a fresh location overwrites, whatever the op says.
// CHECK-LABEL: func.func @begins_by_accumulating
func.func @begins_by_accumulating(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.tmatmul_acc {{.*}} acc<start> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// A0 B0 A1 B1 in one bank, other columns: one START for the bank, B begins where it left pending bits.
// CHECK-LABEL: func.func @interleaved
func.func @interleaved(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<none> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// A0 A1 B0 B1: A is unread when B begins, so B may not START.
// CHECK-LABEL: func.func @unread
func.func @unread(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<none> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// A0 A1, read A, B0 B1: two groups.
// CHECK-LABEL: func.func @read_between
func.func @read_between(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.copy %b, %out : !acc, !out
  return
}

// A0 B0, read A, C0 B1 C1, C in the place of A: B is open all along, so C begins on a memset.
// CHECK-LABEL: func.func @reuse_under_an_open_group
func.func @reuse_under_an_open_group(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // CHECK: pto.tmatmul {{.*}} outs(%[[A:.*]] : {{.*}}) acc<start|stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<none> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  pto.copy %a, %out : !acc, !out
  // CHECK: pto.memset %{{.*}}, %[[A]] : f32, memref<128x128xf32, #pto.mem<psum>> {{.*}}{inserted
  // CHECK-NEXT: pto.tmatmul {{.*}} outs(%[[A]] : {{.*}}) acc<none> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// Column tiles in other partitions of one bank: the region of a START ends at its column group.
!w32 = memref<128x32xbf16, #pto.mem<sbuf>>
!tile = memref<32x128xf32, #pto.mem<psum>>
// CHECK-LABEL: func.func @column_tiles
func.func @column_tiles(%w: !w32, %x: !x, %out: memref<32x128xf32>) {
  %a = pto.psum_alloc bank(0) partition(0) : !tile
  %b = pto.psum_alloc bank(0) partition(32) : !tile
  // CHECK: pto.tmatmul {{.*}} tile(128, 32) at(0, 0) acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w32, !x) outs(%a : !tile) tile(128, 32) at(0, 0)
  // CHECK: pto.tmatmul {{.*}} tile(128, 32) at(0, 32) acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w32, !x) outs(%b : !tile) tile(128, 32) at(0, 32)
  // CHECK: pto.tmatmul_acc {{.*}} tile(128, 32) at(0, 0) acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !tile, !w32, !x) outs(%a : !tile) tile(128, 32) at(0, 0)
  // CHECK: pto.tmatmul_acc {{.*}} tile(128, 32) at(0, 32) acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w, %x : !tile, !w32, !x) outs(%b : !tile) tile(128, 32) at(0, 32)
  pto.copy %a, %out : !tile, memref<32x128xf32>
  pto.copy %b, %out : !tile, memref<32x128xf32>
  return
}

// B0 A0 B1 A1, A on all partitions, B in a tile of 32 at 64: the START of B covers only its own.
// CHECK-LABEL: func.func @tile_under_whole_columns
func.func @tile_under_whole_columns(%w: !w, %w32: !w32, %x: !x, %out: !out, %o: memref<32x128xf32>) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) partition(64) : !tile
  // CHECK: pto.tmatmul {{.*}} tile(128, 32) at(0, 64) acc<start> zero_region(0)
  pto.tmatmul ins(%w32, %x : !w32, !x) outs(%b : !tile) tile(128, 32) at(0, 64)
  // CHECK: pto.memset {{.*}}memref<128x128xf32, #pto.mem<psum>> {{.*}}{inserted
  // CHECK-NEXT: pto.tmatmul {{.*}} acc<none> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} at(0, 64) acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w32, %x : !tile, !w32, !x) outs(%b : !tile) tile(128, 32) at(0, 64)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %o : !tile, memref<32x128xf32>
  return
}

// A matmul of 64 rows without a tile has the whole array as its column group, and covers its rows.
!w64 = memref<128x64xbf16, #pto.mem<sbuf>>
!rows = memref<64x128xf32, #pto.mem<psum>>
// CHECK-LABEL: func.func @tile_under_fewer_rows
func.func @tile_under_fewer_rows(%w64: !w64, %w32: !w32, %x: !x, %out: memref<64x128xf32>, %o: memref<32x128xf32>) {
  %a = pto.psum_alloc bank(0) : !rows
  %b = pto.psum_alloc bank(0) partition(96) : !tile
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w64, %x : !w64, !x) outs(%a : !rows)
  // CHECK: pto.memset {{.*}}memref<32x128xf32, #pto.mem<psum>> {{.*}}{inserted
  // CHECK-NEXT: pto.tmatmul {{.*}} at(0, 96) acc<stop> zero_region(0)
  pto.tmatmul ins(%w32, %x : !w32, !x) outs(%b : !tile) tile(128, 32) at(0, 96)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w64, %x : !rows, !w64, !x) outs(%a : !rows)
  pto.copy %a, %out : !rows, memref<64x128xf32>
  pto.copy %b, %o : !tile, memref<32x128xf32>
  return
}

// memset 0, A0 A1: the zero disappears into START; with ACCUMULATE it stays.
// CHECK-LABEL: func.func @zero_seeded
func.func @zero_seeded(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %zero = arith.constant 0.0 : f32
  // CHECK: pto.memset
  pto.memset %zero, %a : f32, !acc
  // TRN2: pto.tmatmul_acc {{.*}} acc<start> zero_region(0)
  // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  // TRN2: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  // TRN3: pto.tmatmul_acc {{.*}} acc<stop|accumulate> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// The same zero by upstream's fill.
// CHECK-LABEL: func.func @filled
func.func @filled(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : !acc)
  // TRN2: pto.tmatmul_acc {{.*}} acc<start|stop> zero_region(0)
  // TRN3: pto.tmatmul_acc {{.*}} acc<stop|accumulate> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// memset 0 on all columns, A0 on half of them, read all: a START would leave the other half pending.
!xhalf = memref<128x64xbf16, #pto.mem<sbuf>>
!half = memref<128x64xf32, strided<[128, 1]>, #pto.mem<psum>>
// CHECK-LABEL: func.func @zero_seeded_in_part
func.func @zero_seeded_in_part(%w: !w, %x: !xhalf, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %h = memref.subview %a[0, 0] [128, 64] [1, 1] : !acc to !half
  %zero = arith.constant 0.0 : f32
  pto.memset %zero, %a : f32, !acc
  // TRN2: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  // TRN3: pto.tmatmul_acc {{.*}} acc<stop|accumulate> zero_region(0)
  pto.tmatmul_acc ins(%h, %w, %x : !half, !w, !xhalf) outs(%h : !half)
  pto.copy %a, %out : !acc, !out
  return
}

// A0 on all columns, A1 on half of the same location: one group, which ends cell by cell.
// CHECK-LABEL: func.func @half_ends_later
func.func @half_ends_later(%w: !w, %x: !x, %xh: !xhalf, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %h = memref.subview %a[0, 0] [128, 64] [1, 1] : !acc to !half
  // CHECK: pto.tmatmul {{.*}} acc<start|stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%h, %w, %xh : !half, !w, !xhalf) outs(%h : !half)
  pto.copy %a, %out : !acc, !out
  return
}
