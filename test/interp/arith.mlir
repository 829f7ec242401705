// RUN: %pto_run %s 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: {{.}}

// Integers wrap, divide and shift as documented; every value is checked in place.
func.func @integers() {
  %out = memref.alloc() : memref<26xi8>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m7 = arith.constant -7 : i8
  %p2 = arith.constant 2 : i8
  %min = arith.constant -128 : i8
  %m1 = arith.constant -1 : i8
  %p9 = arith.constant 9 : i8

  %0 = arith.addi %min, %m1 : i8
  %1 = arith.subi %min, %p2 : i8
  %2 = arith.muli %m7, %m7 : i8
  %3 = arith.divsi %m7, %p2 : i8
  %4 = arith.divui %m7, %p2 : i8
  %5 = arith.ceildivsi %m7, %p2 : i8
  %6 = arith.ceildivui %m7, %p2 : i8
  %7 = arith.floordivsi %m7, %p2 : i8
  %8 = arith.remsi %m7, %p2 : i8
  %9 = arith.remui %m7, %p2 : i8
  %10 = arith.andi %m7, %p9 : i8
  %11 = arith.ori %m7, %p9 : i8
  %12 = arith.xori %m7, %p9 : i8
  %13 = arith.shli %p9, %p2 : i8
  %14 = arith.shrsi %m7, %p2 : i8
  %15 = arith.shrui %m7, %p2 : i8
  %16 = arith.shli %p9, %p9 : i8
  %17 = arith.shrsi %m7, %p9 : i8
  %18 = arith.maxsi %m7, %p2 : i8
  %19 = arith.maxui %m7, %p2 : i8
  %20 = arith.minsi %m7, %p2 : i8
  %21 = arith.minui %m7, %p2 : i8
  %22 = arith.divsi %min, %m1 : i8
  %low, %high = arith.mulsi_extended %m7, %p9 : i8
  %sum, %carry = arith.addui_extended %m1, %p2 : i8, i1
  %25 = arith.extui %carry : i1 to i8
  memref.store %0, %out[%c0] : memref<26xi8>
  affine.store %1, %out[1] : memref<26xi8>
  affine.store %2, %out[2] : memref<26xi8>
  affine.store %3, %out[3] : memref<26xi8>
  affine.store %4, %out[4] : memref<26xi8>
  affine.store %5, %out[5] : memref<26xi8>
  affine.store %6, %out[6] : memref<26xi8>
  affine.store %7, %out[7] : memref<26xi8>
  affine.store %8, %out[8] : memref<26xi8>
  affine.store %9, %out[9] : memref<26xi8>
  affine.store %10, %out[10] : memref<26xi8>
  affine.store %11, %out[11] : memref<26xi8>
  affine.store %12, %out[12] : memref<26xi8>
  affine.store %13, %out[13] : memref<26xi8>
  affine.store %14, %out[14] : memref<26xi8>
  affine.store %15, %out[15] : memref<26xi8>
  affine.store %16, %out[16] : memref<26xi8>
  affine.store %17, %out[17] : memref<26xi8>
  affine.store %18, %out[18] : memref<26xi8>
  affine.store %19, %out[19] : memref<26xi8>
  affine.store %20, %out[20] : memref<26xi8>
  affine.store %21, %out[21] : memref<26xi8>
  affine.store %22, %out[22] : memref<26xi8>
  affine.store %high, %out[23] : memref<26xi8>
  affine.store %sum, %out[24] : memref<26xi8>
  affine.store %25, %out[25] : memref<26xi8>
  pto.expect_eq %out, dense<[127, 126, 49, -3, 124, -3, 125, -4, -1, 1, 9, -7, -16, 36, -2, 62, 0, -1, 2, -7, -7, 2, -128, -1, 1, 1]> : tensor<26xi8>, memref<26xi8>
  return
}

func.func @comparisons() {
  %out = memref.alloc() : memref<8xi1>
  %m1 = arith.constant -1 : i32
  %p1 = arith.constant 1 : i32
  %nan = arith.constant 0x7FC00000 : f32
  %zero = arith.constant 0.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %0 = arith.cmpi slt, %m1, %p1 : i32
  %1 = arith.cmpi ult, %m1, %p1 : i32
  %2 = arith.cmpi sge, %m1, %p1 : i32
  %3 = arith.cmpi ugt, %m1, %p1 : i32
  %4 = arith.cmpf oeq, %zero, %minus_zero : f32
  %5 = arith.cmpf uno, %nan, %zero : f32
  %6 = arith.cmpf one, %nan, %zero : f32
  %7 = arith.cmpf une, %nan, %nan : f32
  affine.store %0, %out[0] : memref<8xi1>
  affine.store %1, %out[1] : memref<8xi1>
  affine.store %2, %out[2] : memref<8xi1>
  affine.store %3, %out[3] : memref<8xi1>
  affine.store %4, %out[4] : memref<8xi1>
  affine.store %5, %out[5] : memref<8xi1>
  affine.store %6, %out[6] : memref<8xi1>
  affine.store %7, %out[7] : memref<8xi1>
  %bytes = memref.alloc() : memref<8xi8>
  affine.for %i = 0 to 8 {
    %bit = affine.load %out[%i] : memref<8xi1>
    %byte = arith.extui %bit : i1 to i8
    affine.store %byte, %bytes[%i] : memref<8xi8>
  }
  pto.expect_eq %bytes, dense<[1, 0, 0, 1, 1, 1, 0, 1]> : tensor<8xi8>, memref<8xi8>
  return
}

func.func @floats() {
  %out = memref.alloc() : memref<14xf32>
  %a = arith.constant 5.5 : f32
  %b = arith.constant -2.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %zero = arith.constant 0.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %0 = arith.addf %a, %b : f32
  %1 = arith.subf %a, %b : f32
  %2 = arith.mulf %a, %b : f32
  %3 = arith.divf %a, %b : f32
  %4 = arith.remf %a, %b : f32
  %5 = arith.negf %zero : f32
  %6 = arith.maximumf %minus_zero, %zero : f32
  %7 = arith.minimumf %minus_zero, %zero : f32
  %8 = arith.maxnumf %nan, %b : f32
  %9 = arith.minimumf %nan, %b : f32
  %half = arith.truncf %a : f32 to bf16
  %big = arith.constant 256.0 : bf16
  %one = arith.constant 1.0 : bf16
  // A bf16 sum sticks at 256.
  %stuck = arith.addf %big, %one : bf16
  %10 = arith.extf %stuck : bf16 to f32
  %11 = arith.extf %half : bf16 to f32
  %true = arith.constant true
  %12 = arith.select %true, %a, %b : f32
  %int = arith.constant 16777217 : i32
  %13 = arith.sitofp %int : i32 to f32
  affine.store %0, %out[0] : memref<14xf32>
  affine.store %1, %out[1] : memref<14xf32>
  affine.store %2, %out[2] : memref<14xf32>
  affine.store %3, %out[3] : memref<14xf32>
  affine.store %4, %out[4] : memref<14xf32>
  affine.store %5, %out[5] : memref<14xf32>
  affine.store %6, %out[6] : memref<14xf32>
  affine.store %7, %out[7] : memref<14xf32>
  affine.store %8, %out[8] : memref<14xf32>
  affine.store %9, %out[9] : memref<14xf32>
  affine.store %10, %out[10] : memref<14xf32>
  affine.store %11, %out[11] : memref<14xf32>
  affine.store %12, %out[12] : memref<14xf32>
  affine.store %13, %out[13] : memref<14xf32>
  pto.expect_eq %out, dense<[3.5, 7.5, -11.0, -2.75, 1.5, -0.0, 0.0, -0.0, -2.0, 0x7FC00000, 256.0, 5.5, 5.5, 16777216.0]> : tensor<14xf32>, memref<14xf32>
  return
}

func.func @casts() {
  %out = memref.alloc() : memref<8xi32>
  %big = arith.constant 1.0e30 : f32
  %neg = arith.constant -1.9 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %m1 = arith.constant -1 : i8
  %index = arith.constant -2 : index
  %one = arith.constant 1.0 : f32
  %0 = arith.fptosi %big : f32 to i32
  %1 = arith.fptosi %neg : f32 to i32
  %2 = arith.fptoui %neg : f32 to i32
  %3 = arith.fptosi %nan : f32 to i32
  %4 = arith.extui %m1 : i8 to i32
  %5 = arith.extsi %m1 : i8 to i32
  %6 = arith.index_cast %index : index to i32
  %7 = arith.bitcast %one : f32 to i32
  affine.store %0, %out[0] : memref<8xi32>
  affine.store %1, %out[1] : memref<8xi32>
  affine.store %2, %out[2] : memref<8xi32>
  affine.store %3, %out[3] : memref<8xi32>
  affine.store %4, %out[4] : memref<8xi32>
  affine.store %5, %out[5] : memref<8xi32>
  affine.store %6, %out[6] : memref<8xi32>
  affine.store %7, %out[7] : memref<8xi32>
  pto.expect_eq %out, dense<[2147483647, -1, 0, 0, 255, -1, -2, 1065353216]> : tensor<8xi32>, memref<8xi32>
  return
}

func.func @main() {
  call @integers() : () -> ()
  call @comparisons() : () -> ()
  call @floats() : () -> ()
  call @casts() : () -> ()
  return
}
