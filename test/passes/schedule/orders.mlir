// New orders of blocks: loads move ahead, nothing passes what it depends on.
// RUN: %pto_opt --pto-schedule -split-input-file %s | FileCheck %s
// RUN: %pto_opt --pto-schedule -split-input-file %s -o %t.once
// RUN: %pto_opt --pto-schedule -split-input-file %t.once | diff %t.once -

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!y = memref<128x512xf32, #pto.mem<sbuf>>
!h = memref<128x512xbf16>
!acc = memref<128x512xf32, #pto.mem<psum>>

// The second load does not wait for the first drain. Allocations, views and constants go where they
// are needed.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME:    (%[[W:.*]]: memref<128x128{{.*}}, %[[IN:.*]]: memref<256x512xbf16> {pto.noalias}, %[[OUT:.*]]: memref<128x512xbf16> {llvm.noalias}, %[[OUT2:.*]]: memref<128x512xbf16>)
// CHECK:         %[[X0:.*]] = pto.sbuf_alloc
// CHECK:         pto.copy %{{.*}}, %[[X0]] {{.*}} engine(dma)
// CHECK:         pto.tmatmul ins(%[[W]], %[[X0]]
// CHECK:         %[[X1:.*]] = pto.sbuf_alloc
// CHECK:         pto.copy %{{.*}}, %[[X1]] {{.*}} engine(dma)
// CHECK:         pto.tmatmul ins(%[[W]], %[[X1]]
// CHECK:         pto.copy %{{.*}}, %[[OUT]] {{.*}} engine(dma)
// CHECK:         pto.copy %{{.*}}, %[[OUT2]] {{.*}} engine(dma)
func.func @tiles(%w: !w, %in: memref<256x512xbf16> {pto.noalias}, %out: !h {llvm.noalias}, %out2: !h) {
  %a = pto.psum_alloc bank(0) : !acc
  %x0 = pto.sbuf_alloc : !x
  %in0 = memref.subview %in[0, 0] [128, 512] [1, 1] : memref<256x512xbf16> to memref<128x512xbf16, strided<[512, 1]>>
  pto.copy %in0, %x0 : memref<128x512xbf16, strided<[512, 1]>>, !x engine(dma)
  pto.tmatmul ins(%w, %x0 : !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, !h engine(dma)
  %b = pto.psum_alloc bank(1) : !acc
  %x1 = pto.sbuf_alloc : !x
  %in1 = memref.subview %in[128, 0] [128, 512] [1, 1] : memref<256x512xbf16> to memref<128x512xbf16, strided<[512, 1], offset: 65536>>
  pto.copy %in1, %x1 : memref<128x512xbf16, strided<[512, 1], offset: 65536>>, !x engine(dma)
  pto.tmatmul ins(%w, %x1 : !w, !x) outs(%b : !acc)
  pto.copy %b, %out2 : !acc, !h engine(dma)
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!h = memref<128x512xbf16>
!acc = memref<128x512xf32, #pto.mem<psum>>

// One buffer for both loads: the second waits for the matmul that reads the first.
// CHECK-LABEL: func.func @one_buffer
// CHECK-NOT:     pto.copy {{.*}}pto.copy
// CHECK:         pto.copy
// CHECK-NEXT:    pto.tmatmul
// CHECK:         pto.copy
// CHECK:         pto.tmatmul
func.func @one_buffer(%w: !w, %x: !x, %in: !h, %in1: !h) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  pto.copy %in, %x : !h, !x engine(dma)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.copy %in1, %x : !h, !x engine(dma)
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  return
}

// -----

!x = memref<128x512xbf16, #pto.mem<sbuf>>
!h = memref<128x512xbf16>

// What no engine executes is passed by nothing: a call, a loop, a store, code of an unknown dialect's kind.
// CHECK-LABEL: func.func @barriers
// CHECK:         pto.copy %{{.*}}, %[[A:.*]] : {{.*}} engine(dma)
// CHECK:         call @f()
// CHECK:         scf.for
// CHECK:           pto.copy
// CHECK:         memref.store
// CHECK:         memref.load
// CHECK:         pto.copy {{.*}} engine(scalar)
func.func private @f()
func.func @barriers(%in: !h, %a: !x, %b: !x, %i: index, %m: memref<4xf32>) {
  pto.copy %in, %a : !h, !x engine(dma)
  call @f() : () -> ()
  %c1 = arith.constant 1 : index
  scf.for %j = %i to %c1 step %c1 {
    pto.copy %in, %a : !h, !x engine(dma)
  }
  %z = arith.constant 0.0 : f32
  memref.store %z, %m[%i] : memref<4xf32>
  %v = memref.load %m[%i] : memref<4xf32>
  pto.copy %in, %b : !h, !x engine(scalar)
  return
}

// -----

!x = memref<128x512xbf16, #pto.mem<sbuf>>
!h = memref<128x512xbf16>

// A buffer that only the run knows may be any: its instructions stay.
// CHECK-LABEL: func.func @unknown
// CHECK:         pto.copy %{{.*}}, %{{.*}} engine(vector)
// CHECK-NEXT:    pto.copy {{.*}} engine(dma)
// CHECK-NEXT:    pto.copy {{.*}} engine(scalar)
func.func @unknown(%p: i1, %in: !h, %a: !x, %b: !x, %c: !x) {
  %s = arith.select %p, %a, %b : !x
  pto.copy %in, %c : !h, !x engine(vector)
  pto.copy %in, %s : !h, !x engine(dma)
  pto.copy %b, %c : !x, !x engine(scalar)
  return
}
