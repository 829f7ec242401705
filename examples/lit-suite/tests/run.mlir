// Flags written by hand, refused by the lint and caught by the interpreter.
// RUN: not %pto_opt --pto-verify-acc %s 2>&1 | FileCheck %s --check-prefix=LINT
// RUN: not %pto_run --random-inputs %s 2>&1 | FileCheck %s --check-prefix=EXEC

!t = memref<1x1xf32, #pto.mem<sbuf>>
!acc = memref<1x1xf32, #pto.mem<psum>>

func.func @main(%w: !t, %x: !t, %y: memref<1x1xf32>) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !t, !t) outs(%a : !acc) acc<start>
  // LINT: error: {{.*}}[pto:wrong-mode]
  // EXEC: error: {{.*}}[pto:diverging-read]
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !t, !t) outs(%a : !acc) acc<start|stop>
  pto.copy %a, %y : !acc, memref<1x1xf32>
  return
}
