// RUN: %pto_run %s 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: {{.}}

func.func @loops() {
  %out = memref.alloc() : memref<6xindex>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  // 0 + 2 + 4 + 6, and the iteration that swaps its two values.
  %sum, %a, %b = scf.for %i = %c0 to %c7 step %c2 iter_args(%s = %c0, %x = %c1, %y = %c2) -> (index, index, index) {
    %next = arith.addi %s, %i : index
    scf.yield %next, %y, %x : index, index, index
  }
  // No iteration: the initial value.
  %none = scf.for %i = %c7 to %c0 step %c1 iter_args(%s = %c3) -> index {
    scf.yield %c0 : index
  }
  // A triangle.
  %triangle = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %c0) -> index {
    %inner = scf.for %j = %c0 to %i step %c1 iter_args(%t = %s) -> index {
      %u = arith.addi %t, %c1 : index
      scf.yield %u : index
    }
    scf.yield %inner : index
  }
  // Powers of two up to 7.
  %power, %count = scf.while (%p = %c1, %n = %c0) : (index, index) -> (index, index) {
    %less = arith.cmpi ult, %p, %c7 : index
    scf.condition(%less) %p, %n : index, index
  } do {
  ^bb0(%p: index, %n: index):
    %double = arith.muli %p, %c2 : index
    %more = arith.addi %n, %c1 : index
    scf.yield %double, %more : index, index
  }
  affine.store %sum, %out[0] : memref<6xindex>
  affine.store %a, %out[1] : memref<6xindex>
  affine.store %b, %out[2] : memref<6xindex>
  affine.store %none, %out[3] : memref<6xindex>
  affine.store %triangle, %out[4] : memref<6xindex>
  %both = arith.addi %power, %count : index
  affine.store %both, %out[5] : memref<6xindex>
  %words = memref.alloc() : memref<6xi64>
  affine.for %i = 0 to 6 {
    %index = affine.load %out[%i] : memref<6xindex>
    %word = arith.index_cast %index : index to i64
    affine.store %word, %words[%i] : memref<6xi64>
  }
  pto.expect_eq %words, dense<[12, 1, 2, 3, 21, 11]> : tensor<6xi64>, memref<6xi64>
  return
}

func.func @choose(%i: index) -> (i32, i32, i32) {
  %c1 = arith.constant 1 : index
  %ten = arith.constant 10 : i32
  %twenty = arith.constant 20 : i32
  %thirty = arith.constant 30 : i32
  %is_one = arith.cmpi eq, %i, %c1 : index
  %by_if = scf.if %is_one -> i32 {
    scf.yield %ten : i32
  } else {
    scf.yield %twenty : i32
  }
  %by_switch = scf.index_switch %i -> i32
  case 1 {
    scf.yield %ten : i32
  }
  case 2 {
    scf.yield %twenty : i32
  }
  default {
    scf.yield %thirty : i32
  }
  %by_region = scf.execute_region -> i32 {
    cf.cond_br %is_one, ^one, ^other
  ^other:
    scf.yield %twenty : i32
  ^one:
    scf.yield %ten : i32
  }
  return %by_if, %by_switch, %by_region : i32, i32, i32
}

func.func @choices() {
  %out = memref.alloc() : memref<3x3xi32>
  affine.for %i = 0 to 3 {
    %0:3 = func.call @choose(%i) : (index) -> (i32, i32, i32)
    affine.store %0#0, %out[%i, 0] : memref<3x3xi32>
    affine.store %0#1, %out[%i, 1] : memref<3x3xi32>
    affine.store %0#2, %out[%i, 2] : memref<3x3xi32>
  }
  pto.expect_eq %out, dense<[[20, 30, 20], [10, 10, 10], [20, 20, 20]]> : tensor<3x3xi32>, memref<3x3xi32>
  return
}

// Blocks whose order in the text is not an order of dominance, a loop among them, and arguments
// that are exchanged by a branch.
func.func @blocks() {
  %out = memref.alloc() : memref<3xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^start
^after:
  affine.store %last, %out[0] : memref<3xi32>
  affine.store %x, %out[1] : memref<3xi32>
  cf.switch %limit : i32, [
    default: ^done(%c0 : i32),
    4: ^done(%c1 : i32),
    5: ^done(%limit : i32)
  ]
^start:
  %limit = arith.constant 5 : i32
  cf.br ^loop(%c0, %c0, %c1 : i32, i32, i32)
^loop(%i: i32, %x: i32, %y: i32):
  %last = arith.addi %i, %c1 : i32
  %goes_on = arith.cmpi slt, %last, %limit : i32
  cf.cond_br %goes_on, ^loop(%last, %y, %x : i32, i32, i32), ^after
^unreachable:
  cf.br ^unreachable
^done(%chosen: i32):
  affine.store %chosen, %out[2] : memref<3xi32>
  pto.expect_eq %out, dense<[5, 0, 5]> : tensor<3xi32>, memref<3xi32>
  return
}

func.func @affine_ops() {
  %out = memref.alloc() : memref<10xindex>
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : index
  affine.for %i = 0 to 10 {
    affine.store %zero, %out[%i] : memref<10xindex>
  }
  // Bounds that are a maximum and a minimum; a step.
  affine.for %i = max affine_map<(d0) -> (2, d0 - 12)>(%c10) to min affine_map<(d0) -> (d0, 9)>(%c10) step 3 {
    %v = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 2 + s0 mod 3)>(%i)[%c10]
    affine.store %v, %out[%i] : memref<10xindex>
  }
  affine.for %i = 0 to 10 {
    affine.if affine_set<(d0) : (d0 - 7 >= 0, d0 mod 2 == 0)>(%i) {
      affine.store %c10, %out[%i] : memref<10xindex>
    }
  }
  %sum = affine.for %i = 0 to 10 iter_args(%s = %zero) -> index {
    %v = affine.load %out[%i] : memref<10xindex>
    %t = arith.addi %s, %v : index
    affine.yield %t : index
  }
  %least = affine.min affine_map<(d0) -> (d0, 4)>(%sum)
  affine.store %least, %out[0] : memref<10xindex>
  affine.store %sum, %out[1] : memref<10xindex>
  %words = memref.alloc() : memref<10xi64>
  affine.for %i = 0 to 10 {
    %index = affine.load %out[%i] : memref<10xindex>
    %word = arith.index_cast %index : index to i64
    affine.store %word, %words[%i] : memref<10xi64>
  }
  pto.expect_eq %words, dense<[4, 15, 2, 0, 0, 3, 0, 0, 10, 0]> : tensor<10xi64>, memref<10xi64>
  return
}

func.func @main() {
  call @loops() : () -> ()
  call @choices() : () -> ()
  call @blocks() : () -> ()
  call @affine_ops() : () -> ()
  return
}
