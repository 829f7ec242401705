// Loops whose trip counts are at the ends of their range, or none.
// RUN: %pto_opt -allow-unregistered-dialect --pto-legalize-acc --pto-verify-acc %s 2>&1 | FileCheck %s --implicit-check-not=undefined

!acc = memref<128x512xf32, #pto.mem<psum>>
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!out = memref<128x512xf32>

// The body runs, although the distance of the bounds does not fit into a signed number: the buffer was
// written, and nothing is said about cells that are fresh.
// CHECK-LABEL: func.func @widest
// CHECK: affine.for
func.func @widest(%in: !out, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  affine.for %i = -9223372036854775807 to 9223372036854775807 {
    pto.copy %in, %a : !out, !acc
  }
  pto.copy %a, %out : !acc, !out
  return
}

// A step of zero has no trip count. The custom syntax refuses it.
// CHECK-LABEL: func.func @no_step
// CHECK: affine.for
// CHECK: pto.tmatmul {{.*}} acc<start|stop> zero_region(0)
func.func @no_step(%w: !w, %x: !x, %out: !out) {
  %a = pto.psum_alloc bank(0) : !acc
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 0 : index, upperBoundMap = affine_map<() -> (3)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !out
  return
}
