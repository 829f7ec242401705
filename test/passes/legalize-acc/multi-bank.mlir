// Zero regions of more than one bank: trn3 has them.
// RUN: %pto_opt --pto-legalize-acc='target=trn3 validate' %s | FileCheck %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!x2 = memref<128x1024xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!two = memref<128x1024xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
!out2 = memref<128x1024xf32>

// Banks 1 and 2: regions are aligned, so the smallest that covers them is 0 to 3, code 2.
// CHECK-LABEL: func.func @aligned_window
func.func @aligned_window(%w: !w, %x: !x2, %out: !out2) {
  %a = pto.psum_alloc bank(1) : !two
  // CHECK: pto.tmatmul {{.*}} acc<start|stop> zero_region(2)
  pto.tmatmul ins(%w, %x : !w, !x2) outs(%a : !two)
  pto.copy %a, %out : !two, !out2
  return
}

// What is live in bank 3 meanwhile is in that region: it joins, and begins before it.
// CHECK-LABEL: func.func @window_meets_another_location
func.func @window_meets_another_location(%w: !w, %x: !x, %x2: !x2, %out: !out, %out2: !out2) {
  %a = pto.psum_alloc bank(1) : !two
  %b = pto.psum_alloc bank(3) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start> zero_region(2)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<stop> zero_region(2)
  pto.tmatmul ins(%w, %x2 : !w, !x2) outs(%a : !two)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  pto.copy %a, %out2 : !two, !out2
  pto.copy %b, %out : !acc, !out
  return
}

// Y0 in bank 3, H0 in bank 0, read Y, X0 over banks 1 and 2, H1, read H, read X. The region of X
// holds H, that of the two holds Y: one group, found by looking again after each merge.
// CHECK-LABEL: func.func @merged_window
func.func @merged_window(%w: !w, %x: !x, %x2: !x2, %out: !out, %out2: !out2) {
  %y = pto.psum_alloc bank(3) : !acc
  %h = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !two
  // CHECK: pto.tmatmul {{.*}} acc<start|stop> zero_region(2)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%y : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<none> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%h : !acc)
  pto.copy %y, %out : !acc, !out
  // CHECK: pto.tmatmul {{.*}} acc<stop> zero_region(2)
  pto.tmatmul ins(%w, %x2 : !w, !x2) outs(%b : !two)
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop> zero_region(0)
  pto.tmatmul_acc ins(%h, %w, %x : !acc, !w, !x) outs(%h : !acc)
  pto.copy %h, %out : !acc, !out
  pto.copy %b, %out2 : !two, !out2
  return
}
