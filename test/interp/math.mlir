// RUN: %pto_run %s 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: {{.}}

func.func @main() {
  %half = arith.constant 0.5 : f32
  %two = arith.constant 2.0 : f32
  %neg = arith.constant -1.5 : f32
  %out = memref.alloc() : memref<38xf32>
  %0 = math.absf %neg : f32
  %1 = math.acos %half : f32
  %2 = math.acosh %two : f32
  %3 = math.asin %half : f32
  %4 = math.asinh %half : f32
  %5 = math.atan %half : f32
  %6 = math.atanh %half : f32
  %7 = math.atan2 %half, %neg : f32
  %8 = math.cbrt %two : f32
  %9 = math.ceil %neg : f32
  %10 = math.copysign %half, %neg : f32
  %11 = math.cos %half : f32
  %12 = math.cosh %half : f32
  %13 = math.erf %half : f32
  %14 = math.erfc %half : f32
  %15 = math.exp %half : f32
  %16 = math.exp2 %half : f32
  %17 = math.expm1 %half : f32
  %18 = math.floor %neg : f32
  %19 = math.fma %half, %two, %neg : f32
  %20 = math.log %half : f32
  %21 = math.log10 %half : f32
  %22 = math.log1p %half : f32
  %23 = math.log2 %half : f32
  %24 = math.powf %two, %half : f32
  %25 = math.round %neg : f32
  %26 = math.roundeven %half : f32
  %27 = math.rsqrt %two : f32
  %28 = math.sin %half : f32
  %29 = math.sinh %half : f32
  %30 = math.sqrt %two : f32
  %31 = math.tan %half : f32
  %32 = math.tanh %half : f32
  %33 = math.trunc %neg : f32
  %three = arith.constant 3 : i32
  %34 = math.fpowi %neg, %three : f32, i32
  %35 = math.clampf %neg to [%half, %two] : f32
  %sine, %cosine = math.sincos %half : f32
  affine.store %0, %out[0] : memref<38xf32>
  affine.store %1, %out[1] : memref<38xf32>
  affine.store %2, %out[2] : memref<38xf32>
  affine.store %3, %out[3] : memref<38xf32>
  affine.store %4, %out[4] : memref<38xf32>
  affine.store %5, %out[5] : memref<38xf32>
  affine.store %6, %out[6] : memref<38xf32>
  affine.store %7, %out[7] : memref<38xf32>
  affine.store %8, %out[8] : memref<38xf32>
  affine.store %9, %out[9] : memref<38xf32>
  affine.store %10, %out[10] : memref<38xf32>
  affine.store %11, %out[11] : memref<38xf32>
  affine.store %12, %out[12] : memref<38xf32>
  affine.store %13, %out[13] : memref<38xf32>
  affine.store %14, %out[14] : memref<38xf32>
  affine.store %15, %out[15] : memref<38xf32>
  affine.store %16, %out[16] : memref<38xf32>
  affine.store %17, %out[17] : memref<38xf32>
  affine.store %18, %out[18] : memref<38xf32>
  affine.store %19, %out[19] : memref<38xf32>
  affine.store %20, %out[20] : memref<38xf32>
  affine.store %21, %out[21] : memref<38xf32>
  affine.store %22, %out[22] : memref<38xf32>
  affine.store %23, %out[23] : memref<38xf32>
  affine.store %24, %out[24] : memref<38xf32>
  affine.store %25, %out[25] : memref<38xf32>
  affine.store %26, %out[26] : memref<38xf32>
  affine.store %27, %out[27] : memref<38xf32>
  affine.store %28, %out[28] : memref<38xf32>
  affine.store %29, %out[29] : memref<38xf32>
  affine.store %30, %out[30] : memref<38xf32>
  affine.store %31, %out[31] : memref<38xf32>
  affine.store %32, %out[32] : memref<38xf32>
  affine.store %33, %out[33] : memref<38xf32>
  affine.store %34, %out[34] : memref<38xf32>
  affine.store %35, %out[35] : memref<38xf32>
  affine.store %sine, %out[36] : memref<38xf32>
  affine.store %cosine, %out[37] : memref<38xf32>
  // Values of the C library in double precision, rounded.
  pto.expect_close %out, dense<[
    1.5, 1.0471975511965979, 1.3169578969248166, 0.5235987755982989, 0.48121182505960347,
    0.4636476090008061, 0.5493061443340548, 2.819842099193151, 1.2599210498948732, -1.0,
    -0.5, 0.8775825618903728, 1.1276259652063807, 0.5204998778130465, 0.4795001221869535,
    1.6487212707001282, 1.4142135623730951, 0.6487212707001282, -2.0, -0.5,
    -0.6931471805599453, -0.3010299956639812, 0.4054651081081644, -1.0, 1.4142135623730951,
    -2.0, 0.0, 0.7071067811865476, 0.479425538604203, 0.5210953054937474,
    1.4142135623730951, 0.5463024898437905, 0.46211715726000974, -1.0, -3.375,
    0.5, 0.479425538604203, 0.8775825618903728]> : tensor<38xf32>, memref<38xf32> {ulp = 1 : i64}

  %ints = memref.alloc() : memref<6xi32>
  %m8 = arith.constant -8 : i32
  %k0 = math.absi %m8 : i32
  %k1 = math.ctlz %three : i32
  %k2 = math.cttz %m8 : i32
  %k3 = math.ctpop %m8 : i32
  %k4 = math.ipowi %m8, %three : i32
  %is = math.isnan %half : f32
  %k5 = arith.extui %is : i1 to i32
  affine.store %k0, %ints[0] : memref<6xi32>
  affine.store %k1, %ints[1] : memref<6xi32>
  affine.store %k2, %ints[2] : memref<6xi32>
  affine.store %k3, %ints[3] : memref<6xi32>
  affine.store %k4, %ints[4] : memref<6xi32>
  affine.store %k5, %ints[5] : memref<6xi32>
  pto.expect_eq %ints, dense<[8, 30, 3, 29, -512, 0]> : tensor<6xi32>, memref<6xi32>
  return
}
