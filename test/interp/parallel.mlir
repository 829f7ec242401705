// Loops whose iterations run in any order, in several orders.
// RUN: %pto_run %s 2>&1 | FileCheck %s --allow-empty
// RUN: %pto_run --parallel-order=reverse %s 2>&1 | FileCheck %s --allow-empty
// RUN: %pto_run --parallel-order=shuffle --seed=3 %s 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: {{.}}

func.func @main() {
  call @loops() : () -> ()
  call @none_at_all() : () -> ()
  call @in_order_all_the_same() : () -> ()
  return
}

func.func @loops() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c1_i64 = arith.constant 1 : i64
  %out = memref.alloc() : memref<3x4xi64>
  // 10 * row + column.
  scf.parallel (%i, %j) = (%c0, %c0) to (%c3, %c4) step (%c1, %c1) {
    %c10 = arith.constant 10 : index
    %row = arith.muli %i, %c10 : index
    %at = arith.addi %row, %j : index
    %word = arith.index_cast %at : index to i64
    memref.store %word, %out[%i, %j] : memref<3x4xi64>
    scf.reduce
  }
  pto.expect_eq %out, dense<[[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]> : tensor<3x4xi64>, memref<3x4xi64>
  // Columns 1 and 3, one more.
  scf.forall (%i, %j) = (0, 1) to (%c3, 4) step (1, %c2) {
    %word = memref.load %out[%i, %j] : memref<3x4xi64>
    %more = arith.addi %word, %c1_i64 : i64
    memref.store %more, %out[%i, %j] : memref<3x4xi64>
  }
  pto.expect_eq %out, dense<[[0, 2, 2, 4], [10, 12, 12, 14], [20, 22, 22, 24]]> : tensor<3x4xi64>, memref<3x4xi64>
  // Column 1 to column 2, of rows 1 and 2.
  affine.parallel (%i, %j) = (max(1, 0), 1) to (min(%c4, 3), 2) step (1, 2) {
    %word = affine.load %out[%i, %j] : memref<3x4xi64>
    affine.store %word, %out[%i, %j + 1] : memref<3x4xi64>
  }
  pto.expect_eq %out, dense<[[0, 2, 2, 4], [10, 12, 12, 14], [20, 22, 22, 24]]> : tensor<3x4xi64>, memref<3x4xi64>
  // 1 + (10 + 12 + 12 + 14), and the largest.
  %low = arith.constant -1 : i64
  %sum, %largest = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%c1_i64, %low) -> (i64, i64) {
    %word = memref.load %out[%c1, %i] : memref<3x4xi64>
    scf.reduce(%word, %word : i64, i64) {
    ^bb0(%a: i64, %b: i64):
      %both = arith.addi %a, %b : i64
      scf.reduce.return %both : i64
    }, {
    ^bb0(%a: i64, %b: i64):
      %max = arith.maxsi %a, %b : i64
      scf.reduce.return %max : i64
    }
  }
  %reduced = memref.alloc() : memref<2xi64>
  memref.store %sum, %reduced[%c0] : memref<2xi64>
  memref.store %largest, %reduced[%c1] : memref<2xi64>
  pto.expect_eq %reduced, dense<[49, 14]> : tensor<2xi64>, memref<2xi64>
  return
}

// No iteration, and bounds whose distance is a number of 64 bits without a sign.
func.func @none_at_all() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %low = arith.constant -9223372036854775808 : index
  %high = arith.constant 9223372036854775807 : index
  %out = memref.alloc() : memref<1xi64>
  %seven = arith.constant 7 : i64
  %kept = scf.parallel (%i, %j) = (%low, %c1) to (%high, %c1) step (%c1, %c1) init (%seven) -> i64 {
    cf.assert %false, "no iteration"
    scf.reduce(%seven : i64) {
    ^bb0(%a: i64, %b: i64):
      %both = arith.addi %a, %b : i64
      scf.reduce.return %both : i64
    }
  }
  memref.store %kept, %out[%c0] : memref<1xi64>
  pto.expect_eq %out, dense<7> : tensor<1xi64>, memref<1xi64>
  %count = scf.parallel (%i) = (%low) to (%high) step (%high) init (%seven) -> i64 {
    scf.reduce(%seven : i64) {
    ^bb0(%a: i64, %b: i64):
      %both = arith.addi %a, %b : i64
      scf.reduce.return %both : i64
    }
  }
  memref.store %count, %out[%c0] : memref<1xi64>
  pto.expect_eq %out, dense<28> : tensor<1xi64>, memref<1xi64>
  return
}

// Iterations that share what is in order: what they only read, what a loop before wrote, what an inner loop
// wrote in the same iteration, and buffers of their own.
func.func @in_order_all_the_same() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %seed = memref.alloc() : memref<4xi64>
  %out = memref.alloc() : memref<4xi64>
  %seven = arith.constant 7 : i64
  linalg.fill ins(%seven : i64) outs(%seed : memref<4xi64>)
  scf.for %round = %c0 to %c4 step %c1 {
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      %own = memref.alloc() : memref<4xi64>
      scf.forall (%j) in (4) {
        %word = memref.load %seed[%j] : memref<4xi64>
        memref.store %word, %own[%j] : memref<4xi64>
      }
      %last = memref.load %own[%i] : memref<4xi64>
      memref.store %last, %out[%i] : memref<4xi64>
    }
    memref.copy %out, %seed : memref<4xi64> to memref<4xi64>
  }
  pto.expect_eq %out, dense<7> : tensor<4xi64>, memref<4xi64>
  return
}
