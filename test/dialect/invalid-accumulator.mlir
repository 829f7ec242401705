// Rules of the accumulator operand.
// RUN: %pto_opt %s -split-input-file -verify-diagnostics

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>

func.func @other_element_type(%b: memref<32x16xi32, #pto.mem<psum>>, %w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected accumulator of the type of dst, 'memref<32x16xf32, #pto.mem<psum>>', found 'memref<32x16xi32, #pto.mem<psum>>' [pto:accumulator-type]}}
  pto.tmatmul_acc ins(%b, %w, %x : memref<32x16xi32, #pto.mem<psum>>, !W, !X) outs(%c : !C)
  return
}

func.func @other_space(%b: memref<32x16xf32, #pto.mem<sbuf>>, %w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{found 'memref<32x16xf32, #pto.mem<sbuf>>' [pto:accumulator-type]}}
  pto.tmatmul_acc ins(%b, %w, %x : memref<32x16xf32, #pto.mem<sbuf>>, !W, !X) outs(%c : !C)
  return
}

func.func @other_shape(%b: memref<1xf32>, %w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{found 'memref<1xf32>' [pto:accumulator-type]}}
  pto.tmatmul_acc ins(%b, %w, %x : memref<1xf32>, !W, !X) outs(%c : !C)
  return
}
