// What is loaded into a tile with more room than it needs has that room after reading back, and so the
// accumulator and its destination have one capacity.
// RUN: %pto_translate --pto-to-tile-words %s > %t.json
// RUN: FileCheck %s --input-file %t.json
// RUN: %pto_translate --pto-from-tile-words %t.json > %t.mlir
// RUN: FileCheck %s --check-prefix=BACK --input-file %t.mlir
// RUN: %pto_translate --pto-to-tile-words %t.mlir | diff %t.json -
// RUN: %pto_run --random-inputs %t.mlir 2>&1 | FileCheck %s --check-prefix=EXECUTED
// EXECUTED: remark: ran the reference alone
// EXECUTED-NOT: fault

// CHECK:      "register": 16,
// CHECK-NEXT: "layout": "cube_m16",
// CHECK-NEXT: "size_code": 6
// CHECK:      "register": 17,
// CHECK-NEXT: "layout": "cube_m16"
// CHECK-NEXT: }
// CHECK:      "size_code": 6,
// CHECK-NEXT: "register": 32,
// CHECK:      "register": 18,
// CHECK-NEXT: "layout": "cube_n8"
// CHECK-NEXT: }

// BACK:      func.func @f(%[[C:.*]]: memref<16x32xf32>, %[[A:.*]]: memref<16x64xf16>, %[[B:.*]]: memref<64x32xf16>)
// BACK-NEXT: %[[TC:.*]] = pto.tile_alloc size(6)
// BACK-NEXT: pto.copy %[[C]], %[[TC]]
// BACK-NEXT: %[[TA:.*]] = pto.tile_alloc :
// BACK-NEXT: pto.copy %[[A]], %[[TA]]
// BACK-NEXT: %[[TB:.*]] = pto.tile_alloc :
// BACK-NEXT: pto.copy %[[B]], %[[TB]]
// BACK-NEXT: %[[D:.*]] = pto.tile_alloc size(6)
// BACK-NEXT: pto.tmatmul_acc ins(%[[TC]], %[[TA]], %[[TB]] :
// BACK-SAME: outs(%[[D]] :
func.func @f(%x: memref<16x32xf32>, %y: memref<16x64xf16>, %z: memref<64x32xf16>) {
  %c = pto.tile_alloc size(6) : memref<16x32xf32, #pto.mem<cube_m16>>
  %a = pto.tile_alloc : memref<16x64xf16, #pto.mem<cube_m16>>
  %b = pto.tile_alloc : memref<64x32xf16, #pto.mem<cube_n8>>
  %d = pto.tile_alloc size(6) : memref<16x32xf32, #pto.mem<cube_m16>>
  pto.copy %x, %c : memref<16x32xf32>, memref<16x32xf32, #pto.mem<cube_m16>>
  pto.copy %y, %a : memref<16x64xf16>, memref<16x64xf16, #pto.mem<cube_m16>>
  pto.copy %z, %b : memref<64x32xf16>, memref<64x32xf16, #pto.mem<cube_n8>>
  pto.tmatmul_acc ins(%c, %a, %b : memref<16x32xf32, #pto.mem<cube_m16>>, memref<16x64xf16, #pto.mem<cube_m16>>, memref<64x32xf16, #pto.mem<cube_n8>>)
    outs(%d : memref<16x32xf32, #pto.mem<cube_m16>>)
  return
}
