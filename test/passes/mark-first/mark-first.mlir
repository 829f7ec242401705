// The first matmul of every allocation, by place in the function, is START for the time being.
// RUN: %pto_opt --pto-mark-first %s | FileCheck %s
// RUN: %pto_opt --pto-mark-first --pto-mark-first %s | FileCheck %s
// RUN: %pto_opt --pto-mark-first --pto-legalize-acc %s | FileCheck %s --check-prefix=FINAL

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>

// CHECK-LABEL: func.func @two_locations
// CHECK-SAME:    attributes {pto.acc_provisional}
// FINAL-LABEL: func.func @two_locations
// FINAL-SAME:    attributes {pto.acc_legalized}
func.func @two_locations(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start>{{$}}
  // FINAL: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<start>{{$}}
  // FINAL: pto.tmatmul {{.*}} acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  // The flags of another compiler are cleared.
  // CHECK: pto.tmatmul_acc {{.*}} acc<none>{{$}}
  // FINAL: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) acc<start|stop>
  // CHECK: pto.tmatmul_acc {{.*}} acc<none>{{$}}
  // FINAL: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  return
}

// By allocation, not by group: the second overwriting is not marked, and legalization finds it.
// CHECK-LABEL: func.func @reuse
func.func @reuse(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start>{{$}}
  // FINAL: pto.tmatmul {{.*}} acc<start|stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  // CHECK: pto.tmatmul {{.*}} acc<none>{{$}}
  // FINAL: pto.tmatmul {{.*}} acc<start|stop> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}
