// Which matmuls form a run of column tiles.
// RUN: %pto_opt --pto-order-column-tiles -split-input-file %s | FileCheck %s
// RUN: %pto_opt --pto-order-column-tiles -split-input-file %s -o %t.once
// RUN: %pto_opt --pto-order-column-tiles -split-input-file %t.once | diff %t.once -
// RUN: %pto_opt --pto-order-column-tiles=restart-at-origin -split-input-file %s | FileCheck %s --check-prefix=RESTART
// RUN: %pto_opt --pto-order-column-tiles=ignore-other-engines -split-input-file %s | FileCheck %s --check-prefix=IGNORE

!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x64xbf16, #pto.mem<sbuf>>
!acc = memref<128x64xf32, #pto.mem<psum>>
!t0 = memref<32x64xf32, strided<[64, 1]>, #pto.mem<psum>>
!t1 = memref<32x64xf32, strided<[64, 1], offset: 2048>, #pto.mem<psum>>
!t2 = memref<32x64xf32, strided<[64, 1], offset: 4096>, #pto.mem<psum>>

// A tile at the origin opens a run; each further one waits for the one before it.
// CHECK-LABEL: func.func @run
// CHECK:         %[[T0:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
// CHECK-NEXT:    %[[T1:.*]] = pto.tmatmul {{.*}} at(0, 32) after(%[[T0]]) -> !pto.token
// CHECK-NEXT:    pto.tmatmul {{.*}} at(0, 64) after(%[[T1]])
// CHECK-NOT:     inserted
func.func @run(%w: !w, %x: !x) {
  %a = pto.psum_alloc : !acc
  %0 = memref.subview %a[0, 0] [32, 64] [1, 1] : !acc to !t0
  %1 = memref.subview %a[32, 0] [32, 64] [1, 1] : !acc to !t1
  %2 = memref.subview %a[64, 0] [32, 64] [1, 1] : !acc to !t2
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%2 : !t2) tile(128, 32) at(0, 64)
  return
}

// Nothing is open before the first tile at the origin.
// CHECK-LABEL: func.func @no_opener
// CHECK-NOT:     after
func.func @no_opener(%w: !w, %x: !x) {
  %a = pto.psum_alloc : !acc
  %1 = memref.subview %a[32, 0] [32, 64] [1, 1] : !acc to !t1
  %2 = memref.subview %a[64, 0] [32, 64] [1, 1] : !acc to !t2
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%2 : !t2) tile(128, 32) at(0, 64)
  return
}

// A second tile at the origin joins, unless it is asked to begin anew.
// CHECK-LABEL: func.func @origin_twice
// CHECK:         at(0, 0) -> !pto.token
// CHECK-NEXT:    at(0, 0) after(%{{.*}}) -> !pto.token
// CHECK-NEXT:    at(0, 32) after(
// RESTART-LABEL: func.func @origin_twice
// RESTART:       at(0, 0){{$}}
// RESTART-NEXT:  at(0, 0) -> !pto.token
// RESTART-NEXT:  at(0, 32) after(
func.func @origin_twice(%w: !w, %x: !x) {
  %a = pto.psum_alloc : !acc
  %0 = memref.subview %a[0, 0] [32, 64] [1, 1] : !acc to !t0
  %1 = memref.subview %a[32, 0] [32, 64] [1, 1] : !acc to !t1
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  return
}

// Another instruction ends the run: of another engine too, unless those are ignored. Pure ops do not.
// CHECK-LABEL: func.func @ended_by_a_copy
// CHECK:         at(0, 0){{$}}
// CHECK-NOT:     after
// IGNORE-LABEL: func.func @ended_by_a_copy
// IGNORE:        at(0, 0) -> !pto.token
// IGNORE:        at(0, 32) after(
func.func @ended_by_a_copy(%w: !w, %x: !x, %y: memref<128x64xbf16>) {
  %a = pto.psum_alloc : !acc
  %0 = memref.subview %a[0, 0] [32, 64] [1, 1] : !acc to !t0
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  pto.copy %y, %x : memref<128x64xbf16>, !x
  %1 = memref.subview %a[32, 0] [32, 64] [1, 1] : !acc to !t1
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  return
}

// Upstream's operations on sbuf are instructions; those on other memory and pure ones are not.
// CHECK-LABEL: func.func @foreign_ops
// CHECK:         %[[T0:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
// CHECK:         pto.tmatmul {{.*}} at(0, 32) after(%[[T0]]){{$}}
// CHECK:         linalg.fill
// CHECK-NEXT:    pto.tmatmul {{.*}} at(0, 64){{$}}
func.func @foreign_ops(%w: !w, %x: !x, %y: memref<4xf32>) {
  %a = pto.psum_alloc : !acc
  %zero = arith.constant 0.0 : bf16
  %i = arith.constant 0 : index
  %0 = memref.subview %a[0, 0] [32, 64] [1, 1] : !acc to !t0
  %1 = memref.subview %a[32, 0] [32, 64] [1, 1] : !acc to !t1
  %2 = memref.subview %a[64, 0] [32, 64] [1, 1] : !acc to !t2
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  %f = memref.load %y[%i] : memref<4xf32>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  linalg.fill ins(%zero : bf16) outs(%x : !x)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%2 : !t2) tile(128, 32) at(0, 64)
  return
}

// Tiles of another size do not belong to it, and whole matmuls neither.
!w64 = memref<128x64xbf16, #pto.mem<sbuf>>
!t64 = memref<64x64xf32, strided<[64, 1], offset: 4096>, #pto.mem<psum>>
// CHECK-LABEL: func.func @other_size
// CHECK-NOT:     after
func.func @other_size(%w: !w, %w64: !w64, %x: !x) {
  %a = pto.psum_alloc : !acc
  %0 = memref.subview %a[0, 0] [32, 64] [1, 1] : !acc to !t0
  %2 = memref.subview %a[64, 0] [64, 64] [1, 1] : !acc to !t64
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
  pto.tmatmul ins(%w64, %x : !w64, !x) outs(%2 : !t64) tile(128, 64) at(0, 64)
  return
}

// A nested region ends the run around it and is looked at by itself. The buffer may be anything.
// CHECK-LABEL: func.func @nested
// CHECK:         at(0, 0){{$}}
// CHECK:         scf.if
// CHECK:           %[[T0:.*]] = pto.tmatmul {{.*}} at(0, 0) -> !pto.token
// CHECK-NEXT:      pto.tmatmul {{.*}} at(0, 32) after(%[[T0]])
// CHECK:         at(0, 32){{$}}
func.func @nested(%w: !w, %x: !x, %0: !t0, %1: !t1, %c: i1) {
  %s = arith.select %c, %0, %0 : !t0
  pto.tmatmul ins(%w, %x : !w, !x) outs(%s : !t0) tile(128, 32) at(0, 0)
  scf.if %c {
    pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0)
    pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  }
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  return
}

// Flags stay as they are.
// CHECK-LABEL: func.func @flags
// CHECK:         at(0, 0) acc<start> zero_region(0) -> !pto.token
func.func @flags(%w: !w, %x: !x, %0: !t0, %1: !t1) {
  pto.tmatmul ins(%w, %x : !w, !x) outs(%0 : !t0) tile(128, 32) at(0, 0) acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%1 : !t1) tile(128, 32) at(0, 32)
  return
}
