// With werror a warning fails the run; without it, it does not.
// RUN: %pto_opt --pto-verify-acc=werror -verify-diagnostics %s
// RUN: %pto_opt --pto-verify-acc %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=WARNING
// WARNING: warning: {{.*}} [pto:read-open-group]

func.func @open(%w: memref<128x128xbf16, #pto.mem<sbuf>>, %out: memref<128x128xf32>) {
  %a = pto.psum_alloc bank(0) : memref<128x128xf32, #pto.mem<psum>>
  // expected-note @+1 {{the cells were written here}}
  pto.tmatmul ins(%w, %w : memref<128x128xbf16, #pto.mem<sbuf>>, memref<128x128xbf16, #pto.mem<sbuf>>) outs(%a : memref<128x128xf32, #pto.mem<psum>>) acc<start> zero_region(0)
  // expected-error @+1 {{expected the accumulation group to be closed, found it read without a stop: partitions 0..128, bytes 0..512 of the buffer [pto:read-open-group]}}
  pto.copy %a, %out : memref<128x128xf32, #pto.mem<psum>>, memref<128x128xf32>
  return
}
