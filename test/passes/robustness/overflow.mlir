// Numbers at the ends of their ranges, and sizes that nobody knows: refused with what was expected.
// RUN: %pto_opt -split-input-file -verify-diagnostics -allow-unregistered-dialect -mlir-print-op-on-diagnostic=false --pto-legalize-acc %s
// RUN: not %pto_opt -split-input-file -allow-unregistered-dialect --pto-order-column-tiles --pto-mark-first --pto-verify-acc --pto-reset-acc %s 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS-NOT: pto:internal
// OTHERS: error: {{.*}}[pto:buffer-size]
// OTHERS-NOT: pto:internal

!acc = memref<128x512xf32, #pto.mem<psum>>
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
func.func @offset(%w: !w, %x: !x) {
  %a = pto.psum_alloc bank(0) : memref<128x1024xf32, #pto.mem<psum>>
  // expected-error @below {{offset 1 is out-of-bounds: 9223372036854775807 >= 1024}}
  %v = memref.subview %a[0, 9223372036854775807] [128, 512] [1, 1] : memref<128x1024xf32, #pto.mem<psum>> to memref<128x512xf32, strided<[1024, 1], offset: 9223372036854775807>, #pto.mem<psum>>
  pto.tmatmul ins(%w, %x : !w, !x) outs(%v : memref<128x512xf32, strided<[1024, 1], offset: 9223372036854775807>, #pto.mem<psum>>)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!v = memref<128x512xf32, strided<[4611686018427387904, 4611686018427387904]>, #pto.mem<psum>>
func.func @strides(%w: !w, %x: !x) {
  // expected-note @below {{the allocation is here}}
  %a = pto.psum_alloc bank(0) : memref<128x512xf32, #pto.mem<psum>>
  %v = memref.reinterpret_cast %a to offset: [0], sizes: [128, 512], strides: [4611686018427387904, 4611686018427387904] : memref<128x512xf32, #pto.mem<psum>> to !v
  // expected-error @below {{found a stride of 4611686018427387904 [pto:view]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%v : !v)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!v = memref<128x512xf32, strided<[512, 1], offset: -9223372036854775807>, #pto.mem<psum>>
func.func @negative(%w: !w, %x: !x) {
  %a = pto.psum_alloc bank(0) : memref<128x512xf32, #pto.mem<psum>>
  // expected-error @below {{expected offsets to be non-negative}}
  %v = memref.reinterpret_cast %a to offset: [-9223372036854775807], sizes: [128, 512], strides: [512, 1] : memref<128x512xf32, #pto.mem<psum>> to !v
  pto.tmatmul ins(%w, %x : !w, !x) outs(%v : !v)
  return
}

// -----

func.func @shape() {
  // expected-error @below {{partitions of at most 128 on any target, found 9223372036854775807 [pto:buffer-size]}}
  %a = pto.psum_alloc bank(0) : memref<9223372036854775807x9223372036854775807xf32, #pto.mem<psum>>
  return
}

// -----

func.func @bank() {
  // expected-error @below {{expected a bank from 0 to 7, found 9223372036854775807 [pto:placement]}}
  %a = pto.psum_alloc bank(9223372036854775807) offset(9223372036854775807) : memref<128x512xf32, #pto.mem<psum>>
  return
}

// -----

func.func @bank() {
  // expected-error @below {{expected a bank from 0 to 7, found -1 [pto:placement]}}
  %a = pto.psum_alloc bank(-1) : memref<128x512xf32, #pto.mem<psum>>
  return
}

// -----

func.func @bank() {
  // expected-error @below {{integer constant out of range for attribute}}
  %a = pto.psum_alloc bank(340282366920938463463374607431768211456) : memref<128x512xf32, #pto.mem<psum>>
  return
}

// -----

func.func @bank_bits() {
  // expected-error @below {{expected a bank from 0 to 7, found 4294967296 [pto:placement]}}
  %a = "pto.psum_alloc"() <{bank = 4294967296 : i64, partition = 4294967296 : i64, offset = 4294967296 : i64}> : () -> memref<128x512xf32, #pto.mem<psum>>
  return
}

// -----

func.func @partition() {
  // expected-error @below {{found 9223372036854775807 [pto:start-partition]}}
  %a = pto.psum_alloc bank(0) partition(9223372036854775807) : memref<32x512xf32, #pto.mem<psum>>
  return
}

// -----

!acc = memref<32x512xf32, #pto.mem<psum>>
!w = memref<128x32xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
func.func @tile(%w: !w, %x: !x) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @below {{integer value too large}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) tile(128, 32) at(0, 9223372036854775776)
  return
}

// -----

!acc = memref<128x512xf32, #pto.mem<psum>>
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
func.func @region(%w: !w, %x: !x) {
  %a = pto.psum_alloc bank(0) : !acc
  // expected-error @below {{expected a zero region code from 0 to 3, found 9223372036854775807 [pto:zero-region]}}
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start> zero_region(9223372036854775807)
  return
}

// -----

!v = memref<?x?xf32, strided<[?, ?], offset: ?>, #pto.mem<psum>>
!w = memref<?x?xbf16, strided<[?, ?], offset: ?>, #pto.mem<sbuf>>
// expected-error @below {{expected a psum buffer of static shape and layout, found memref<?x?xf32}}
func.func @dynamic(%a: !v, %w: !w, %o: memref<?x?xf32>, %n: index) {
  pto.tmatmul ins(%w, %w : !w, !w) outs(%a : !v)
  %v = memref.subview %a[%n, %n] [%n, %n] [%n, %n] : !v to !v
  pto.tmatmul_acc ins(%v, %w, %w : !v, !w, !w) outs(%v : !v)
  pto.copy %v, %o : !v, memref<?x?xf32>
  return
}

// -----

// expected-error @below {{expected pto.psum_banks to be an array<i32> of banks, found array<i64}}
func.func @banks() attributes {pto.psum_banks = array<i64: 9223372036854775807, -1>} {
  return
}

// -----

// expected-error @below {{found memref<*xf32, #pto.mem<psum>> [pto:dynamic-access]}}
func.func @unranked(%a: memref<*xf32, #pto.mem<psum>>) {
  "test.use"(%a) : (memref<*xf32, #pto.mem<psum>>) -> ()
  return
}

// -----

func.func @zero_sizes() {
  // expected-error @below {{expected the buffer with elements, found 'memref<0x512xf32}}
  %a = pto.psum_alloc bank(0) : memref<0x512xf32, #pto.mem<psum>>
  %b = pto.psum_alloc bank(0) : memref<f32, #pto.mem<psum>>
  %c = pto.psum_alloc bank(0) : memref<2x3x4x5xf32, #pto.mem<psum>>
  return
}
