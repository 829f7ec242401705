//===- PTOTileAttributes.td - Attributes and types of the tile ISA *- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What only the tile ISA has: the rounding control, the post-processing command,
// the roles of operands, and element types that no upstream type stands for.
// The PE machine is in PTOAttributes.td; what a field means, in docs/tile-isa.md.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOTILEATTRIBUTES
#define PTO_IR_PTOTILEATTRIBUTES

include "PTO/IR/PTODialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

// The values are the codes of RMode in B.DATR.
def PTO_RMode : I32Enum<"RMode", "a rounding control of the tile ISA", [
    I32EnumCase<"Default", 0, "default">,
    I32EnumCase<"rne", 1>,
    I32EnumCase<"rtz", 2>,
    I32EnumCase<"rtm", 3>,
    I32EnumCase<"rtp", 4>,
    I32EnumCase<"rna", 5>,
    I32EnumCase<"rto", 6>,
    I32EnumCase<"rhb", 7>]> {
  let cppNamespace = "::mlir::pto";
}

def PTO_RModeAttr : PTO_WordAttr<PTO_RMode, "rmode"> {
  let cppClassName = "RModeAttr";
  let description = [{
    How the conversion of a tile rounds, where its pre-quantisation mode leaves
    that open: to nearest even (`default`, `rne`), toward zero, minus infinity or
    plus infinity (`rtz`, `rtm`, `rtp`), to nearest with ties away from zero or
    toward plus infinity (`rna`, `rhb`), or to odd (`rto`). The integer value is
    the code in the instruction.
  }];
}

//===----------------------------------------------------------------------===//
// Post-processing
//===----------------------------------------------------------------------===//

def PTO_PostAttr : AttrDef<PTO_Dialect, "Post"> {
  let mnemonic = "post";
  let summary = "post-processing of a tile: the fields of B.FPATR";
  let description = [{
    What happens to a finished accumulator on its way to the destination.

    | field | meaning |
    |---|---|
    | `pre_quant = n` | conversion mode; 0 keeps the accumulator's type |
    | `relu = n` | activation: 0 none, 1 ReLU, 2 and 3 a factor for negative values, one scalar or one a column |
    | `group = n` | columns of a group for `group_max`, as a code: 1 is 8, then 16, 32, 48 up to 128 |
    | `row_max`, `group_max` | further outputs: maxima of rows, of groups of columns |
    | `row_max_init` | the row maxima begin with those of `row_max_in` |
    | `max_abs` | both are maxima of absolute values |

    Fields come in any order. One that is absent is 0 or not set; printed are the
    numbers and then what is set. The attribute holds any numbers: which of them
    mean something is verified on the operation.

    ```mlir
    #pto.post<pre_quant = 24, relu = 1, group = 2, group_max>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$pre_quant,
    DefaultValuedParameter<"int64_t", "0">:$relu,
    DefaultValuedParameter<"int64_t", "0">:$group,
    DefaultValuedParameter<"bool", "false">:$row_max,
    DefaultValuedParameter<"bool", "false">:$group_max,
    DefaultValuedParameter<"bool", "false">:$row_max_init,
    DefaultValuedParameter<"bool", "false">:$max_abs);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

// The operand groups of a matmul, in the order in which every variant has those
// it has: the sources of the product in the order of the instruction's source
// stream, what only the PE array takes, and what post-processing takes. The word
// is the name of the group.
def PTO_TileRole : I32Enum<"TileRole", "an operand group of a matmul", [
    I32EnumCase<"accumulator", 0>,
    I32EnumCase<"lhs", 1>,
    I32EnumCase<"lhs_scale", 2>,
    I32EnumCase<"rhs", 3>,
    I32EnumCase<"rhs_scale", 4>,
    I32EnumCase<"bias", 5>,
    I32EnumCase<"dst", 6>,
    I32EnumCase<"start_if", 7>,
    I32EnumCase<"stop_if", 8>,
    I32EnumCase<"after", 9>,
    I32EnumCase<"c_scale", 10>,
    I32EnumCase<"row_max_in", 11>,
    I32EnumCase<"quant", 12>,
    I32EnumCase<"prelu", 13>,
    I32EnumCase<"row_max", 14>,
    I32EnumCase<"group_max", 15>]> {
  let cppNamespace = "::mlir::pto";
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

// A number format as the element type of a memref. There is no literal of one:
// where elements are written out, they are raw words.
class PTO_ElementType<string name, string word, string sentence>
    : TypeDef<PTO_Dialect, name, [MemRefElementTypeInterface]> {
  let mnemonic = word;
  let summary = sentence;
}

def PTO_HF32Type : PTO_ElementType<"HF32", "hf32",
    "20-bit float: f32 with the low 12 bits zero">;
def PTO_HiF8Type : PTO_ElementType<"HiF8", "hif8",
    "8-bit float whose fraction is the shorter the wider its exponent">;
def PTO_E1M2Type : PTO_ElementType<"E1M2", "e1m2",
    "4-bit float: 1 sign, 1 exponent, 2 fraction bits, finite only">;
def PTO_HiF4Type : PTO_ElementType<"HiF4", "hif4",
    "4-bit float 1-1-2 of which 64 share a 32-bit scale">;

#endif // PTO_IR_PTOTILEATTRIBUTES
