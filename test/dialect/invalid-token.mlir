// Tokens, and the marks of legalization, for every variant of the matmul.
// RUN: %each_matmul %s | %pto_opt -split-input-file -verify-diagnostics

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
// expected-note@+1 {{the token comes from here}}
func.func @argument(%w: !W, %x: !X, %c: !C, %t: !pto.token) {
  // expected-error@+1 {{expected the tokens of after to be made by an instruction of the same function, found a block argument [pto:token]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%t)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func private @make() -> !pto.token
func.func @result_of_a_call(%w: !W, %x: !X, %c: !C) {
  // expected-note@+1 {{the token comes from here}}
  %t = func.call @make() : () -> !pto.token
  // expected-error@+1 {{found a result of another operation [pto:token]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%t)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @iter_arg(%w: !W, %x: !X, %c: !C, %n: index, %one: index) {
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  // expected-note@+1 {{the token comes from here}}
  %r = scf.for %i = %n to %n step %one iter_args(%s = %t) -> !pto.token {
    // expected-error@+1 {{found a block argument [pto:token]}}
    %u = pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%s) -> !pto.token
    scf.yield %u : !pto.token
  }
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @block_argument(%w: !W, %x: !X, %c: !C) {
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  cf.br ^next(%t : !pto.token)
// expected-note@+1 {{the token comes from here}}
^next(%s: !pto.token):
  // expected-error@+1 {{found a block argument [pto:token]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%s)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @no_token(%w: !W, %x: !X, %c: !C, %i: i32) {
  // expected-note@-1 {{prior use here}}
  // expected-error@+1 {{use of value '%i' expects different type than prior uses: '!pto.token' vs 'i32'}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%i)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
%w = pto.sbuf_alloc : !W
%x = pto.sbuf_alloc : !X
%c = pto.psum_alloc : !C
// expected-error@+1 {{found its own token [pto:token]}}
%t = pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%t) -> !pto.token

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @mark_without_token(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected a token beside inserted_token, found none [pto:inserted-marks]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {inserted_token}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @mark_of_no_operand(%w: !W, %x: !X, %c: !C) {
  // expected-error@+1 {{expected ascending positions below 0 in inserted_after, found 0 [pto:inserted-marks]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) {inserted_after = array<i32: 0>}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @mark_twice(%w: !W, %x: !X, %c: !C) {
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  // expected-error@+1 {{expected ascending positions below 2 in inserted_after, found 1 [pto:inserted-marks]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%t, %t) {inserted_after = array<i32: 1, 1>}
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
func.func @mark_negative(%w: !W, %x: !X, %c: !C) {
  %t = pto.tmatmul ins(%w, %x : !W, !X) outs(%c : !C) -> !pto.token
  // expected-error@+1 {{expected ascending positions below 1 in inserted_after, found -1 [pto:inserted-marks]}}
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) after(%t) {inserted_after = array<i32: -1>}
  return
}

// -----

!C = memref<32x16xf32, #pto.mem<psum>>
// expected-note@+1 {{the token comes from here}}
func.func @memset(%z: f32, %c: !C, %t: !pto.token) {
  // expected-error@+1 {{found a block argument [pto:token]}}
  pto.memset %z, %c : f32, !C after(%t)
  return
}

// -----

!C = memref<32x16xf32, #pto.mem<psum>>
// expected-note@+1 {{the token comes from here}}
func.func @copy(%s: memref<32x16xf32>, %c: !C, %t: !pto.token) {
  // expected-error@+1 {{found a block argument [pto:token]}}
  pto.copy %s, %c : memref<32x16xf32>, !C after(%t)
  return
}
