// Where buffers are put.
// RUN: %pto_opt --pto-alloc-psum -split-input-file %s | FileCheck %s
// RUN: %pto_opt --pto-alloc-psum -split-input-file %s -o %t.once
// RUN: %pto_opt --pto-alloc-psum -split-input-file %t.once | diff %t.once -
// RUN: %pto_opt --pto-alloc-psum=rotate -split-input-file %s | FileCheck %s --check-prefix=ROTATE
// RUN: %pto_opt --pto-alloc-psum=pack -split-input-file %s | FileCheck %s --check-prefix=PACK
// RUN: %pto_opt --pto-alloc-psum=banks=5-6 -split-input-file %s | FileCheck %s --check-prefix=BANKS
// RUN: %pto_opt --pto-alloc-psum --pto-legalize-acc --pto-verify-acc -split-input-file %s | FileCheck %s --check-prefix=LEGAL

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!y = memref<128x256xf32, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>

// The second value is dead when the third begins; allocations of bufferization are placed too.
// CHECK-LABEL: func.func @reuse
// CHECK:         pto.psum_alloc bank(0) offset(0) partition(0) : memref<128x256xf32
// CHECK:         pto.psum_alloc bank(1) offset(0) partition(0) {name = "b"} : memref<128x256xf32
// CHECK:         pto.psum_alloc bank(1) offset(0) partition(0) : memref<128x256xf32
// CHECK-NOT:     memref.alloc()
// CHECK:         memref.dealloc
// ROTATE-LABEL: func.func @reuse
// ROTATE:        psum_alloc bank(0)
// ROTATE:        psum_alloc bank(1)
// ROTATE:        psum_alloc bank(2)
// PACK-LABEL: func.func @reuse
// PACK:          psum_alloc bank(0) offset(0)
// PACK:          psum_alloc bank(0) offset(1024)
// PACK:          psum_alloc bank(0) offset(1024)
// BANKS-LABEL: func.func @reuse
// BANKS:         psum_alloc bank(5)
// BANKS:         psum_alloc bank(6)
// BANKS:         psum_alloc bank(6)
// LEGAL-LABEL: func.func @reuse
// LEGAL-COUNT-3: acc<start|stop>
// LEGAL-NOT:     pto.memset
// LEGAL:         memref.dealloc
func.func @reuse(%w: !w, %x: !x, %y: !y) {
  %a = pto.psum_alloc : !acc
  %b = memref.alloc() {alignment = 64 : i64, name = "b"} : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  pto.copy %b, %y : !acc, !y
  %c = memref.alloca() : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%c : !acc)
  pto.copy %c, %y : !acc, !y
  pto.copy %a, %y : !acc, !y
  memref.dealloc %b : !acc
  return
}

// -----

!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!y = memref<32x256xf32, #pto.mem<sbuf>>
!acc = memref<32x256xf32, #pto.mem<psum>>

// Column tiles say where their buffers begin.
// CHECK-LABEL: func.func @tiles
// CHECK:         psum_alloc bank(0) offset(0) partition(0)
// CHECK:         psum_alloc bank(1) offset(0) partition(64)
// PACK-LABEL: func.func @tiles
// PACK:          psum_alloc bank(0) offset(0) partition(0)
// PACK:          psum_alloc bank(0) offset(0) partition(64)
func.func @tiles(%w: !w, %x: !x, %y: !y) {
  %a = pto.psum_alloc : !acc
  %b = pto.psum_alloc : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) tile(128, 32) at(0, 0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc) tile(128, 32) at(0, 64)
  pto.copy %a, %y : !acc, !y
  pto.copy %b, %y : !acc, !y
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!y = memref<128x256xf32, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>

// What is carried from iteration to iteration lives over the loop, and the argument always.
// CHECK-LABEL: func.func @loop
// CHECK:         psum_alloc bank(1)
// CHECK:         scf.for
// CHECK:           psum_alloc bank(2)
// CHECK:           psum_alloc bank(2)
func.func @loop(%w: !w, %x: !x, %y: !y, %old: !acc {pto.bank = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %a = pto.psum_alloc : !acc
  scf.for %i = %c0 to %c4 step %c1 {
    pto.memset %zero, %a : f32, !acc
    %b = pto.psum_alloc : !acc
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
    pto.copy %b, %y : !acc, !y
    %c = pto.psum_alloc : !acc
    pto.tmatmul ins(%w, %x : !w, !x) outs(%c : !acc)
    pto.copy %c, %y : !acc, !y
  }
  pto.copy %a, %y : !acc, !y
  return
}
