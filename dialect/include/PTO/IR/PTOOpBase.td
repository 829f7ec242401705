//===- PTOOpBase.td - What all operations of pto share -----*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOOPBASE
#define PTO_IR_PTOOPBASE

include "PTO/IR/PTOAttributes.td"
include "PTO/IR/PTOInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A buffer. What else it must be depends on the operation, which verifies it.
// Upstream's AnyMemRef asks for any element type as well, at the cost of an
// interface look-up an operand.
def PTO_Buffer : Type<CPred<"::llvm::isa<::mlir::MemRefType>($_self)">,
                      "a memref", "::mlir::MemRefType">;

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

#endif // PTO_IR_PTOOPBASE
