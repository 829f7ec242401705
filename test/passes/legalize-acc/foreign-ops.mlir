// What upstream's operations do to a location: whether they overwrite it, read it, or neither.
// RUN: %pto_opt --pto-legalize-acc='target=trn2 validate' %s | FileCheck %s
// RUN: %pto_opt --pto-legalize-acc=target=trn2 --pto-verify-acc %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SEEDED --implicit-check-not=error:

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i, 0)>

// A copy out of the bank between two groups, by upstream's operations: the second may START.
// CHECK-LABEL: func.func @read_by_memref_copy
func.func @read_by_memref_copy(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start|stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  memref.copy %a, %out : !acc to !out
  // CHECK: pto.tmatmul {{.*}} acc<start|stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  memref.copy %b, %out : !acc to !out
  memref.dealloc %a : !acc
  return
}

// Read only after the second group began: it may not.
// CHECK-LABEL: func.func @read_by_linalg
func.func @read_by_linalg(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start|stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : !acc, !acc) outs(%out : !out) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  return
}

// A generic operation that writes every element seeds the location: nothing starts.
// CHECK-LABEL: func.func @overwritten_by_linalg
func.func @overwritten_by_linalg(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%out : !out) outs(%a : !acc) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  }
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop>
  // SEEDED: warning: {{.*}} [pto:seeded-accumulate]
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  memref.copy %a, %out : !acc to !out
  return
}

// A store changes one cell and keeps the others: A lives across it, so B may not start over it.
// CHECK-LABEL: func.func @stored_into
func.func @stored_into(%w: !w, %x: !x, %out: !out, %i: index, %v: f32) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(512) : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start|stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  // CHECK: pto.tmatmul {{.*}} acc<stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  memref.store %v, %a[%i, %i] : !acc
  memref.copy %b, %out : !acc to !out
  memref.copy %a, %out : !acc to !out
  return
}

// Of these none is an instruction.
// CHECK-LABEL: func.func @transparent
func.func @transparent(%w: !w, %x: !x, %out: !out, %c: i1, %i: index) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) : !acc
  %aligned = memref.assume_alignment %a, 64 : !acc
  %d = memref.dim %a, %i : !acc
  // CHECK: pto.tmatmul {{.*}} acc<start|stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%aligned : !acc)
  memref.copy %a, %out : !acc to !out
  // CHECK: pto.tmatmul {{.*}} acc<start|stop>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  bufferization.dealloc (%a : !acc) if (%c)
  memref.copy %b, %out : !acc to !out
  return
}

// A callee with the buffer in hand may read and fill it: what it leaves there is added onto, and is
// no zero any more.
func.func private @fill(!acc) attributes {pto.psum_banks = array<i32: 0>}
// CHECK-LABEL: func.func @passed_to_a_callee
func.func @passed_to_a_callee(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  %zero = arith.constant 0.0 : f32
  pto.memset %zero, %a : f32, !acc
  call @fill(%a) : (!acc) -> ()
  // CHECK: pto.tmatmul_acc {{.*}} acc<stop>
  // SEEDED: warning: {{.*}} [pto:seeded-accumulate]
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  memref.copy %a, %out : !acc to !out
  return
}
