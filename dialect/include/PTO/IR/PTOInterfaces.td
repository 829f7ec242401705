//===- PTOInterfaces.td - Interfaces of the pto operations -*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOINTERFACES
#define PTO_IR_PTOINTERFACES

include "mlir/IR/OpBase.td"

def PTO_EngineOpInterface : OpInterface<"EngineOpInterface"> {
  let cppNamespace = "::mlir::pto";
  let description = [{
    An instruction of one engine. It may wait for the tokens of others, and may
    give a token itself. The `inserted` marks say which of these legalization
    added, so that they can be taken away again.
  }];
  let methods = [
    InterfaceMethod<"The engine that executes the operation.",
      "::mlir::pto::Engine", "getExecutingEngine">,
    InterfaceMethod<"The tokens it waits for.",
      "::mlir::OperandRange", "getAfter">,
    InterfaceMethod<"The tokens it waits for, to be changed.",
      "::mlir::MutableOperandRange", "getAfterMutable">,
    InterfaceMethod<"How many those are.",
      "unsigned", "getAfterCount", (ins), [{}],
      [{ return ::mlir::pto::common::getAfterCount($_op); }]>,
    InterfaceMethod<"Waits for `tokens` too, after those it waits for.",
      "void", "appendAfter", (ins "::mlir::ValueRange":$tokens), [{}],
      [{ ::mlir::pto::common::appendAfter($_op, tokens); }]>,
    InterfaceMethod<"The token it gives, or null.",
      "::mlir::Value", "getTokenOrNull", (ins), [{}],
      [{ return $_op.getToken(); }]>,
    InterfaceMethod<"The positions in `after` that legalization added.",
      "::std::optional<::llvm::ArrayRef<int32_t>>", "getInsertedAfter">,
    InterfaceMethod<"Sets those positions; null for none.",
      "void", "setInsertedAfterAttr", (ins "::mlir::DenseI32ArrayAttr":$positions)>,
    InterfaceMethod<"Whether legalization added the token.",
      "bool", "getInsertedToken">,
    InterfaceMethod<"Says whether legalization added the token.",
      "void", "setInsertedToken", (ins "bool":$inserted)>,
  ];
  let verify = [{
    return ::mlir::pto::common::verifyEngineOp(
        ::mlir::cast<::mlir::pto::EngineOpInterface>($_op));
  }];
}

def PTO_MatmulOpInterface
    : OpInterface<"MatmulOpInterface", [PTO_EngineOpInterface]> {
  let cppNamespace = "::mlir::pto";
  let description = [{
    A variant of the matmul instruction of the PE array. Verification,
    canonicalization and the C accessors are written once, on this interface, so
    that no variant can miss a rule. The variants are operations of the tile ISA
    too (TileOpInterface), where their destination is a tile; the rules of both
    machines are verified on that interface.
  }];
  let methods = [
    InterfaceMethod<"The accumulator operand, or null where the variant has none.",
      "::mlir::Value", "getAccumulatorOrNull">,
    InterfaceMethod<"The stationary operand, `[K, M]`.",
      "::mlir::TypedValue<::mlir::MemRefType>", "getLhs">,
    InterfaceMethod<"The moving operand, `[K, N]`.",
      "::mlir::TypedValue<::mlir::MemRefType>", "getRhs">,
    InterfaceMethod<"The destination, `[M, N]`.",
      "::mlir::TypedValue<::mlir::MemRefType>", "getDst">,
    InterfaceMethod<"The flags; absent is auto.",
      "::std::optional<::mlir::pto::AccFlags>", "getAcc">,
    InterfaceMethod<"Sets the flags; null for auto.",
      "void", "setAccAttr", (ins "::mlir::pto::AccAttr":$flags)>,
    InterfaceMethod<"The zero-region code.",
      "::std::optional<uint64_t>", "getZeroRegion">,
    InterfaceMethod<"Sets the zero-region code; null for none.",
      "void", "setZeroRegionAttr", (ins "::mlir::IntegerAttr":$code)>,
    InterfaceMethod<"Rows and columns of the tile.",
      "::std::optional<::llvm::ArrayRef<int32_t>>", "getTileSize">,
    InterfaceMethod<"Row and column where the tile begins.",
      "::std::optional<::llvm::ArrayRef<int32_t>>", "getTilePosition">,
    InterfaceMethod<"START only if this holds, or null.",
      "::mlir::Value", "getStartIfOrNull", (ins), [{}],
      [{ return $_op.getStartIf(); }]>,
    InterfaceMethod<"`start_if`, to be changed.",
      "::mlir::MutableOperandRange", "getStartIfMutable">,
    InterfaceMethod<"STOP only if this holds, or null.",
      "::mlir::Value", "getStopIfOrNull", (ins), [{}],
      [{ return $_op.getStopIf(); }]>,
    InterfaceMethod<"`stop_if`, to be changed.",
      "::mlir::MutableOperandRange", "getStopIfMutable">,
  ];
}

#endif // PTO_IR_PTOINTERFACES
