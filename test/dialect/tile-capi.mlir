// What the C accessors say of operations on tiles.
// RUN: %capi_test read %s | FileCheck %s

!A = memref<16x64xf16, #pto.mem<cube_m16>>
!B = memref<64x32xf16, #pto.mem<cube_n8>>
!C = memref<16x32xf32, #pto.mem<cube_m16>>
!D = memref<16x32x!pto.hif8, #pto.mem<cube_m16>>
!Q = memref<1x32xi64, #pto.mem<cube_m16>>
!R = memref<16x1xf32, #pto.mem<cube_m16>>
!G = memref<16x4xf32, #pto.mem<cube_m16>>
!S = memref<16x1xui8, #pto.mem<cube_m32>>
!E = memref<16x64xf8E5M2, #pto.mem<cube_m16>>
!ES = memref<16x2xf8E8M0FNU, #pto.mem<cube_m32>>
!F = memref<64x32x!pto.hif4, #pto.mem<cube_n8>>
!FS = memref<32x1xui32, #pto.mem<cube_m32>>
!V = memref<1x32xf32, #pto.mem<cube_m16>>

// CHECK: func.func kind 0{{$}}
func.func @read(%a: !A, %b: !B, %c: !C, %e: !E, %es: !ES, %f: !F, %fs: !FS, %v: !V, %q: i64, %p: !Q, %s: !S, %ri: !R, %ro: !R, %g: !G, %w: memref<64x16xf16, #pto.mem<sbuf>>, %x: memref<64x32xf16, #pto.mem<sbuf>>, %y: memref<16x32xf32, #pto.mem<psum>>) {
  // CHECK-NEXT: pto.tile_alloc kind 10 tile space 1 code 3 bytes 512 smallest type 6
  %d = pto.tile_alloc : !D
  // CHECK-NEXT: pto.tile_alloc kind 10 tile space 2 code 10 bytes 65536 sized type 27
  %0 = pto.tile_alloc size(10) : !S
  // CHECK-NEXT: pto.tile_alloc kind 10 tile space 3 code 5 bytes 2048 smallest type 14
  %1 = pto.tile_alloc : memref<64x64x!pto.hif4, #pto.mem<cube_n8>>
  // CHECK-NEXT: pto.tile_alloc kind 10 tile space 4 code 12 bytes 262144 sized type 20
  %2 = pto.tile_alloc size(12) : memref<8x8xsi4, #pto.mem<shared>>
  // CHECK-NEXT: pto.tile_alloc kind 10 tile space 1 code 2 bytes 256 smallest type 24
  %3 = pto.tile_alloc : !Q
  // CHECK-NEXT: pto.tmatmul kind 9 function 0 rmode 0 mask 15 sat 0 trans 00 post 0 0,0,0 0000 lhs memref<16x64xf16, #pto.mem<cube_m16>> rhs memref<64x32xf16, #pto.mem<cube_n8>> dst memref<16x32xf32, #pto.mem<cube_m16>> engine 0 token 1
  %t = pto.tmatmul ins(%a, %b : !A, !B) outs(%c : !C) -> !pto.token
  // CHECK-NEXT: pto.tmatmul_acc kind 9 function 2 rmode 0 mask 14 sat 1 trans 00 post 1 28,3,1 1111
  // CHECK-SAME: accumulator memref<16x32xf32, {{.*}}> lhs memref<16x64xf16, {{.*}}> rhs memref<64x32xf16, {{.*}}> dst memref<16x32x!pto.hif8, {{.*}}> rowMax memref<16x1xf32, {{.*}}> groupMax memref<16x4xf32, {{.*}}> cScale memref<16x1xui8, {{.*}}> rowMaxIn memref<16x1xf32, {{.*}}> quant memref<1x32xi64, {{.*}}> prelu memref<1x32xi64, {{.*}}> engine 0 token 0 inserted 0 after pto.tmatmul
  // CHECK-SAME: operands 3/1,3/1,3/1,3/3,5/0,3/1,3/1,3/1,3/1,3/2,3/2{{$}}
  pto.tmatmul_acc ins(%c, %a, %b : !C, !A, !B) outs(%d : !D) after(%t) c_scale(%s : !S) row_max_in(%ri : !R) quant(%p : !Q) prelu(%p : !Q) row_max(%ro : !R) group_max(%g : !G) {sat, mask = 14, post = #pto.post<pre_quant = 28, relu = 3, group = 1, row_max, group_max, row_max_init, max_abs>}
  // CHECK-NEXT: pto.tmatmul_bias kind 9 function 1 rmode 2 mask 15 sat 0 trans 00 post 1 27,0,0 0000 {{.*}} bias memref<1x32xf32, {{.*}}> dst {{.*}} quant i64 engine 0 {{.*}} operands 3/1,3/1,3/1,3/2,5/0{{$}}
  pto.tmatmul_bias ins(%a, %b, %v : !A, !B, !V) outs(%c : !C) quant(%q : i64) {rmode = #pto.rmode<rtz>, post = #pto.post<pre_quant = 27>}
  // CHECK-NEXT: pto.tmatmul_mx kind 9 function 4 {{.*}} lhs memref<16x64xf8E5M2, {{.*}}> lhsScale memref<16x2xf8E8M0FNU, {{.*}}> rhs memref<64x32x!pto.hif4, {{.*}}> rhsScale memref<32x1xui32, {{.*}}> dst
  pto.tmatmul_mx ins(%e, %es, %f, %fs : !E, !ES, !F, !FS) outs(%c : !C)
  // CHECK-NEXT: pto.tmatmul_mx_bias kind 9 function 5 {{.*}} lhs memref<16x64xf16, {{.*}}> rhs memref<64x32x!pto.hif4, {{.*}}> rhsScale memref<32x1xui32, {{.*}}> bias memref<1x32xf32, {{.*}}> dst
  pto.tmatmul_mx_bias ins(%a, %f, %fs, %v : !A, !F, !FS, !V) outs(%c : !C)
  // CHECK-NEXT: pto.tmatmul_mx_acc kind 9 function 6 {{.*}} accumulator memref<16x32xf32, {{.*}}> lhs memref<16x64xf8E5M2, {{.*}}> lhsScale memref<16x2xf8E8M0FNU, {{.*}}> rhs memref<64x32xf16, {{.*}}> dst
  pto.tmatmul_mx_acc ins(%c, %e, %es, %b : !C, !E, !ES, !B) outs(%c : !C)
  // On the PE array it is no tile operation.
  // CHECK-NEXT: pto.tmatmul kind 1 acc -1 {{.*}} lhs memref<64x16xf16, #pto.mem<sbuf>> rhs memref<64x32xf16, #pto.mem<sbuf>> engine 0
  pto.tmatmul ins(%w, %x : memref<64x16xf16, #pto.mem<sbuf>>, memref<64x32xf16, #pto.mem<sbuf>>) outs(%y : memref<16x32xf32, #pto.mem<psum>>)
  return
}

// CHECK: func.func kind 0{{$}}
func.func @vector(%a: memref<1x64xf16, #pto.mem<cube_m16>>, %b: !B, %c: !V) {
  // CHECK-NEXT: pto.tmatmul kind 9 function 16
  pto.tmatmul ins(%a, %b : memref<1x64xf16, #pto.mem<cube_m16>>, !B) outs(%c : !V) {gemv}
  return
}
