//===- PTOOps.cpp - Operations of the pto dialect -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form of clauses and dictionaries, and the small methods of the
// operations. Verification is in *Verifier.cpp, folding in
// Canonicalization.cpp.
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Attribute dictionaries
//===----------------------------------------------------------------------===//

/// Inherent attributes that are written in the dictionary. Every other one is
/// said by a clause.
static bool isWrittenInDictionary(StringRef name) {
  return llvm::is_contained<StringRef>(
      {"inserted", "inserted_after", "inserted_token", "ulp"}, name);
}

/// Words that begin a clause: one of them where the dictionary begins means
/// that the clause is repeated or out of order.
static constexpr StringRef clauseWords[] = {
    "bank",        "offset",   "partition", "tile",   "at",   "acc",
    "zero_region", "start_if", "stop_if",   "engine", "after"};

ParseResult common::parseDictionary(OpAsmParser &parser,
                                    NamedAttrList &attributes, StringRef name,
                                    ArrayRef<StringRef> inherentNames,
                                    InherentAttributeVerifier verifyInherent) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word, clauseWords)))
    return parser.emitError(loc)
           << "expected no clause '" << word
           << "' here: it is repeated, out of order, or not one of " << name
           << " [pto:clause]";
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  for (NamedAttribute attribute : attributes)
    if (llvm::is_contained(inherentNames, attribute.getName().getValue()) &&
        !isWrittenInDictionary(attribute.getName()))
      return parser.emitError(loc)
             << "expected '" << attribute.getName().getValue()
             << "' in the clauses, found it in the dictionary [pto:clause]";
  return verifyInherent(OperationName(name, parser.getContext()), attributes,
                        [&] { return parser.emitError(loc); });
}

void common::printDictionary(OpAsmPrinter &printer, DictionaryAttr attributes,
                             ArrayRef<StringRef> inherentNames) {
  SmallVector<StringRef> clauses;
  llvm::copy_if(inherentNames, std::back_inserter(clauses),
                [](StringRef name) { return !isWrittenInDictionary(name); });
  printer.printOptionalAttrDict(attributes.getValue(), clauses);
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// tile(rows, columns) at(row, column)
static OptionalParseResult parseTile(OpAsmParser &parser,
                                     DenseI32ArrayAttr &size,
                                     DenseI32ArrayAttr &position) {
  if (failed(parser.parseOptionalKeyword("tile")))
    return std::nullopt;
  auto parsePair = [&](DenseI32ArrayAttr &pair) -> ParseResult {
    int32_t first, second;
    if (parser.parseLParen() || parser.parseInteger(first) ||
        parser.parseComma() || parser.parseInteger(second) ||
        parser.parseRParen())
      return failure();
    pair = parser.getBuilder().getDenseI32ArrayAttr({first, second});
    return success();
  };
  if (parsePair(size) || parser.parseKeyword("at") || parsePair(position))
    return failure();
  return success();
}

static void printTile(OpAsmPrinter &printer, Operation *,
                      DenseI32ArrayAttr size, DenseI32ArrayAttr position) {
  auto printPair = [&](DenseI32ArrayAttr pair) {
    printer << '(';
    if (pair)
      llvm::interleaveComma(pair.asArrayRef(), printer);
    printer << ')';
  };
  printer << "tile";
  printPair(size);
  printer << " at";
  printPair(position);
}

/// The word between the parentheses of engine(...).
static ParseResult parseEngine(OpAsmParser &parser, EngineAttr &engine) {
  Engine value{};
  if (parseEngineWord(parser, value))
    return failure();
  engine = EngineAttr::get(parser.getContext(), value);
  return success();
}

static void printEngine(OpAsmPrinter &printer, Operation *, EngineAttr engine) {
  printer << stringifyEngine(engine.getValue());
}

/// One operand, where a clause without it would mean nothing.
static ParseResult
parseOperand(OpAsmParser &parser,
             std::optional<OpAsmParser::UnresolvedOperand> &operand) {
  return parser.parseOperand(operand.emplace());
}

static void printOperand(OpAsmPrinter &printer, Operation *, Value operand) {
  printer << operand;
}

/// One operand or more.
static ParseResult
parseOperands(OpAsmParser &parser,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  return parser.parseCommaSeparatedList(
      [&] { return parser.parseOperand(operands.emplace_back()); });
}

static void printOperands(OpAsmPrinter &printer, Operation *,
                          OperandRange operands) {
  printer << operands;
}

/// The type behind the arrow.
static ParseResult parseTokenType(OpAsmParser &parser, Type &type) {
  return parser.parseType(type);
}

static void printTokenType(OpAsmPrinter &printer, Operation *, Type type) {
  printer << type;
}

//===----------------------------------------------------------------------===//
// Methods of the interfaces
//===----------------------------------------------------------------------===//

Engine TMatmulOp::getExecutingEngine() { return Engine::pe; }
Engine TMatmulAccOp::getExecutingEngine() { return Engine::pe; }

Engine MemsetOp::getExecutingEngine() {
  return getEngine().value_or(Engine::vector);
}

Engine CopyOp::getExecutingEngine() {
  return getEngine().value_or(Engine::vector);
}

Value TMatmulOp::getAccumulatorOrNull() { return {}; }
Value TMatmulAccOp::getAccumulatorOrNull() { return getAccumulator(); }

#include "PTO/IR/PTOInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "PTO/IR/PTOOps.cpp.inc"
