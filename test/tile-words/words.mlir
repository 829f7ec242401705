// The words of the commands of tile operations, and the operations of the words.
// RUN: %pto_translate --pto-to-tile-words %s > %t.json
// RUN: FileCheck %s --input-file %t.json
// RUN: %pto_translate --pto-from-tile-words %t.json > %t.mlir
// RUN: FileCheck %s --check-prefix=BACK --input-file %t.mlir
// RUN: %pto_translate --pto-to-tile-words %t.mlir | diff %t.json -

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xbf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>
!q = memref<16x32xsi8, #pto.mem<cube_m16>>
!row = memref<16x1xf32, #pto.mem<cube_m16>>
!exp = memref<16x1xui8, #pto.mem<cube_m32>>

// CHECK:      "schema": "pto-tile-words/1"
// CHECK:      "name": "f"

// BACK-LABEL: func.func @f
// BACK-SAME:  (%[[A:.*]]: memref<16x64xf16, #pto.mem<cube_m16>>, %[[B:.*]]: memref<64x32xbf16, #pto.mem<cube_n8>>, %[[E:.*]]: memref<16x1xui8, #pto.mem<cube_m32>>, %[[S:.*]]: i64)
func.func @f(%a: !a, %b: !b, %e: !exp, %s: i64) {
  %c = pto.tile_alloc : !c
  %d = pto.tile_alloc : !c
  %q = pto.tile_alloc size(3) : !q
  %r = pto.tile_alloc : !row

  // CHECK:      "name": "TMATMUL",
  // CHECK-NEXT: "element": 0,
  // CHECK:      "command": "BSTART",
  // CHECK-NEXT: "word": "0x20031181"
  // CHECK:      "command": "B.DATR",
  // CHECK-NEXT: "b_type": 5,
  // CHECK-NEXT: "rmode": 0,
  // CHECK-NEXT: "sat": false
  // CHECK:      "dimension": 0,
  // CHECK-NEXT: "value": 16
  // CHECK:      "dimension": 1,
  // CHECK-NEXT: "value": 32
  // CHECK:      "dimension": 2,
  // CHECK-NEXT: "value": 64
  // CHECK:      "command": "B.FPATR",
  // CHECK-NEXT: "word": "0x00002023"
  // CHECK-NOT:  "B.IOR"
  // CHECK:      "command": "B.IOT",
  // CHECK:      "register": 16,
  // CHECK-NEXT: "layout": "cube_m16"
  // CHECK:      "register": 17,
  // CHECK-NEXT: "layout": "cube_n8"
  // CHECK:      "hand": 2,
  // CHECK-NEXT: "size_code": 5,
  // CHECK-NEXT: "register": 32,
  // CHECK-NEXT: "layout": "cube_m16"
  // CHECK:      "pe_mode": 7,
  // CHECK-NEXT: "last": true
  // BACK:       %[[C:.*]] = pto.tile_alloc size(5)
  // BACK-NEXT:  pto.tmatmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c)

  // CHECK:      "name": "TMATMUL_ACC",
  // CHECK:      "word": "0x20231181"
  // CHECK:      "command": "B.FPATR",
  // CHECK-NEXT: "word": "0x00002223"
  // CHECK:      "register": 32,
  // CHECK:      "register": 16,
  // CHECK:      "hand": 2,
  // CHECK-NEXT: "size_code": 5,
  // CHECK-NEXT: "register": 33,
  // CHECK:      "last": false
  // CHECK:      "register": 17,
  // CHECK:      "register": 18,
  // CHECK:      "destination": null,
  // CHECK:      "last": true
  // BACK:       %[[D:.*]] = pto.tile_alloc size(5)
  // BACK-NEXT:  pto.tmatmul_acc ins(%[[C]], %[[A]], %[[B]] : {{.*}}) outs(%[[D]] : {{.*}}) c_scale(%[[E]] :
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%d : !c) c_scale(%e : !exp)

  // The register of %c is free again.
  // CHECK:      "command": "B.DATR",
  // CHECK-NEXT: "b_type": 5,
  // CHECK-NEXT: "rmode": 2,
  // CHECK-NEXT: "sat": true
  // CHECK:      "command": "B.FPATR",
  // CHECK-NEXT: "word": "0x60842023"
  // CHECK:      "command": "B.IOR",
  // CHECK-NEXT: "registers": [
  // CHECK-NEXT:   0
  // CHECK:      "register": 33,
  // CHECK:      "size_code": 3,
  // CHECK-NEXT: "register": 32,
  // CHECK:      "size_code": 1,
  // CHECK-NEXT: "register": 34,
  // BACK:       pto.tmatmul_acc ins(%[[D]], {{.*}} quant(%[[S]] : i64) row_max(%{{.*}} : memref<16x1xf32, #pto.mem<cube_m16>>) {mask = 15 : i64, post = #pto.post<pre_quant = 24, relu = 1, group = 0, row_max>, rmode = #pto.rmode<rtz>, sat}
  pto.tmatmul_acc ins(%d, %a, %b : !c, !a, !b) outs(%q : !q) quant(%s : i64) row_max(%r : !row)
    {rmode = #pto.rmode<rtz>, sat, post = #pto.post<pre_quant = 24, relu = 1, row_max>}
  return
}
