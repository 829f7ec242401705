// The module is unchanged on standard output, the map on standard error.
// RUN: %pto_opt --pto-print-psum %s -o %t.mlir 2>&1 | FileCheck %s
// RUN: %pto_opt %s | diff - %t.mlir
// RUN: not %pto_opt --pto-print-psum='target=trn9' %s 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: expected a target with a matrix engine

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!acc = memref<128x256xf32, #pto.mem<psum>>

// CHECK-LABEL: @one_bank on trn2: 6 instructions, 2 groups
// CHECK-NEXT: #0 at {{.*}}map.mlir:[[#@LINE+16]]:3: A group 0
// CHECK-NEXT: {{^}}  bank 0  AAAA~~~~ AAAA~~~~ AAAA~~~~ AAAA~~~~{{$}}
// CHECK-NEXT: #1-#2 at {{.*}}map.mlir:[[#@LINE+15]]:3 to {{.*}}:[[#@LINE+17]]:3: A group 0, B group 1
// CHECK-NEXT: {{^}}  bank 0  AAAABBBB AAAABBBB AAAABBBB AAAABBBB{{$}}
// CHECK-NEXT: #3 at
// CHECK-NEXT: {{^}}  bank 0  aaaaBBBB aaaaBBBB aaaaBBBB aaaaBBBB{{$}}
// CHECK-NEXT: #4 at
// CHECK-NEXT: {{^}}  bank 0  ....BBBB ....BBBB ....BBBB ....BBBB{{$}}
// CHECK-NEXT: #5 at {{.*}}: B group 1
// CHECK-NEXT: {{^}}  bank 0  ....bbbb ....bbbb ....bbbb ....bbbb{{$}}
// CHECK-NOT: {{^}}  bank
func.func @one_bank(%w: !w, %x: !x, %out: memref<128x256xf32>) {
  %a = pto.psum_alloc bank(0) offset(0) : !acc
  %b = pto.psum_alloc bank(0) offset(1024) : !acc


  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(0)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc) acc<none> zero_region(0)

  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) acc<stop> zero_region(0)
  pto.copy %a, %out : !acc, memref<128x256xf32>
  pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc) acc<stop> zero_region(0)
  pto.copy %b, %out : !acc, memref<128x256xf32>
  return
}

// CHECK-LABEL: @quadrants on trn2: 2 instructions, 1 groups
// CHECK-NEXT: #0-#1 at {{.*}}: A group 0
// CHECK-NEXT: {{^}}  bank 1  #....... #....... #....... #.......{{$}}
// CHECK-NEXT: {{^}}  bank 3  ........ ........ AAAA.... ........{{$}}
func.func @quadrants(%w: memref<128x32xbf16, #pto.mem<sbuf>>, %x: !x,
    %bias: memref<128x64xf32, #pto.mem<psum>> {pto.bank = 1 : i64}) {
  %a = pto.psum_alloc bank(3) partition(64) : memref<32x256xf32, #pto.mem<psum>>
  pto.tmatmul ins(%w, %x : memref<128x32xbf16, #pto.mem<sbuf>>, !x)
      outs(%a : memref<32x256xf32, #pto.mem<psum>>) tile(128, 32) at(0, 64)
  pto.tmatmul_acc ins(%a, %w, %x : memref<32x256xf32, #pto.mem<psum>>, memref<128x32xbf16, #pto.mem<sbuf>>, !x)
      outs(%a : memref<32x256xf32, #pto.mem<psum>>) tile(128, 32) at(0, 64)
  return
}

// CHECK-NOT: @declared
func.func private @declared()
