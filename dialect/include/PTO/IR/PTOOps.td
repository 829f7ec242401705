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

include "PTO/IR/PTOAttributes.td"
include "PTO/IR/PTOInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A buffer. What else it must be depends on the operation, which verifies it.
def PTO_Buffer : Type<AnyMemRef.predicate, "a memref", "::mlir::MemRefType">;

// Allocations and matmuls name these as what they touch. Neither a store to a
// memref nor another allocation can stand for them.
def PTO_PsumResource : Resource<"::mlir::pto::PsumResource">;
def PTO_SbufResource : Resource<"::mlir::pto::SbufResource">;

// The dictionary of every operation is read and written in one way: it may hold
// what no clause says, and what a clause says is refused there.
class PTO_Op<string mnemonic, list<Trait> traits = []>
    : Op<PTO_Dialect, mnemonic, traits> {
  string dictionaryFormat = "`` custom<Dictionary>(attr-dict)";
  code dictionaryMethods = [{
    static ::mlir::ParseResult
    parseDictionary(::mlir::OpAsmParser &parser,
                    ::mlir::NamedAttrList &attributes) {
      return ::mlir::pto::common::parseDictionary(
          parser, attributes, getOperationName(), getAttributeNames(),
          verifyInherentAttrs);
    }
    static void printDictionary(::mlir::OpAsmPrinter &printer,
                                ::mlir::Operation *op,
                                ::mlir::DictionaryAttr attributes) {
      ::mlir::pto::common::printDictionary(printer, attributes,
                                           getAttributeNames());
    }
  }];
  let extraClassDeclaration = dictionaryMethods;
}

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

// An instruction. Each variant appends its own attributes and operand groups to
// `engineAttributes`, and ends its format with `tokenFormat`.
class PTO_EngineOp<string mnemonic, list<Trait> traits = []>
    : PTO_Op<mnemonic, traits> {
  // Marks of legalization; see EngineOpInterface.
  dag engineAttributes = (ins
    OptionalAttr<DenseI32ArrayAttr>:$inserted_after,
    UnitAttr:$inserted_token);
  let results = (outs Optional<PTO_TokenType>:$token);

  string afterFormat = "(`after` `(` custom<Operands>($after)^ `)`)?";
  string tokenFormat =
    "(`->` custom<TokenType>(type($token))^)?" # dictionaryFormat;
}

// One variant of the matmul instruction. `sources` are its `ins` operands in
// order, and `sourceNames` their names; every variant has `lhs` and `rhs`.
//
// Further operand groups of the tile ISA (c_scale, row_max_in, quant, prelu,
// row_max, group_max) belong after `after`, in the arguments and in the format.
class PTO_MatmulOp<string mnemonic, dag sources, list<string> sourceNames>
    : PTO_EngineOp<mnemonic, [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<PTO_MatmulOpInterface, ["getAccumulatorOrNull"]>,
        DeclareOpInterfaceMethods<PTO_EngineOpInterface, ["getExecutingEngine"]>,
        MemoryEffects<[MemWrite<PTO_PsumResource>]>]> {
  let arguments = !con(
    sources,
    (ins
      Arg<PTO_Buffer, "the destination, `[M, N]` in psum",
          [MemRead, MemWrite]>:$dst,
      Optional<I1>:$start_if,
      Optional<I1>:$stop_if,
      Variadic<PTO_TokenType>:$after,
      OptionalAttr<DenseI32ArrayAttr>:$tile_size,
      OptionalAttr<DenseI32ArrayAttr>:$tile_position,
      OptionalAttr<PTO_AccAttr>:$acc,
      OptionalAttr<I64Attr>:$zero_region),
    engineAttributes);

  let assemblyFormat =
    "`ins` `(` " #
      !interleave(!foreach(name, sourceNames, "$" # name), " `,` ") # " `:` " #
      !interleave(!foreach(name, sourceNames, "type($" # name # ")"), " `,` ") #
    " `)` `outs` `(` $dst `:` type($dst) `)`" #
    "(custom<Tile>($tile_size, $tile_position)^)?" #
    "(`acc` `` $acc^)?" #
    "(`zero_region` `(` $zero_region^ `)`)?" #
    "(`start_if` `(` custom<Operand>($start_if)^ `)`)?" #
    "(`stop_if` `(` custom<Operand>($stop_if)^ `)`)?" #
    afterFormat # tokenFormat;

  let extraClassDeclaration = dictionaryMethods # [{
    static constexpr unsigned mandatoryGroupCount = }] #
      !add(!size(sourceNames), 1) # [{;
  }];

  // What every variant says about its clauses.
  string clauseDescription = [{

    | clause | meaning |
    |---|---|
    | `tile(rows, cols) at(row, col)` | the part of the PE array; absent, all of it. `rows` and `cols` are 32, 64 or 128; `row` and `col` are multiples of them |
    | `acc<...>` | the accumulate flags; absent, the compiler derives them |
    | `zero_region(code)` | the zero region is the aligned window of 2^code banks around the destination |
    | `start_if(%p)`, `stop_if(%p)` | START, STOP where the i1 `%p` holds, besides what `acc` says; with one of them an absent `acc` counts as `none` |
    | `after(%t, ...)` | issue after the operations that made these tokens |
    | `-> !pto.token` | give a token |

    Reads and writes the destination, and may change pending cells anywhere in
    PSUM: START reaches its whole zero region.
  }];
}

defvar PTO_Lhs = (ins
  Arg<PTO_Buffer, "the stationary operand, `[K, M]` in sbuf", [MemRead]>:$lhs);
defvar PTO_Rhs = (ins
  Arg<PTO_Buffer, "the moving operand, `[K, N]` in sbuf", [MemRead]>:$rhs);
defvar PTO_Accumulator = (ins
  Arg<PTO_Buffer, "the accumulator, `[M, N]`", [MemRead]>:$accumulator);

def PTO_TMatmulOp
    : PTO_MatmulOp<"tmatmul", !con(PTO_Lhs, PTO_Rhs), ["lhs", "rhs"]> {
  let summary = "dst = lhs^T . rhs on the PE array";
  let description = [{
    Overwrites `dst[M, N]` with the product of `lhs[K, M]`, transposed, and
    `rhs[K, N]`. K is at most 128 (PE rows, SBUF partitions of both operands),
    M at most 128 (PE columns, PSUM partitions), N at most 512 cells of PSUM,
    on trn3 4096.

    ```mlir
    pto.tmatmul ins(%w, %x : TW, TX) outs(%acc : TC)
    %t = pto.tmatmul ins(%w, %x : TW, TX) outs(%acc : TC)
        tile(128, 32) at(0, 64) acc<start|stop> zero_region(0) after(%s) -> !pto.token
    ```

    Operands: f8E4M3FN, f8E5M2, f8E3M4, bf16, f16, tf32 or f32, the last two
    only among themselves, into f32 (on trn3 also bf16); or i8, si8 or ui8 into
    i32. Each product and each sum is rounded to f32, K ascending.
  }] # clauseDescription;
}

def PTO_TMatmulAccOp
    : PTO_MatmulOp<"tmatmul_acc", !con(PTO_Accumulator, PTO_Lhs, PTO_Rhs),
                   ["accumulator", "lhs", "rhs"]> {
  let summary = "dst = accumulator + lhs^T . rhs on the PE array";
  let description = [{
    Adds the product of `lhs[K, M]`, transposed, and `rhs[K, N]` to
    `dst[M, N]`; a cell of `dst` that is still fresh is overwritten. The PE
    array adds in place: `accumulator` and `dst` are one buffer. They have one
    type, which is verified here; that they are one place is verified where
    accesses are known (`[pto:accumulator-elsewhere]`). The product is summed
    first, then added to the cell in one step.

    ```mlir
    pto.tmatmul_acc ins(%acc, %w, %x : TC, TW, TX) outs(%acc : TC) acc<stop>
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
  let hasVerifier = 1;
}

def PTO_MemsetOp : PTO_MoveOp<"memset"> {
  let summary = "fill a buffer with a scalar";
  let description = [{
    Overwrites the whole buffer or view with `value`: of the element type, or an
    f32 for a narrower float (rounded to nearest even), or a signless integer of
    the width of a signed or unsigned element.

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

    The engine is `vector` where none is named.
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
    the buffer. Nothing is written; the operation has a write effect so that it
    is kept.

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
