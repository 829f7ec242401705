// K loops: flags that are right every time an operation runs.
// RUN: %pto_opt --pto-legalize-acc='target=trn2 validate' %s | FileCheck %s --check-prefixes=CHECK,TRN2
// RUN: %pto_opt --pto-legalize-acc='target=trn3 validate' %s | FileCheck %s --check-prefixes=CHECK,TRN3
// The result is proved, changes no more, and comes back after a reset.
// RUN: %pto_opt --pto-legalize-acc='target=trn2' %s | %pto_opt --pto-verify-acc='target=trn2 model=both' > %t.once
// RUN: %pto_opt --pto-legalize-acc='target=trn2' %t.once | diff %t.once -
// RUN: %pto_opt --pto-reset-acc --pto-legalize-acc='target=trn2' %t.once | diff %t.once -

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!acc = memref<128x512xf32, #pto.mem<psum>>
!out = memref<128x512xf32>
!half_w = memref<128x64xbf16, #pto.mem<sbuf>>
!half_x = memref<128x256xbf16, #pto.mem<sbuf>>
!half = memref<64x256xf32, #pto.mem<psum>>
!half_out = memref<64x256xf32>
!tall_w = memref<128x128xbf16, #pto.mem<sbuf>>
!tall = memref<128x256xf32, #pto.mem<psum>>

// One body: START in the first iteration, STOP in the last. One comparison for each.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[LB:[a-z0-9]+]]: index, %[[UB:[a-z0-9]+]]: index, %[[STEP:[a-z0-9]+]]: index
func.func @dynamic(%w: !w, %x: !x, %out: !out, %lb: index, %ub: index, %step: index) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK-NOT: pto.memset
  // CHECK: scf.for %[[K:.*]] = %[[LB]] to %[[UB]] step %[[STEP]]
  scf.for %k = %lb to %ub step %step {
    // CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %[[LB]] {pto.inserted} : index
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[K]], %[[STEP]] {pto.inserted} : index
    // CHECK-NEXT: %[[LAST:.*]] = arith.cmpi sge, %[[NEXT]], %[[UB]] {pto.inserted} : index
    // CHECK-NEXT: pto.tmatmul_acc {{.*}} acc<none> zero_region(0) start_if(%[[FIRST]]) stop_if(%[[LAST]])
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Nested to depth 4: one comparison a loop and end, each in the body of its own, with numbers where the bounds are.
// CHECK-LABEL: func.func @depth_four
func.func @depth_four(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK-NOT: arith.addi
  // CHECK: scf.for %[[I:.*]] = %[[ZERO:.*]] to
  // CHECK-NEXT: %[[I0:.*]] = arith.cmpi eq, %[[I]], %[[ZERO]]
  // CHECK-NEXT: %[[I2:.*]] = arith.cmpi eq, %[[I]], %[[TWO:.*]] {pto.inserted}
  scf.for %i = %c0 to %c3 step %c1 {
    // CHECK-NEXT: scf.for %[[J:.*]] = %[[ZERO]] to
    // CHECK-NEXT: %[[J0:.*]] = arith.cmpi eq, %[[J]], %[[ZERO]]
    // CHECK-NEXT: %[[IJ0:.*]] = arith.andi %[[I0]], %[[J0]]
    // CHECK-NEXT: %[[J2:.*]] = arith.cmpi eq, %[[J]], %[[TWO]]
    // CHECK-NEXT: %[[IJ2:.*]] = arith.andi %[[I2]], %[[J2]]
    scf.for %j = %c0 to %c3 step %c1 {
      // CHECK-NEXT: scf.for
      // CHECK-NEXT: arith.cmpi eq
      // CHECK-NEXT: arith.andi %[[IJ0]],
      // CHECK-NEXT: arith.cmpi eq
      // CHECK-NEXT: arith.andi %[[IJ2]],
      scf.for %k = %c0 to %c3 step %c1 {
        // CHECK-NEXT: scf.for
        // CHECK-NEXT: arith.cmpi eq
        // CHECK-NEXT: %[[FIRST:.*]] = arith.andi
        // CHECK-NEXT: arith.cmpi eq
        // CHECK-NEXT: %[[LAST:.*]] = arith.andi
        scf.for %l = %c0 to %c3 step %c1 {
          // CHECK-NEXT: pto.tmatmul_acc {{.*}} acc<none> zero_region(0) start_if(%[[FIRST]]) stop_if(%[[LAST]])
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A loop that runs once is no loop; affine loops count.
// CHECK-LABEL: func.func @once
func.func @once(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %i = 0 to 1 {
    // CHECK-NOT: arith.cmpi
    // CHECK: pto.tmatmul_acc {{.*}} acc<start|stop> zero_region(0){{$}}
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  affine.for %i = 0 to 4 {
    // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0){{$}}
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0){{$}}
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    pto.copy %a, %out : !acc, !out
    %b = pto.psum_alloc bank(1) : !acc
    affine.for %k = 0 to 8 {
      // CHECK: %[[FIRST:.*]] = arith.cmpi eq
      // CHECK: pto.tmatmul_acc {{.*}} start_if(%[[FIRST]]) stop_if(%{{.*}})
      pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    }
    pto.copy %b, %out : !acc, !out
  }
  return
}

// A triangular loop has no iteration in which all are at their first.
// CHECK-LABEL: func.func @triangular
func.func @triangular(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: %[[A:.*]] = pto.psum_alloc
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK-NEXT: pto.memset %{{.*}}, %[[A]] {{.*}}inserted
  // CHECK-NEXT: scf.for
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %k = %c0 to %i step %c1 {
      // TRN2: pto.tmatmul_acc {{.*}} acc<none> zero_region(0){{$}}
      // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate> zero_region(0){{$}}
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// The overwriting arm of a branch on the first iteration.
// CHECK-LABEL: func.func @first_iteration_if
func.func @first_iteration_if(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK-NOT: pto.memset
  scf.for %k = %c0 to %c4 step %c1 {
    %first = arith.cmpi eq, %k, %c0 : index
    scf.if %first {
      // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0){{$}}
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      // CHECK: pto.tmatmul_acc {{.*}} acc<none> zero_region(0){{$}}
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A guard on the index: the body may not have run in the first iteration.
// CHECK-LABEL: func.func @guarded
func.func @guarded(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  // CHECK-NEXT: scf.for
  scf.for %k = %c0 to %c4 step %c1 {
    %odd = arith.cmpi ne, %k, %c0 : index
    scf.if %odd {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// Sibling loops into one buffer, and a peeled head.
// CHECK-LABEL: func.func @siblings
func.func @siblings(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: start_if
  // CHECK-NOT: stop_if
  scf.for %k = %c0 to %c4 step %c1 {
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  // CHECK: scf.for
  scf.for %k = %c0 to %c4 step %c1 {
    // CHECK-NEXT: pto.tmatmul_acc {{.*}} acc<none> zero_region(0){{$}}
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  pto.copy %a, %out : !acc, !out
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  scf.for %k = %c0 to %c4 step %c1 {
    // CHECK: pto.tmatmul_acc {{.*}} acc<none> zero_region(0){{$}}
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0){{$}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}

// Sums that begin in one body share a START, and the comparisons.
// CHECK-LABEL: func.func @together
func.func @together(%w: !half_w, %x: !half_x, %out: !half_out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !half
  %b = pto.psum_alloc bank(0) offset(1024) : !half
  // CHECK-NOT: pto.memset
  // CHECK: scf.for
  scf.for %k = %c0 to %n step %c1 {
    // CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq
    // CHECK-NEXT: arith.addi
    // CHECK-NEXT: %[[LAST:.*]] = arith.cmpi sge
    // CHECK-NEXT: pto.tmatmul_acc {{.*}} acc<none> zero_region(0) start_if(%[[FIRST]])
    // CHECK-NEXT: pto.tmatmul_acc {{.*}} acc<none> zero_region(0) stop_if(%[[LAST]])
    // CHECK-NEXT: pto.tmatmul_acc {{.*}} acc<none> zero_region(0) stop_if(%[[LAST]])
    pto.tmatmul_acc ins(%a, %w, %x : !half, !half_w, !half_x) outs(%a : !half)
    pto.tmatmul_acc ins(%b, %w, %x : !half, !half_w, !half_x) outs(%b : !half)
    pto.tmatmul_acc ins(%a, %w, %x : !half, !half_w, !half_x) outs(%a : !half)
  }
  pto.copy %a, %out : !half, !half_out
  pto.copy %b, %out : !half, !half_out
  return
}

// In two bodies each START would hit the other sum; so would one that does not reach its cells for certain.
// CHECK-LABEL: func.func @apart
func.func @apart(%w: !half_w, %x: !half_x, %tall_w: !tall_w, %out: !half_out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !half
  %b = pto.psum_alloc bank(0) offset(1024) : !half
  %c = pto.psum_alloc bank(1) : !half
  %d = pto.psum_alloc bank(1) offset(1024) : !tall
  // CHECK-COUNT-4: pto.memset {{.*}}inserted
  // CHECK: scf.for
  // CHECK-NOT: start_if
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%a, %w, %x : !half, !half_w, !half_x) outs(%a : !half)
    }
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%b, %w, %x : !half, !half_w, !half_x) outs(%b : !half)
    }
    scf.for %k = %c0 to %n step %c1 {
      pto.tmatmul_acc ins(%c, %w, %x : !half, !half_w, !half_x) outs(%c : !half)
      pto.tmatmul_acc ins(%d, %tall_w, %x : !tall, !tall_w, !half_x) outs(%d : !tall)
    }
  }
  // CHECK: return
  pto.copy %a, %out : !half, !half_out
  pto.copy %b, %out : !half, !half_out
  pto.copy %c, %out : !half, !half_out
  pto.expect_eq %d, dense<0.0> : tensor<128x256xf32>, !tall
  return
}

// Jumps: zeros at the end of the block of the allocation.
// CHECK-LABEL: func.func @jumps
func.func @jumps(%w: !w, %x: !x, %out: !out, %p: i1) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  // CHECK-NEXT: cf.br
  cf.br ^loop
^loop:
  // TRN2: pto.tmatmul_acc {{.*}} acc<none> zero_region(0){{$}}
  // TRN3: pto.tmatmul_acc {{.*}} acc<accumulate> zero_region(0){{$}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  cf.cond_br %p, ^loop, ^end
^end:
  pto.copy %a, %out : !acc, !out
  return
}

// scf.while and scf.index_switch.
// CHECK-LABEL: func.func @while_and_switch
func.func @while_and_switch(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.memset {{.*}}inserted
  // CHECK-NEXT: scf.while
  %last = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  pto.copy %a, %out : !acc, !out
  %b = pto.psum_alloc bank(1) : !acc
  // CHECK-NOT: pto.memset
  // CHECK: scf.index_switch
  scf.index_switch %n
  case 0 {
    // CHECK: pto.tmatmul_acc {{.*}} acc<start|stop> zero_region(0){{$}}
    pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    scf.yield
  }
  default {
    // CHECK: pto.tmatmul {{.*}} acc<start|stop> zero_region(0){{$}}
    pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  }
  pto.copy %b, %out : !acc, !out
  return
}

// An accumulator that came in as an argument is plain data, unless it says that it is fresh.
// CHECK-LABEL: func.func @fresh_argument
func.func @fresh_argument(%w: !w, %x: !x, %a: !acc {pto.bank = 2 : i64, pto.fresh}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %k = %c0 to %c4 step %c1 {
    // CHECK: pto.tmatmul_acc {{.*}} acc<none> zero_region(0) start_if(%{{.*}}) stop_if(%{{.*}})
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  }
  return
}

// A loop that runs once leaves nothing to a next run: the place of what it read last is free.
// CHECK-LABEL: func.func @place_in_one_run
func.func @place_in_one_run(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start|stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  scf.for %i = %c0 to %c1 step %c1 {
    pto.copy %a, %out : !acc, !out
    %b = pto.psum_alloc bank(0) : !acc
    // CHECK-NOT: pto.memset
    // CHECK: pto.tmatmul_acc {{.*}} acc<start|stop> zero_region(0)
    pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
    pto.copy %b, %out : !acc, !out
  }
  return
}
