// What upstream passes must leave alone, and what they may take away.
// RUN: %pto_opt %s -split-input-file -canonicalize | FileCheck %s --check-prefixes=CHECK,CANON
// RUN: %pto_opt %s -split-input-file -cse | FileCheck %s
// RUN: %pto_opt %s -split-input-file -loop-invariant-code-motion | FileCheck %s
// RUN: %pto_opt %s -split-input-file -buffer-hoisting | FileCheck %s
// RUN: %pto_opt %s -split-input-file -buffer-loop-hoisting | FileCheck %s
// RUN: %pto_opt %s -split-input-file -sccp -canonicalize -cse -remove-dead-values -loop-invariant-code-motion -control-flow-sink -symbol-dce | FileCheck %s --check-prefixes=CHECK,CANON

!W = memref<128x32xbf16, #pto.mem<sbuf>>
!X = memref<128x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
!Y = memref<32x16xf32, #pto.mem<sbuf>>

// Equal instructions are not one instruction.
// CHECK-LABEL: func.func @equal_instructions
func.func @equal_instructions(%w: !W, %x: !X, %c: !C, %y: !Y, %z: f32) {
  // CHECK-COUNT-2: pto.tmatmul ins
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) tile(128, 32) at(0, 64) acc<start|stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) tile(128, 32) at(0, 64) acc<start|stop> zero_region(0)
  // CHECK-COUNT-2: pto.tmatmul_acc ins({{.*}}) tile(128, 32) at(0, 64) acc<stop>{{$}}
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) tile(128, 32) at(0, 64) acc<stop>
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C) tile(128, 32) at(0, 64) acc<stop>
  // CHECK-COUNT-2: pto.memset
  pto.memset %z, %c : f32, !C
  pto.memset %z, %c : f32, !C
  // CHECK-COUNT-2: pto.copy
  pto.copy %c, %y : !C, !Y
  pto.copy %c, %y : !C, !Y
  // CHECK-COUNT-2: pto.expect_eq
  pto.expect_eq %y, dense<0.0> : tensor<32x16xf32>, !Y
  pto.expect_eq %y, dense<0.0> : tensor<32x16xf32>, !Y
  // CHECK-NEXT: pto.expect_close
  pto.expect_close %y, dense<0.0> : tensor<32x16xf32>, !Y {ulp = 0}
  // CHECK-NEXT: return
  return
}

// -----

!W = memref<128x32xbf16, #pto.mem<sbuf>>
!X = memref<128x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

// Each allocation is a buffer of its own, and each iteration has fresh cells.
// CHECK-LABEL: func.func @allocations
func.func @allocations(%w: !W, %x: !X, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: pto.psum_alloc :
  // CHECK-NEXT: pto.psum_alloc :
  %a = pto.psum_alloc : !C
  %b = pto.psum_alloc : !C
  // CHECK-NEXT: pto.tmatmul_acc
  // CHECK-NEXT: pto.tmatmul_acc
  pto.tmatmul_acc ins(%a, %w, %x : !C, !W, !X) outs(%a : !C)
  pto.tmatmul_acc ins(%b, %w, %x : !C, !W, !X) outs(%b : !C)
  // CHECK-NEXT: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: %[[ACC:.*]] = pto.psum_alloc :
    // CHECK-NEXT: %[[IN:.*]] = pto.sbuf_alloc :
    // CHECK-NEXT: scf.if
    %acc = pto.psum_alloc : !C
    %in = pto.sbuf_alloc : !X
    scf.if %p {
      // CHECK-NEXT: %[[T:.*]] = pto.tmatmul {{.*}} -> !pto.token
      %t = pto.tmatmul ins(%w, %in : !W, !X) outs(%acc : !C) -> !pto.token
      // CHECK-NEXT: pto.tmatmul_acc {{.*}} after(%[[T]])
      pto.tmatmul_acc ins(%acc, %w, %in : !C, !W, !X) outs(%acc : !C) after(%t)
    }
  }
  return
}

// -----

// An allocation that nobody uses goes.
// CHECK-LABEL: func.func @unused
func.func @unused() {
  // CANON-NEXT: return
  %0 = pto.psum_alloc bank(0) : memref<32x16xf32, #pto.mem<psum>>
  %1 = pto.sbuf_alloc : memref<32x16xf32, #pto.mem<sbuf>>
  return
}

// -----

!W = memref<128x32xbf16, #pto.mem<sbuf>>
!X = memref<128x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

// A read is not moved or merged across a matmul: not one into the same buffer,
// nor one into another, whose START may reach this one's bank.
// CHECK-LABEL: func.func @reads
func.func @reads(%w: !W, %x: !X, %c: !C, %d: !C) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  // CHECK: memref.load
  // CHECK-NEXT: pto.tmatmul
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: pto.tmatmul_acc
  // CHECK-NEXT: memref.load
  %0 = memref.load %c[%c0, %c0] : !C
  pto.tmatmul ins(%w, %x : !W, !X) outs(%d : !C) acc<start|stop>
  %1 = memref.load %c[%c0, %c0] : !C
  pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C)
  %2 = memref.load %c[%c0, %c0] : !C
  // CHECK-NEXT: pto.expect_eq
  pto.expect_eq %c, dense<0.0> : tensor<32x16xf32>, !C
  %3 = memref.load %c[%c0, %c0] : !C
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// -----

!W = memref<128x32xbf16, #pto.mem<sbuf>>
!X = memref<128x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

// Nothing that an engine does is moved out of a loop.
// CHECK-LABEL: func.func @loop
func.func @loop(%w: !W, %x: !X, %c: !C, %y: memref<32x16xf32>, %z: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: pto.memset
    pto.memset %z, %c : f32, !C
    // CHECK-NEXT: pto.tmatmul ins
    pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C)
    // CHECK-NEXT: pto.tmatmul_acc
    pto.tmatmul_acc ins(%c, %w, %x : !C, !W, !X) outs(%c : !C)
    // CHECK-NEXT: pto.copy
    pto.copy %c, %y : !C, memref<32x16xf32>
    // CHECK-NEXT: pto.expect_eq
    pto.expect_eq %y, dense<0.0> : tensor<32x16xf32>, memref<32x16xf32>
    // CHECK-NEXT: }
  }
  return
}
