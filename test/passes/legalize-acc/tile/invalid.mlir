// What no registers can express. The function is left as it was.
// RUN: %pto_opt --pto-legalize-acc=target=tile -split-input-file -verify-diagnostics %s

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>

// The block that makes the tile is one of several: there is no place in a line that all paths pass.
func.func @first_iteration(%a: !a, %b: !b, %n: i1) {
  // expected-note @+1 {{the tile is made here}}
  %c = pto.tile_alloc : !c
  cf.br ^again
^again:
  // expected-error @+1 {{expected a tile that holds a value here, or nothing, found one that is written on some paths only, or in part; write it before, with a matmul that does not accumulate or with zeros [pto:control-flow]}}
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  cf.cond_br %n, ^again, ^end
^end:
  return
}

// -----

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>

func.func @interior(%a: !a, %b: !b) {
  %c = pto.tile_alloc : !c
  // expected-note @+1 {{only the last matmul of a group may convert or activate: this one does}}
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c) {post = #pto.post<relu = 1>}
  // expected-error @+1 {{expected to add to a sum, found one that post-processing has changed [pto:interior-post]}}
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  return
}

// -----

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>
!d = memref<?x32xf32, #pto.mem<cube_m16>>

func.func @view(%a: !a, %b: !b) {
  // expected-note @+1 {{the tile is made here}}
  %c = pto.tile_alloc : !c
  %dynamic = memref.cast %c : !c to !d
  %v = memref.cast %dynamic : !d to !c
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c)
  // expected-error @+1 {{expected accumulator and destination to name the tile itself, found a view of it [pto:view]}}
  pto.tmatmul_acc ins(%v, %a, %b : !c, !a, !b) outs(%c : !c)
  return
}

// -----

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>

func.func @unknown(%c: !c, %d: !c, %a: !a, %b: !b, %p: i1) {
  %x = arith.select %p, %c, %d : !c
  // expected-error @+1 {{expected every tile of a function that accumulates in place to be made in it or to be an argument of it, found one that is known at run time only [pto:dynamic-access]}}
  pto.tmatmul ins(%a, %b : !a, !b) outs(%x : !c)
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  return
}

// -----

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>

func.func @masks(%a: !a, %b: !b) {
  %c = pto.tile_alloc : !c
  // expected-note @+1 {{mask 15 is here}}
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c)
  // expected-error @+1 {{expected all writes of a tile that is accumulated in place to be of the same processing elements, found the masks 15 and 8 [pto:tile-masks]}}
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c) {mask = 8 : i64}
  return
}

// -----

!a = memref<16x64xf16, #pto.mem<shared>>
!b = memref<64x32xf16, #pto.mem<shared>>
!c = memref<16x32xf32, #pto.mem<cube_m32>>

// Without C the layout of an operation on Shared operands is the narrowest.
func.func @layout(%a: !a, %b: !b) {
  // expected-note @+1 {{the tile is made here}}
  %c = pto.tile_alloc : !c
  // expected-error @+1 {{expected a destination in the narrowest layout for M where a group on Shared operands begins, found it in cube_m32 [pto:tile-m-layout]}}
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  return
}

// -----

!a = memref<16x64xf16, #pto.mem<cube_m16>>
!b = memref<64x32xf16, #pto.mem<cube_n8>>
!c = memref<16x32xf32, #pto.mem<cube_m16>>

// Two of 32 KiB on four processing elements, and the operands.
func.func @capacity(%a: !a, %b: !b, %out: memref<16x32xf32>) {
  // expected-note @+1 {{this tile is one too many}}
  %c = pto.tile_alloc size(9) : !c
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c)
  // expected-error @+1 {{expected at most 262144 bytes of tiles at once, on all processing elements, found}}
  pto.tmatmul_acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  memref.copy %c, %out : !c to memref<16x32xf32>
  return
}

// -----

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!p = memref<128x128xf32, #pto.mem<psum>>

func.func @other_machine(%w: !w, %p: !p) {
  // expected-error @+1 {{expected matmuls on tiles for the target tile, found one of the PE array [pto:target-limit]}}
  pto.tmatmul ins(%w, %w : !w, !w) outs(%p : !p)
  return
}
