// RUN: %pto_opt --pto-print-psum -verify-diagnostics %s -o %t

!acc = memref<128x256xf32, #pto.mem<psum>>

func.func @f(%out: memref<128x256xf32>) {
  // expected-error@+1 {{expected a buffer with a place in psum, found one without [pto:unplaced]}}
  %a = pto.psum_alloc : !acc
  pto.copy %a, %out : !acc, memref<128x256xf32>
  return
}
