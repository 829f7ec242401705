//===- PTOTileInterfaces.td - Interface of tile matmuls ----*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOTILEINTERFACES
#define PTO_IR_PTOTILEINTERFACES

include "PTO/IR/PTOInterfaces.td"

def PTO_TileOpInterface : OpInterface<"TileOpInterface", [PTO_EngineOpInterface]> {
  let cppNamespace = "::mlir::pto";
  let description = [{
    A matmul that the tile ISA has. Verification and the C accessors are written
    once, on this interface and on tables, so that no variant can miss a rule.
    `pto.tmatmul` and `pto.tmatmul_acc` are also instructions of the PE array:
    they are tile operations where their destination is a tile (`isTile`), and
    are verified as what they are.
  }];
  let methods = [
    StaticInterfaceMethod<"The CUBE function code of the matrix form.",
      "uint32_t", "getFunctionCode", (ins), [{}],
      [{ return ConcreteOp::tileFunction; }]>,
    StaticInterfaceMethod<"The roles of the operand groups, in order.",
      "::llvm::ArrayRef<::mlir::pto::TileRole>", "getGroupRoles", (ins), [{}],
      [{ return ConcreteOp::groupRoles; }]>,
    InterfaceMethod<"The sizes of the operand groups.",
      "::llvm::ArrayRef<int32_t>", "getOperandGroupSizes", (ins), [{}],
      [{ return $_op.getProperties().operandSegmentSizes; }]>,
    InterfaceMethod<"All attributes of its own and the sizes of the operand groups, as they are stored.",
      "::llvm::ArrayRef<uint8_t>", "getStoredFields", (ins), [{}],
      [{ return ::mlir::pto::common::getStoredFields($_op.getProperties()); }]>,
    InterfaceMethod<"Whether the operation is one of the tile ISA.",
      "bool", "isTile">,
    InterfaceMethod<"The rounding control; absent is default.",
      "::std::optional<::mlir::pto::RMode>", "getRmode">,
    InterfaceMethod<"Whether conversions saturate.", "bool", "getSat">,
    InterfaceMethod<"Whether the Shared left operand is stored transposed.",
      "bool", "getTransA">,
    InterfaceMethod<"Whether the Shared right operand is stored transposed.",
      "bool", "getTransB">,
    InterfaceMethod<"Whether it is the matrix-vector form.", "bool", "getGemv">,
    InterfaceMethod<"The processing elements that take part; absent is all.",
      "::std::optional<uint64_t>", "getMask">,
    InterfaceMethod<"Post-processing; absent is none.",
      "::std::optional<::mlir::pto::PostAttr>", "getPost">,
  ];
  let verify = [{
    return ::mlir::pto::common::verifyMatmul(
        ::mlir::cast<::mlir::pto::TileOpInterface>($_op));
  }];
}

#endif // PTO_IR_PTOTILEINTERFACES
