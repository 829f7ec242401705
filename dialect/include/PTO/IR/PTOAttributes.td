//===- PTOAttributes.td - Attributes and types of the pto dialect *- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOATTRIBUTES
#define PTO_IR_PTOATTRIBUTES

include "PTO/IR/PTODialect.td"
include "PTO/IR/PTOTileAttributes.td"
include "Targets.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Memory spaces
//===----------------------------------------------------------------------===//

def PTO_MemorySpace : I32Enum<"MemorySpace", "a memory of the machine", [
    I32EnumCase<"hbm", 0>,
    I32EnumCase<"sbuf", 1>,
    I32EnumCase<"psum", 2>,
    I32EnumCase<"cube_m16", 3>,
    I32EnumCase<"cube_m32", 4>,
    I32EnumCase<"cube_n8", 5>,
    I32EnumCase<"shared", 6>]> {
  let cppNamespace = "::mlir::pto";
}

def PTO_MemAttr : PTO_WordAttr<PTO_MemorySpace, "mem"> {
  let cppClassName = "MemAttr";
  let description = [{
    The memory space of a memref.

    * `hbm`: device memory. A memref without a memory space is in hbm too.
    * `sbuf`: the operands of the PE array. Dimension 0 is the partition.
    * `psum`: where the PE array accumulates. Dimension 0 is the partition;
      every element takes a cell of four bytes, whatever its type.
    * `cube_m16`, `cube_m32`: Local tiles of the tile ISA for left operands and
      accumulators of at most 16 or 32 rows.
    * `cube_n8`: Local tiles for right operands.
    * `shared`: row-major tiles that all processing elements of a core read.
  }];
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

// The machines of Targets.td, then the tile ISA, which is no PE machine.
def PTO_TargetKind : I32Enum<"TargetKind", "a machine",
    !listconcat(
      !foreach(index, !range(PTO_Targets.all),
               I32EnumCase<PTO_Targets.all[index].name, index>),
      [I32EnumCase<"tile", !size(PTO_Targets.all)>])> {
  let cppNamespace = "::mlir::pto";
}

def PTO_TargetAttr : PTO_WordAttr<PTO_TargetKind, "target"> {
  let cppClassName = "TargetAttr";
  let description = [{
    The machine a module is compiled for: the attribute `pto.target` of the
    module. Where it is absent the verifiers accept what any target accepts.

    ```mlir
    module attributes {pto.target = #pto.target<trn3>} { ... }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Accumulate flags
//===----------------------------------------------------------------------===//

def PTO_AccFlags : I32BitEnum<"AccFlags", "accumulate flags of a matmul", [
    I32BitEnumCaseNone<"none">,
    I32BitEnumCaseBit<"start", 0>,
    I32BitEnumCaseBit<"stop", 1>,
    I32BitEnumCaseBit<"accumulate", 2>]> {
  let cppNamespace = "::mlir::pto";
  let separator = "|";
}

def PTO_AccAttr : PTO_WordAttr<PTO_AccFlags, "acc"> {
  let cppClassName = "AccAttr";
  let description = [{
    The accumulate flags of one matmul. The integer value is the control byte
    of the instruction.

    | flag | bit | meaning |
    |---|---|---|
    | `start` | 1 | open an accumulation group: cells of the zero region are overwritten at their next PE write |
    | `stop` | 2 | close the group |
    | `accumulate` | 4 | open a group on the contents already there |

    `none` is an interior member. `start` and `accumulate` exclude each other.
    Where the attribute is absent the flags are *auto*: the compiler derives them.
  }];
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

def PTO_Engine : I32Enum<"Engine", "an engine of the machine", [
    I32EnumCase<"pe", 0>,
    I32EnumCase<"vector", 1>,
    I32EnumCase<"scalar", 2>,
    I32EnumCase<"gpsimd", 3>,
    I32EnumCase<"dma", 4>]> {
  let cppNamespace = "::mlir::pto";
}

def PTO_EngineAttr : PTO_WordAttr<PTO_Engine, "engine"> {
  let cppClassName = "EngineAttr";
  let description = [{
    The engine that executes an operation. Only `pe` accumulates in PSUM; every
    other engine overwrites.
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def PTO_TokenType : TypeDef<PTO_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "an ordering token";
  let description = [{
    Stands for the issue of the operation that made it. An operation that names
    a token in `after(...)` is issued after that operation: pure order, without
    a memory access. A token may be named only in the function that made it,
    and only directly: not as a block argument or the result of a call.
  }];
  let builderCall = "$_builder.getType<::mlir::pto::TokenType>()";
}

#endif // PTO_IR_PTOATTRIBUTES
