// Attributes of pto on other operations.
// RUN: %pto_opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected pto.target to be a #pto.target, found "trn2" [pto:attribute]}}
module attributes {pto.target = "trn2"} {}

// -----

// expected-error@+1 {{expected pto.target on a module, found it on 'func.func' [pto:attribute]}}
func.func private @f() attributes {pto.target = #pto.target<trn2>}

// -----

// expected-error@+1 {{expected an attribute of pto for operations, found pto.targt [pto:attribute]}}
module attributes {pto.targt = #pto.target<trn2>} {}

// -----

func.func @f(%c: memref<4x4xf32, #pto.mem<psum>>, %z: f32) {
  // expected-error@+1 {{expected an attribute of pto for operations, found pto.note [pto:attribute]}}
  pto.memset %z, %c : f32, memref<4x4xf32, #pto.mem<psum>> {pto.note}
  return
}

// -----

// expected-error@+1 {{expected pto.acc_provisional to be a unit attribute, found true [pto:attribute]}}
func.func private @f() attributes {pto.acc_provisional = true}

// -----

// expected-error@+1 {{expected pto.acc_legalized on a function, found it on 'builtin.module' [pto:attribute]}}
module attributes {pto.acc_legalized} {}

// -----

// expected-error@+1 {{expected pto.psum_banks on a function, found it on 'builtin.module' [pto:attribute]}}
module attributes {pto.psum_banks = array<i32: 0>} {}

// -----

// expected-error@+1 {{expected pto.psum_banks to be an array<i32> of banks, found [0, 1] [pto:attribute]}}
func.func private @f() attributes {pto.psum_banks = [0, 1]}

// -----

// expected-error@+1 {{expected banks from 0 to 7 in pto.psum_banks, found 8 [pto:attribute]}}
func.func private @f() attributes {pto.psum_banks = array<i32: 0, 8>}

// -----

// expected-error@+1 {{expected an attribute of pto for operations, found pto.bank [pto:attribute]}}
func.func private @f() attributes {pto.bank = 0 : i64}

// -----

// expected-error@+1 {{expected an attribute of pto for arguments, found pto.banc [pto:attribute]}}
func.func private @f(memref<4x4xf32, #pto.mem<psum>> {pto.banc = 0 : i64})

// -----

// expected-error@+1 {{expected an attribute of pto for results, which have none, found pto.fresh [pto:attribute]}}
func.func private @f() -> (memref<4x4xf32, #pto.mem<psum>> {pto.fresh})

// -----

// expected-error@+1 {{expected pto.bank on a memref in psum, found it on argument 1 of type 'memref<4x4xf32, #pto.mem<sbuf>>' [pto:attribute]}}
func.func private @f(i32, memref<4x4xf32, #pto.mem<sbuf>> {pto.bank = 0 : i64})

// -----

// expected-error@+1 {{expected pto.fresh on a memref in psum, found it on argument 0 of type 'i32' [pto:attribute]}}
func.func private @f(i32 {pto.fresh})

// -----

// expected-error@+1 {{expected pto.fresh to be a unit attribute, found false [pto:attribute]}}
func.func private @f(memref<4x4xf32, #pto.mem<psum>> {pto.fresh = false})

// -----

// expected-error@+1 {{expected pto.bank to be an i64, found 0 : i32 [pto:attribute]}}
func.func private @f(memref<4x4xf32, #pto.mem<psum>> {pto.bank = 0 : i32})

// -----

// expected-error@+1 {{argument 0: expected a bank from 0 to 7, found 8 [pto:placement]}}
func.func @f(%c: memref<4x4xf32, #pto.mem<psum>> {pto.bank = 8 : i64}) { return }

// -----

// expected-error@+1 {{argument 0: expected a bank beside the offset, found none [pto:placement]}}
func.func private @f(memref<4x4xf32, #pto.mem<psum>> {pto.offset = 0 : i64})

// -----

// expected-error@+1 {{argument 0: expected a bank beside the partition, found none [pto:placement]}}
func.func private @f(memref<4x4xf32, #pto.mem<psum>> {pto.partition = 0 : i64})

// -----

// expected-error@+1 {{argument 0: expected a first partition that 4 partitions may begin at}}
func.func private @f(memref<4x4xf32, #pto.mem<psum>> {pto.bank = 0 : i64, pto.partition = 1 : i64})

// -----

// expected-error@+1 {{argument 0: expected a buffer of static shape, found 'memref<?x4xf32, #pto.mem<psum>>' [pto:dynamic-shape]}}
func.func private @f(memref<?x4xf32, #pto.mem<psum>> {pto.bank = 0 : i64})

// -----

// expected-error@+1 {{argument 0: expected the buffer of at least one dimension, the partition, found 'memref<f32, #pto.mem<psum>>' [pto:rank]}}
func.func private @f(memref<f32, #pto.mem<psum>> {pto.bank = 0 : i64})

// -----

func.func private @fine(memref<4x4xf32> {pto.noalias}, memref<4x4xf32, #pto.mem<sbuf>> {pto.noalias})
// expected-error@+1 {{expected pto.noalias on a memref, found it on argument 1 of type 'tensor<4xf32>' [pto:attribute]}}
func.func private @f(memref<4x4xf32>, tensor<4xf32> {pto.noalias})

// -----

// expected-error@+1 {{expected pto.noalias to be a unit attribute, found 1 : i64 [pto:attribute]}}
func.func private @f(memref<4x4xf32> {pto.noalias = 1 : i64})
