//===- PTOTileOps.td - Operations of the tile ISA ----------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The allocation of tiles and the TMATMUL family. Of its six operations four
// are here; `tmatmul` and `tmatmul_acc` are instructions of the PE array too and
// are in PTOOps.td, with the operands, attributes and clauses that the first
// section of this file gives every one of the six. The rules are in
// lib/IR/Tile*.cpp, written once for all.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOTILEOPS
#define PTO_IR_PTOTILEOPS

include "PTO/IR/PTOOpBase.td"
include "PTO/IR/PTOTileInterfaces.td"

def PTO_TileResource : Resource<"::mlir::pto::TileResource">;

//===----------------------------------------------------------------------===//
// What every operation of the family takes
//===----------------------------------------------------------------------===//

class PTO_Source<TypeConstraint type, string what>
    : Arg<type, what, [MemRead]>;
class PTO_Output<string what>
    : Arg<Optional<PTO_Buffer>, what, [MemWrite]>;

// A word for all columns, or a tile with one word a column.
def PTO_Parameter : AnyTypeOf<[I64, PTO_Buffer], "an i64 or a memref">;

// The operand groups of post-processing: the last ones of every operation.
defvar PTO_TileOperands = (ins
  PTO_Source<Optional<PTO_Buffer>, "exponents that scale the accumulator down, `[M, 1]` of ui8">:$c_scale,
  PTO_Source<Optional<PTO_Buffer>, "row maxima to begin with, `[M, 1]`">:$row_max_in,
  PTO_Source<Optional<PTO_Parameter>, "parameters of the conversion: an i64, or `[1, N]` of i64">:$quant,
  PTO_Source<Optional<PTO_Parameter>, "factors of the activation: an i64, or `[1, N]` of i64">:$prelu,
  PTO_Output<"the maxima of rows, `[M, 1]`">:$row_max,
  PTO_Output<"the maxima of groups of columns, `[M, ceil(N / G)]`">:$group_max);
defvar PTO_TileOperandNames =
  ["c_scale", "row_max_in", "quant", "prelu", "row_max", "group_max"];

// Written in the dictionary.
defvar PTO_TileAttributes = (ins
  OptionalAttr<PTO_RModeAttr>:$rmode,
  UnitAttr:$sat,
  UnitAttr:$trans_a,
  UnitAttr:$trans_b,
  UnitAttr:$gemv,
  OptionalAttr<I64Attr>:$mask,
  OptionalAttr<PTO_PostAttr>:$post);

// One clause for each operand of post-processing, in order.
defvar PTO_TileClauses = !interleave(
  !foreach(name, PTO_TileOperandNames,
           "(`" # name # "` `(` custom<TypedOperand>($" # name # ", type($" #
           name # "))^ `)`)?"), "");

// What the table-driven verifier and accessors know of one operation: its CUBE
// function code, and the roles of its operand groups up to `after`.
class PTO_TileTraits<int function, list<string> roles> {
  code declarations = [{
    static constexpr uint32_t tileFunction = }] # function # [{;
    static constexpr ::mlir::pto::TileRole groupRoles[] = {
      }] # !interleave(!foreach(role, !listconcat(roles, PTO_TileOperandNames),
                       "::mlir::pto::TileRole::" # role), ", ") # [{};
  }];
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

def PTO_TileAllocOp : PTO_Op<"tile_alloc"> {
  let summary = "a fresh tile";
  let description = [{
    Yields a tile whose elements are undefined. `size` is a code for its
    capacity, `128 << (code - 1)` bytes: 1 to 10 (128 B to 64 KiB) for a Local
    tile, of which every processing element has its own, 1 to 12 for a Shared
    one. Without it the tile has the smallest capacity that holds its shape.

    ```mlir
    %d = pto.tile_alloc : memref<16x32xf32, #pto.mem<cube_m16>>
    %e = pto.tile_alloc size(5) : memref<16x32xf32, #pto.mem<cube_m16>>
    ```

    Shapes have two dimensions and are static. Tiles of 64-bit elements
    (parameters) are row-major in any Local space. The operation is not pure:
    each execution yields a fresh tile.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$size);
  let results = (outs
    Res<PTO_Buffer, "the tile", [MemAlloc<PTO_TileResource>]>:$buffer);
  let assemblyFormat = "(`size` `(` $size^ `)`)?" # dictionaryFormat #
                       "`:` type($buffer)";
  let extraClassDeclaration = dictionaryMethods # [{
    // The size code that `size` says or, without it, that the shape needs.
    unsigned getSizeCode();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Operations of the tile ISA alone
//===----------------------------------------------------------------------===//

defvar PTO_TileAccumulator = (ins
  PTO_Source<PTO_Buffer, "the accumulator, `[M, N]`">:$accumulator);
defvar PTO_TileLhs = (ins
  PTO_Source<PTO_Buffer, "the left operand, `[M, K]`">:$lhs);
defvar PTO_TileRhs = (ins
  PTO_Source<PTO_Buffer, "the right operand, `[K, N]`">:$rhs);
defvar PTO_TileBias = (ins
  PTO_Source<PTO_Buffer, "a row added to every row of the product, `[1, N]`">:$bias);
defvar PTO_TileLhsScale = (ins
  PTO_Source<Optional<PTO_Buffer>, "scales of the left operand, `[M, ceil(K / 32)]`">:$lhs_scale);
defvar PTO_TileRhsScale = (ins
  PTO_Source<Optional<PTO_Buffer>, "scales of the right operand, a row a column of it: `[N, ceil(K / 32)]`">:$rhs_scale);

// `sources` are the operands of `ins`, `sourceNames` their names in order, and
// `sourceFormat` what stands between its parentheses.
class PTO_TileOp<string mnemonic, int function, dag sources,
                 list<string> sourceNames, string sourceFormat>
    : PTO_EngineOp<mnemonic, [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<PTO_TileOpInterface, ["isTile"]>,
        DeclareOpInterfaceMethods<PTO_EngineOpInterface, ["getExecutingEngine"]>]> {
  let arguments = !con(
    sources,
    (ins
      Arg<PTO_Buffer, "the destination, `[M, N]`", [MemWrite]>:$dst,
      Variadic<PTO_TokenType>:$after),
    PTO_TileOperands, PTO_TileAttributes, engineAttributes);
  let assemblyFormat =
    "`ins` `(`" # sourceFormat # "`)` `outs` `(` $dst `:` type($dst) `)`" #
    !strconcat(afterFormat, PTO_TileClauses, tokenFormat);
  let extraClassDeclaration = dictionaryMethods #
    PTO_TileTraits<function, !listconcat(sourceNames, ["dst", "after"])>.declarations;

  // What every operation says about its clauses.
  string clauseDescription = [{
    Clauses and attributes are those of `pto.tmatmul` on tiles.
  }];
}

def PTO_TMatmulBiasOp
    : PTO_TileOp<"tmatmul_bias", 1, !con(PTO_TileLhs, PTO_TileRhs, PTO_TileBias),
                 ["lhs", "rhs", "bias"],
                 "$lhs `,` $rhs `,` $bias `:` type($lhs) `,` type($rhs) `,` type($bias)"> {
  let summary = "dst = lhs . rhs + bias, on tiles";
  let description = [{
    As `pto.tmatmul` on tiles; `bias`, a row of the accumulator type, is added to
    every row after the sum over K and before post-processing.

    ```mlir
    pto.tmatmul_bias ins(%a, %b, %bias : TA, TB, TV) outs(%d : TD)
    ```
  }] # clauseDescription;
}

// The block-scaled forms. A scale is left out where its side needs none.
defvar PTO_ScaledSources =
  !con(PTO_TileLhs, PTO_TileLhsScale, PTO_TileRhs, PTO_TileRhsScale);
defvar PTO_ScaledNames = ["lhs", "lhs_scale", "rhs", "rhs_scale"];
defvar PTO_ScaledFormat =
  "$lhs, type($lhs), $lhs_scale, type($lhs_scale), " #
  "$rhs, type($rhs), $rhs_scale, type($rhs_scale)";

def PTO_TMatmulMxOp
    : PTO_TileOp<"tmatmul_mx", 4, PTO_ScaledSources, PTO_ScaledNames,
                 !strconcat("custom<ScaledSources>(", PTO_ScaledFormat, ")")> {
  let summary = "dst = lhs . rhs with block scales, on tiles";
  let description = [{
    As `pto.tmatmul` on tiles, into f32, with a scale for each 32 consecutive
    elements of K of a row of `lhs` and of a column of `rhs`: 2^(code - 127) for
    f8E8M0FNU codes. A side of f16 or bf16 has no scale, and none is written; a
    side of `!pto.hif4` has a ui32 scale for each 64.

    ```mlir
    pto.tmatmul_mx ins(%a, %sa, %b, %sb : TA, TSA, TB, TSB) outs(%d : TD)
    pto.tmatmul_mx ins(%half, %b, %sb : memref<16x64xf16, #pto.mem<cube_m16>>, TB, TSB) outs(%d : TD)
    ```

    A Local scale is a tile in cube_m32. That of `rhs` is stored transposed, one
    row a column of `rhs`. A Shared one is row-major and follows `trans_a` and
    `trans_b`: `[K / 32, N]` for `rhs`, as it is.
  }] # clauseDescription;
}

def PTO_TMatmulMxAccOp
    : PTO_TileOp<"tmatmul_mx_acc", 6, !con(PTO_TileAccumulator, PTO_ScaledSources),
                 !listconcat(["accumulator"], PTO_ScaledNames),
                 !strconcat("custom<AccumulatedScaledSources>(",
                            "$accumulator, type($accumulator), ",
                            PTO_ScaledFormat, ")")> {
  let summary = "dst = accumulator + lhs . rhs with block scales, on tiles";
  let description = [{
    As `pto.tmatmul_mx`, beginning with the accumulator.

    ```mlir
    pto.tmatmul_mx_acc ins(%c, %a, %sa, %b, %sb : TC, TA, TSA, TB, TSB) outs(%d : TD)
    ```
  }] # clauseDescription;
}

def PTO_TMatmulMxBiasOp
    : PTO_TileOp<"tmatmul_mx_bias", 5, !con(PTO_ScaledSources, PTO_TileBias),
                 !listconcat(PTO_ScaledNames, ["bias"]),
                 !strconcat("custom<BiasedScaledSources>(", PTO_ScaledFormat,
                            ", $bias, type($bias))")> {
  let summary = "dst = lhs . rhs + bias with block scales, on tiles";
  let description = [{
    As `pto.tmatmul_mx`, with the bias of `pto.tmatmul_bias`.

    ```mlir
    pto.tmatmul_mx_bias ins(%a, %sa, %b, %sb, %bias : TA, TSA, TB, TSB, TV) outs(%d : TD)
    ```
  }] # clauseDescription;
}

#endif // PTO_IR_PTOTILEOPS
