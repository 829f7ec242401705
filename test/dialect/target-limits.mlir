// What a target has, once a module names it; for every variant of the matmul.
// RUN: %each_matmul %s | %pto_opt -split-input-file -verify-diagnostics

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x513xbf16, #pto.mem<sbuf>>
!C = memref<32x513xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn2>} {
  func.func @f(%w: !W, %x: !X, %c: !C) {
    // expected-error@+1 {{expected N of at most 512 on trn2, found 513 [pto:target-limit]}}
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
    return
  }
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x4096xbf16, #pto.mem<sbuf>>
!C = memref<32x4096xbf16, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn3>} {
  func.func @fits(%w: !W, %x: !X, %c: !C) {
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<stop|accumulate> zero_region(3)
    return
  }
}

// -----

// Without a target, what any target has.
!W = memref<32x32xbf16, #pto.mem<sbuf>>
!X = memref<32x4096xbf16, #pto.mem<sbuf>>
!C = memref<32x4096xbf16, #pto.mem<psum>>
func.func @fits(%w: !W, %x: !X, %c: !C) {
  pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(32, 32) at(96, 96) acc<accumulate> zero_region(3)
  return
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xbf16, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn1>} {
  func.func @f(%w: !W, %x: !X, %c: !C) {
    // expected-error@+1 {{expected dst of f32 on trn1, found bf16 [pto:target-limit]}}
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C)
    return
  }
}

// -----

!W = memref<32x32xbf16, #pto.mem<sbuf>>
!X = memref<32x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn1>} {
  func.func @f(%w: !W, %x: !X, %c: !C) {
    // expected-error@+1 {{expected a height of tile that trn1 has, found 32 rows [pto:target-limit]}}
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(32, 32) at(0, 0)
    return
  }
}

// -----

!W = memref<32x32xbf16, #pto.mem<sbuf>>
!X = memref<32x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn1>} {
  func.func @f(%w: !W, %x: !X, %c: !C) {
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(0, 64)
    // expected-error@+1 {{expected a tile that trn1 has, found the last 32 columns alone [pto:target-limit]}}
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) tile(64, 32) at(0, 96)
    return
  }
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn2>} {
  func.func @f(%w: !W, %x: !X, %c: !C) {
    // expected-error@+1 {{expected flags that trn2 has, found acc<accumulate> [pto:target-limit]}}
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<accumulate>
    return
  }
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn1>} {
  func.func @f(%w: !W, %x: !X, %c: !C) {
    // expected-error@+1 {{expected flags that trn1 has, found acc<stop|accumulate> [pto:target-limit]}}
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<stop|accumulate>
    return
  }
}

// -----

!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn2>} {
  func.func @f(%w: !W, %x: !X, %c: !C) {
    // expected-error@+1 {{expected a zero region code of at most 0 on trn2, found 1 [pto:target-limit]}}
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<start> zero_region(1)
    return
  }
}

// -----

// A generation without group flags ignores stale ones.
!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<nogroup>} {
  func.func @stale(%w: !W, %x: !X, %c: !C) {
    pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<accumulate> zero_region(3)
    return
  }
}

// -----

// The nearest module that names a target counts.
!W = memref<64x32xbf16, #pto.mem<sbuf>>
!X = memref<64x16xbf16, #pto.mem<sbuf>>
!C = memref<32x16xf32, #pto.mem<psum>>
module attributes {pto.target = #pto.target<trn2>} {
  module attributes {pto.target = #pto.target<trn3>} {
    func.func @inner(%w: !W, %x: !X, %c: !C) {
      pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<accumulate>
      return
    }
  }
  module {
    func.func @unnamed(%w: !W, %x: !X, %c: !C) {
      // expected-error@+1 {{expected flags that trn2 has}}
      pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X) outs(%c : !C) acc<accumulate>
      return
    }
  }
}

// -----

module attributes {pto.target = #pto.target<trn2>} {
  func.func @f() {
    // expected-error@+1 {{expected the buffer of f32 or i32 in psum on trn2, found bf16 [pto:target-limit]}}
    %0 = pto.psum_alloc : memref<4x4xbf16, #pto.mem<psum>>
    return
  }
}

// -----

module attributes {pto.target = #pto.target<trn2>} {
  func.func @f(%z: f32, %c: memref<4x4xbf16, #pto.mem<psum>>) {
    // expected-error@+1 {{expected target of f32 or i32 in psum on trn2, found bf16 [pto:target-limit]}}
    pto.memset %z, %c : f32, memref<4x4xbf16, #pto.mem<psum>>
    return
  }
}

// -----

// An argument is placed in the PSUM of the target.
module attributes {pto.target = #pto.target<trn2>} {
  // expected-error@+1 {{argument 0: expected the buffer of f32 or i32 in psum on trn2, found bf16 [pto:target-limit]}}
  func.func private @f(memref<4x4xbf16, #pto.mem<psum>> {pto.bank = 0 : i64})
}
