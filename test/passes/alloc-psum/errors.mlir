// What is diagnosed; the function stays as it was.
// RUN: %pto_opt --pto-alloc-psum=banks=0-1 -split-input-file -verify-diagnostics %s

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!y = memref<128x512xf32, #pto.mem<sbuf>>
!acc = memref<128x512xf32, #pto.mem<psum>>

func.func @overflow(%w: !w, %x: !x, %y: !y) {
  // expected-note@+1 {{this one is alive}}
  %a = pto.psum_alloc : !acc
  // expected-note@+1 {{this one is alive}}
  %b = memref.alloc() : !acc
  // expected-error@+1 {{expected room for a whole bank in banks 0 to 1 of psum, found 2 other buffers and callees alive at the time [pto:psum-overflow]}}
  %c = pto.psum_alloc : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%c : !acc)
  pto.copy %a, %y : !acc, !y
  pto.copy %b, %y : !acc, !y
  pto.copy %c, %y : !acc, !y
  return
}

// -----

func.func @large() {
  // expected-error@+1 {{expected a buffer of at most 4096 bytes in each partition, which are 2 banks, found 6144 [pto:psum-overflow]}}
  %a = pto.psum_alloc : memref<128x1536xf32, #pto.mem<psum>>
  return
}

// -----

// expected-error@+1 {{expected a psum argument with a place (pto.bank), found none: its place is the caller's choice [pto:unplaced]}}
func.func @argument(%a: memref<128x512xf32, #pto.mem<psum>>) {
  return
}

// -----

func.func @element() {
  // expected-error@+2 {{expected the buffer of f32, i32 or bf16 in psum, found 'f16' [pto:element-type]}}
  // expected-error@+1 {{expected an allocation that psum can hold [pto:placement]}}
  %a = memref.alloc() : memref<128x16xf16, #pto.mem<psum>>
  return
}

// -----

!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x256xbf16, #pto.mem<sbuf>>
!acc = memref<32x256xf32, #pto.mem<psum>>

func.func @tiles(%w: !w, %x: !x) {
  %a = pto.psum_alloc : !acc
  // expected-note@+1 {{partition 32 for this one}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) tile(128, 32) at(0, 32)
  // expected-error@+1 {{expected tiles that agree about where the buffer begins, found partition 64 for this one [pto:tile-position]}}
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc) tile(128, 32) at(0, 64)
  return
}

// -----

func.func @view(%y: memref<32x256xf32, #pto.mem<sbuf>>) {
  // expected-error@+1 {{expected a buffer that can begin where all of its views are legal: of more than 64 partitions only at 0, more than 32 at 0 or 64, others at a multiple of 32; found a view of partitions 16..48 [pto:start-partition]}}
  %a = pto.psum_alloc : memref<64x256xf32, #pto.mem<psum>>
  %v = memref.subview %a[16, 0] [32, 256] [1, 1] : memref<64x256xf32, #pto.mem<psum>> to memref<32x256xf32, strided<[256, 1], offset: 4096>, #pto.mem<psum>>
  pto.copy %v, %y : memref<32x256xf32, strided<[256, 1], offset: 4096>, #pto.mem<psum>>, memref<32x256xf32, #pto.mem<sbuf>>
  return
}
