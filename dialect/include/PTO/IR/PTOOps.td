//===- PTOOps.td - Operations of the pto dialect -----------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read in this order: allocations, the matmul family, memset and copy, and the
// expectations that the interpreter checks. What one operation can know about
// itself is verified on it; the rules are in lib/IR/*Verifier.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOOPS
#define PTO_IR_PTOOPS

include "PTO/IR/PTOOpBase.td"
include "PTO/IR/PTOTileOps.td"

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

def PTO_PsumAllocOp : PTO_Op<"psum_alloc"> {
  let summary = "a fresh buffer in PSUM";
  let description = [{
    Yields cells that hold nothing yet: the first matmul into a fresh cell
    overwrites it, also where it is a `tmatmul_acc`. Dimension 0 is the
    partition; the other dimensions lie row-major in the bytes of a partition,
    four bytes an element.

    Without a bank the buffer is not placed yet. `offset` is in bytes inside the
    bank, a multiple of four; `partition` is the first partition. Where a bank is
    given and one of these is not, it is 0.

    ```mlir
    %a = pto.psum_alloc : memref<128x512xf32, #pto.mem<psum>>
    %b = pto.psum_alloc bank(2) offset(1024) partition(64) : memref<32x64xf32, #pto.mem<psum>>
    ```

    The operation is not pure and is not moved out of loops: each execution
    yields fresh cells.
  }];
  let arguments = (ins
    OptionalAttr<I64Attr>:$bank,
    OptionalAttr<I64Attr>:$offset,
    OptionalAttr<I64Attr>:$partition);
  let results = (outs
    Res<PTO_Buffer, "the buffer", [MemAlloc<PTO_PsumResource>]>:$buffer);
  let assemblyFormat = "(`bank` `(` $bank^ `)`)?" #
                       "(`offset` `(` $offset^ `)`)?" #
                       "(`partition` `(` $partition^ `)`)?" #
                       dictionaryFormat # "`:` type($buffer)";
  let hasVerifier = 1;
}

def PTO_SbufAllocOp : PTO_Op<"sbuf_alloc"> {
  let summary = "a fresh buffer in SBUF";
  let description = [{
    Yields a buffer whose bytes are undefined. Dimension 0 is the partition.
    `partition` is the first partition and `offset` the first byte in each;
    where one of them is given and the other is not, the other is 0.

    ```mlir
    %w = pto.sbuf_alloc : memref<128x64xbf16, #pto.mem<sbuf>>
    %x = pto.sbuf_alloc partition(64) offset(4096) : memref<32x64xbf16, #pto.mem<sbuf>>
    ```
  }];
  let arguments = (ins
    OptionalAttr<I64Attr>:$partition,
    OptionalAttr<I64Attr>:$offset);
  let results = (outs
    Res<PTO_Buffer, "the buffer", [MemAlloc<PTO_SbufResource>]>:$buffer);
  let assemblyFormat = "(`partition` `(` $partition^ `)`)?" #
                       "(`offset` `(` $offset^ `)`)?" #
                       dictionaryFormat # "`:` type($buffer)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

// A matmul instruction of both machines: of the PE array where its destination is
// in psum, of the tile ISA where it is a tile. `sources` are its `ins` operands in
// order, and `sourceNames` their names; every variant has `lhs` and `rhs`.
//
// What belongs to one machine only is refused by the verifier on the other:
// the PE array's operands, attributes and clauses are in this class, the tile
// ISA's are those called PTO_Tile..., from PTOTileOps.td.
class PTO_MatmulOp<string mnemonic, int tileFunction, dag sources,
                   list<string> sourceNames>
    : PTO_EngineOp<mnemonic, [
        AttrSizedOperandSegments,
        // First: it verifies the operand groups, for the others too.
        DeclareOpInterfaceMethods<PTO_TileOpInterface, ["isTile"]>,
        DeclareOpInterfaceMethods<PTO_MatmulOpInterface, ["getAccumulatorOrNull"]>,
        DeclareOpInterfaceMethods<PTO_EngineOpInterface, ["getExecutingEngine"]>,
        MemoryEffects<[MemWrite<PTO_PsumResource>]>]> {
  dag peOperands = (ins
    Optional<I1>:$start_if,
    Optional<I1>:$stop_if);
  dag peAttributes = (ins
    OptionalAttr<DenseI32ArrayAttr>:$tile_size,
    OptionalAttr<DenseI32ArrayAttr>:$tile_position,
    OptionalAttr<PTO_AccAttr>:$acc,
    OptionalAttr<I64Attr>:$zero_region);
  string peClauses =
    "(custom<Tile>($tile_size, $tile_position)^)?" #
    "(`acc` `` $acc^)?" #
    "(`zero_region` `(` $zero_region^ `)`)?" #
    "(`start_if` `(` custom<Operand>($start_if)^ `)`)?" #
    "(`stop_if` `(` custom<Operand>($stop_if)^ `)`)?";

  let arguments = !con(
    sources,
    (ins
      Arg<PTO_Buffer, "the destination, `[M, N]`", [MemRead, MemWrite]>:$dst),
    peOperands,
    (ins Variadic<PTO_TokenType>:$after),
    PTO_TileOperands, peAttributes, PTO_TileAttributes, engineAttributes);

  let assemblyFormat =
    "`ins` `(` " #
      !interleave(!foreach(name, sourceNames, "$" # name), " `,` ") # " `:` " #
      !interleave(!foreach(name, sourceNames, "type($" # name # ")"), " `,` ") #
    " `)` `outs` `(` $dst `:` type($dst) `)`" #
    !strconcat(peClauses, afterFormat, PTO_TileClauses, tokenFormat);

  let extraClassDeclaration = dictionaryMethods #
    PTO_TileTraits<tileFunction, !listconcat(
        sourceNames, ["dst", "start_if", "stop_if", "after"])>.declarations;

  // Without any clause: what a compiler builds before legalization.
  let builders = [
    OpBuilder<
      !dag(ins,
        !foreach(name, !listconcat(sourceNames, ["dst"]), "::mlir::Value"),
        !listconcat(sourceNames, ["dst"])),
      "$_state.addOperands({" # !interleave(sourceNames, ", ") # [{, dst});
      auto &segments = $_state.getOrAddProperties<Properties>().operandSegmentSizes;
      ::std::fill_n(segments.begin(), $_state.operands.size(), 1);}]>
  ];

  // What both variants say about their clauses.
  string clauseDescription = [{

    Clauses of both machines:

    | clause | meaning |
    |---|---|
    | `after(%t, ...)` | issue after the operations that made these tokens |
    | `-> !pto.token` | give a token |

    Clauses of the PE array:

    | clause | meaning |
    |---|---|
    | `tile(rows, cols) at(row, col)` | the part of the PE array; absent, all of it. `rows` and `cols` are 32, 64 or 128; `row` and `col` are multiples of them |
    | `acc<...>` | the accumulate flags; absent, the compiler derives them |
    | `zero_region(code)` | the zero region is the aligned window of 2^code banks around the destination |
    | `start_if(%p)`, `stop_if(%p)` | START, STOP where the i1 `%p` holds, besides what `acc` says; with one of them an absent `acc` counts as `none` |

    Clauses of the tile ISA, then attributes in the dictionary:

    | clause | meaning |
    |---|---|
    | `c_scale(%s : T)` | divides row m of the accumulator by 2^s[m] first; on `_acc` operations into f32 |
    | `row_max_in(%r : T)` | row maxima to begin with: `row_max_init` |
    | `quant(%q : T)`, `prelu(%p : T)` | parameters of `pre_quant` and of `relu`: an i64 or a 1xN tile of i64, as the mode says |
    | `row_max(%o : T)`, `group_max(%o : T)` | further outputs, present where `post` says so |
    | `rmode = #pto.rmode<..>`, `sat` | rounding and saturation of the conversion |
    | `trans_a`, `trans_b` | the Shared operand is stored transposed |
    | `gemv` | the matrix-vector form: M is 1 and every operand Local |
    | `mask = n` | the processing elements, element i being bit 3 - i: 0, 1, 2, 4, 8, 12, 14 or 15; absent, all four |
    | `post = #pto.post<..>` | post-processing |

    Declared effects are those of the PE array, for both machines: the destination
    is read and written, and pending cells anywhere in PSUM may change, for START
    reaches its whole zero region. On tiles this says more than happens.
  }];
}

defvar PTO_Lhs = (ins
  Arg<PTO_Buffer, "the left operand: `[K, M]` in sbuf, or a tile `[M, K]`", [MemRead]>:$lhs);
defvar PTO_Rhs = (ins
  Arg<PTO_Buffer, "the right operand, `[K, N]`", [MemRead]>:$rhs);
defvar PTO_Accumulator = (ins
  Arg<PTO_Buffer, "the accumulator, `[M, N]`", [MemRead]>:$accumulator);

def PTO_TMatmulOp
    : PTO_MatmulOp<"tmatmul", 0, !con(PTO_Lhs, PTO_Rhs), ["lhs", "rhs"]> {
  let summary = "dst = lhs^T . rhs on the PE array; dst = lhs . rhs on tiles";
  let description = [{
    On the PE array: overwrites `dst[M, N]` in psum with the product of
    `lhs[K, M]`, transposed, and `rhs[K, N]`, both in sbuf. K is at most 128 (PE
    rows, SBUF partitions of both operands), M at most 128 (PE columns, PSUM
    partitions), N at most 512 cells of PSUM, on trn3 4096.

    ```mlir
    pto.tmatmul ins(%w, %x : TW, TX) outs(%acc : TC)
    %t = pto.tmatmul ins(%w, %x : TW, TX) outs(%acc : TC)
        tile(128, 32) at(0, 64) acc<start|stop> zero_region(0) after(%s) -> !pto.token
    ```

    Operands: f8E4M3FN, f8E5M2, f8E3M4, bf16, f16, tf32 or f32, the last two
    only among themselves, into f32 (on trn3 also bf16); or i8, si8 or ui8 into
    i32. Each product and each sum is rounded to f32, K ascending.

    On tiles: overwrites the tile `dst[M, N]` with the product of `lhs[M, K]` and
    `rhs[K, N]`, post-processed. `lhs` and `dst` are in cube_m16 or cube_m32, of
    at most 16 or 32 rows, `rhs` in cube_n8; or `rhs`, or both, are Shared.

    ```mlir
    pto.tmatmul ins(%a, %b : memref<16x64xf16, #pto.mem<cube_m16>>, memref<64x32xf16, #pto.mem<cube_n8>>)
        outs(%d : memref<16x32xsi8, #pto.mem<cube_m16>>)
        quant(%scale : i64) {rmode = #pto.rmode<rtz>, sat, post = #pto.post<pre_quant = 24, relu = 1>}
    ```

    Operands on tiles: any two floats of f32, tf32, `!pto.hf32`, f16, bf16,
    `!pto.hif8`, f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN, f4E2M1FN and `!pto.e1m2`
    into f32; any two of si16, si8 and si4 into si32; of ui16, ui8 and ui4 into
    ui32; `pre_quant` converts. docs/tile-isa.md has the rules.
  }] # clauseDescription;
}

def PTO_TMatmulAccOp
    : PTO_MatmulOp<"tmatmul_acc", 2, !con(PTO_Accumulator, PTO_Lhs, PTO_Rhs),
                   ["accumulator", "lhs", "rhs"]> {
  let summary = "dst = accumulator + the product of pto.tmatmul";
  let description = [{
    On the PE array: adds the product of `lhs[K, M]`, transposed, and `rhs[K, N]`
    to `dst[M, N]`; a cell of `dst` that is still fresh is overwritten. The PE
    array adds in place: `accumulator` and `dst` are one buffer. They have one
    type, which is verified here; that they are one place is verified where
    accesses are known (`[pto:accumulator-elsewhere]`). The product is summed
    first, then added to the cell in one step.

    ```mlir
    pto.tmatmul_acc ins(%acc, %w, %x : TC, TW, TX) outs(%acc : TC) acc<stop>
    ```

    On tiles: the sum begins with the accumulator, which keeps its value:
    `accumulator` and `dst` are two tiles of one capacity. One tile for both is the
    form before registers are assigned. It verifies; `pto-legalize-acc` makes the
    two of an instruction of it, and executing it is a fault.

    ```mlir
    pto.tmatmul_acc ins(%c, %a, %b : TC, TA, TB) outs(%d : TC)
    ```

    Sizes and element types are those of `pto.tmatmul`.
  }] # clauseDescription;
}

// memset and copy: everything but the PE array overwrites.
class PTO_MoveOp<string mnemonic, list<Trait> traits = []>
    : PTO_EngineOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<PTO_EngineOpInterface,
                                  ["getExecutingEngine"]>])> {
  string engineFormat = "(`engine` `(` custom<Engine>($engine)^ `)`)?";
  // On the vector engine, without tokens.
  let builders = [
    OpBuilder<(ins "::mlir::Value":$from, "::mlir::Value":$target),
      "$_state.addOperands({from, target});">
  ];
  let hasVerifier = 1;
}

def PTO_MemsetOp : PTO_MoveOp<"memset"> {
  let summary = "fill a buffer with a scalar";
  let description = [{
    Overwrites the whole buffer or view with `value`: of the element type, or an
    f32 for a narrower float (rounded to nearest even), or a signless integer of
    the width of a signed or unsigned element. The buffer may be a tile.

    ```mlir
    pto.memset %zero, %acc : f32, memref<128x512xf32, #pto.mem<psum>>
    %t = pto.memset %zero, %acc : f32, memref<128x512xf32, #pto.mem<psum>> engine(gpsimd) after(%s) -> !pto.token
    ```

    The engine is `vector` where none is named. `inserted` marks a memset that
    legalization added.
  }];
  let arguments = !con(
    (ins
      AnyTypeOf<[AnyInteger, AnyFloat], "an integer or a float">:$value,
      Arg<PTO_Buffer, "the buffer", [MemWrite]>:$target,
      Variadic<PTO_TokenType>:$after,
      OptionalAttr<PTO_EngineAttr>:$engine,
      UnitAttr:$inserted),
    engineAttributes);
  let assemblyFormat = "$value `,` $target `:` type($value) `,` type($target)" #
                       engineFormat # afterFormat # tokenFormat;
}

def PTO_CopyOp : PTO_MoveOp<"copy"> {
  let summary = "copy a buffer";
  let description = [{
    Overwrites `target` with `source`: equal shapes, converting the element type
    where it differs (rounded to nearest even).

    ```mlir
    pto.copy %acc, %y : memref<128x512xf32, #pto.mem<psum>>, memref<128x512xbf16, #pto.mem<sbuf>> engine(scalar)
    ```

    The engine is `vector` where none is named. Source and target may be tiles,
    or parts of them: this is how a tile is loaded from hbm and stored to it.

    ```mlir
    pto.copy %x, %a : memref<16x64xf16>, memref<16x64xf16, #pto.mem<cube_m16>>
    ```
  }];
  let arguments = !con(
    (ins
      Arg<PTO_Buffer, "the buffer to read", [MemRead]>:$source,
      Arg<PTO_Buffer, "the buffer to overwrite", [MemWrite]>:$target,
      Variadic<PTO_TokenType>:$after,
      OptionalAttr<PTO_EngineAttr>:$engine),
    engineAttributes);
  let assemblyFormat = "$source `,` $target `:` type($source) `,` type($target)" #
                       engineFormat # afterFormat # tokenFormat;
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

// The interpreter checks these. The write effect is what keeps them: an
// operation that only reads and gives nothing is dead.
class PTO_ExpectOp<string mnemonic, dag extra = (ins)> : PTO_Op<mnemonic> {
  let arguments = !con(
    (ins
      Arg<PTO_Buffer, "the buffer to look at", [MemRead, MemWrite]>:$buffer,
      ElementsAttr:$expected),
    extra);
  let assemblyFormat =
    "$buffer `,` $expected `,` type($buffer)" # dictionaryFormat;
  let hasVerifier = 1;
}

def PTO_ExpectEqOp : PTO_ExpectOp<"expect_eq"> {
  let summary = "the buffer must hold these elements, bit for bit";
  let description = [{
    Fails in the interpreter where an element differs in a bit; NaNs are equal
    to each other. The expected elements have the shape and the element type of
    the buffer, which may be a tile; for element types of pto they are raw words,
    integers of that width or, for 4 bits, i8. Nothing is written; the operation
    has a write effect so that it is kept.

    ```mlir
    pto.expect_eq %y, dense<[[1.0, 2.0]]> : tensor<1x2xf32>, memref<1x2xf32, #pto.mem<sbuf>>
    ```
  }];
}

def PTO_ExpectCloseOp : PTO_ExpectOp<"expect_close", (ins I64Attr:$ulp)> {
  let summary = "the buffer must hold these elements, up to some ulps";
  let description = [{
    As `pto.expect_eq`, for floats: an element may be up to `ulp` units in the
    last place away.

    ```mlir
    pto.expect_close %y, dense<1.0> : tensor<4x4xf32>, memref<4x4xf32> {ulp = 2 : i64}
    ```
  }];
}

#endif // PTO_IR_PTOOPS
