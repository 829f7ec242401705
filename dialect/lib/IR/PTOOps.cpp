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
#include "TileRules.h"
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
      {"inserted", "inserted_after", "inserted_token", "ulp", "rmode", "sat",
       "trans_a", "trans_b", "gemv", "mask", "post"},
      name);
}

/// Words that begin a clause: one of them where the dictionary begins means
/// that the clause is repeated or out of order.
static constexpr StringRef clauseWords[] = {
    "bank",    "offset",      "partition", "size",    "tile",    "at",
    "acc",     "zero_region", "start_if",  "stop_if", "engine",  "after",
    "c_scale", "row_max_in",  "quant",     "prelu",   "row_max", "group_max"};

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

/// An operand and its type.
static ParseResult
parseTypedOperand(OpAsmParser &parser,
                  std::optional<OpAsmParser::UnresolvedOperand> &operand,
                  Type &type) {
  return failure(parser.parseOperand(operand.emplace()) ||
                 parser.parseColonType(type));
}

static void printTypedOperand(OpAsmPrinter &printer, Operation *, Value operand,
                              Type type) {
  printer << operand << " : " << type;
}

/// The type behind the arrow.
static ParseResult parseTokenType(OpAsmParser &parser, Type &type) {
  return parser.parseType(type);
}

static void printTokenType(OpAsmPrinter &printer, Operation *, Type type) {
  printer << type;
}

//===----------------------------------------------------------------------===//
// Sources with block scales
//===----------------------------------------------------------------------===//

namespace {

using ParsedOperand = OpAsmParser::UnresolvedOperand;
using OptionalOperand = std::optional<ParsedOperand>;

/// The sources of one operation with block scales while they are parsed: the
/// operands in order, a colon, and their types in order. A scale is left out
/// where its side has none. Where there is one for two sides, it is that of the
/// left side if that takes one, but where the last operand is made of scales.
class ScaledSourceParser {
public:
  ScaledSourceParser(OpAsmParser &parser, bool hasAccumulator, bool hasBias)
      : parser(parser), hasAccumulator(hasAccumulator),
        count(2 + hasAccumulator + hasBias) {}

  ParseResult parse() {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseOperandList(operands) || parser.parseColonTypeList(types))
      return failure();
    if (operands.size() != types.size())
      return parser.emitError(loc) << "expected " << operands.size()
                                   << " types, found " << types.size();
    if (operands.size() < count || operands.size() > count + 2)
      return parser.emitError(loc)
             << "expected " << count << " to " << count + 2
             << " operands, found " << operands.size()
             << rules::sourceCount.end();
    unsigned scales = operands.size() - count;
    hasLhsScale = scales == 2 || (scales == 1 && isOneScaleOfLhs());
    hasRhsScale = scales == 2 || (scales == 1 && !hasLhsScale);
    return success();
  }

  /// Hands out the next operand.
  void take(ParsedOperand &operand, Type &type) {
    operand = operands[next];
    type = types[next++];
  }

  void takeSides(ParsedOperand &lhs, Type &lhsType, OptionalOperand &lhsScale,
                 Type &lhsScaleType, ParsedOperand &rhs, Type &rhsType,
                 OptionalOperand &rhsScale, Type &rhsScaleType) {
    take(lhs, lhsType);
    if (hasLhsScale)
      take(lhsScale.emplace(), lhsScaleType);
    take(rhs, rhsType);
    if (hasRhsScale)
      take(rhsScale.emplace(), rhsScaleType);
  }

private:
  bool isOneScaleOfLhs() const {
    bool takesOne = isElementOf(types[hasAccumulator], [](Type element) {
      return !isa<Float16Type, BFloat16Type>(element);
    });
    bool isLastScales =
        isElementOf(types[hasAccumulator + 2], [](Type element) {
          return isa<Float8E8M0FNUType>(element) ||
                 element.isUnsignedInteger(32);
        });
    return takesOne && !isLastScales;
  }

  static bool isElementOf(Type type, function_ref<bool(Type)> predicate) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && predicate(memref.getElementType());
  }

  OpAsmParser &parser;
  bool hasAccumulator;
  size_t count;
  bool hasLhsScale = false, hasRhsScale = false;
  SmallVector<ParsedOperand> operands;
  SmallVector<Type> types;
  unsigned next = 0;
};

} // namespace

static ParseResult parseScaledSources(OpAsmParser &parser, ParsedOperand &lhs,
                                      Type &lhsType, OptionalOperand &lhsScale,
                                      Type &lhsScaleType, ParsedOperand &rhs,
                                      Type &rhsType, OptionalOperand &rhsScale,
                                      Type &rhsScaleType) {
  ScaledSourceParser sources(parser, /*hasAccumulator=*/false,
                             /*hasBias=*/false);
  if (sources.parse())
    return failure();
  sources.takeSides(lhs, lhsType, lhsScale, lhsScaleType, rhs, rhsType,
                    rhsScale, rhsScaleType);
  return success();
}

static ParseResult parseAccumulatedScaledSources(
    OpAsmParser &parser, ParsedOperand &accumulator, Type &accumulatorType,
    ParsedOperand &lhs, Type &lhsType, OptionalOperand &lhsScale,
    Type &lhsScaleType, ParsedOperand &rhs, Type &rhsType,
    OptionalOperand &rhsScale, Type &rhsScaleType) {
  ScaledSourceParser sources(parser, /*hasAccumulator=*/true,
                             /*hasBias=*/false);
  if (sources.parse())
    return failure();
  sources.take(accumulator, accumulatorType);
  sources.takeSides(lhs, lhsType, lhsScale, lhsScaleType, rhs, rhsType,
                    rhsScale, rhsScaleType);
  return success();
}

static ParseResult
parseBiasedScaledSources(OpAsmParser &parser, ParsedOperand &lhs, Type &lhsType,
                         OptionalOperand &lhsScale, Type &lhsScaleType,
                         ParsedOperand &rhs, Type &rhsType,
                         OptionalOperand &rhsScale, Type &rhsScaleType,
                         ParsedOperand &bias, Type &biasType) {
  ScaledSourceParser sources(parser, /*hasAccumulator=*/false,
                             /*hasBias=*/true);
  if (sources.parse())
    return failure();
  sources.takeSides(lhs, lhsType, lhsScale, lhsScaleType, rhs, rhsType,
                    rhsScale, rhsScaleType);
  sources.take(bias, biasType);
  return success();
}

/// Prints those of `sources` that are there.
static void printSources(OpAsmPrinter &printer, ArrayRef<Value> sources) {
  auto present = llvm::make_filter_range(
      sources, [](Value source) { return static_cast<bool>(source); });
  llvm::interleaveComma(present, printer);
  printer << " : ";
  llvm::interleaveComma(present, printer,
                        [&](Value source) { printer << source.getType(); });
}

static void printScaledSources(OpAsmPrinter &printer, Operation *, Value lhs,
                               Type, Value lhsScale, Type, Value rhs, Type,
                               Value rhsScale, Type) {
  printSources(printer, {lhs, lhsScale, rhs, rhsScale});
}

static void printAccumulatedScaledSources(OpAsmPrinter &printer, Operation *,
                                          Value accumulator, Type, Value lhs,
                                          Type, Value lhsScale, Type, Value rhs,
                                          Type, Value rhsScale, Type) {
  printSources(printer, {accumulator, lhs, lhsScale, rhs, rhsScale});
}

static void printBiasedScaledSources(OpAsmPrinter &printer, Operation *,
                                     Value lhs, Type, Value lhsScale, Type,
                                     Value rhs, Type, Value rhsScale, Type,
                                     Value bias, Type) {
  printSources(printer, {lhs, lhsScale, rhs, rhsScale, bias});
}

//===----------------------------------------------------------------------===//
// Methods of the interfaces
//===----------------------------------------------------------------------===//

Engine TMatmulOp::getExecutingEngine() { return Engine::pe; }
Engine TMatmulAccOp::getExecutingEngine() { return Engine::pe; }
Engine TMatmulBiasOp::getExecutingEngine() { return Engine::pe; }
Engine TMatmulMxOp::getExecutingEngine() { return Engine::pe; }
Engine TMatmulMxAccOp::getExecutingEngine() { return Engine::pe; }
Engine TMatmulMxBiasOp::getExecutingEngine() { return Engine::pe; }

Engine MemsetOp::getExecutingEngine() {
  return getEngine().value_or(Engine::vector);
}

Engine CopyOp::getExecutingEngine() {
  return getEngine().value_or(Engine::vector);
}

Value TMatmulOp::getAccumulatorOrNull() { return {}; }
Value TMatmulAccOp::getAccumulatorOrNull() { return getAccumulator(); }

/// Whether a matmul of both machines is one of the tile ISA: its destination is
/// a tile, and its left operand is not where only the PE array reads.
template <typename Matmul> static bool isTileMatmul(Matmul op) {
  // Every group up to the destination is one operand.
  auto spaceOf = [&](TileRole role) {
    Value operand = op->getOperand(common::getGroup<Matmul>(role));
    return getMemorySpace(cast<MemRefType>(operand.getType()));
  };
  std::optional<MemorySpace> space = spaceOf(TileRole::dst);
  return space && isTileSpace(*space) &&
         spaceOf(TileRole::lhs) != MemorySpace::sbuf;
}

bool TMatmulOp::isTile() { return isTileMatmul(*this); }
bool TMatmulAccOp::isTile() { return isTileMatmul(*this); }
bool TMatmulBiasOp::isTile() { return true; }
bool TMatmulMxOp::isTile() { return true; }
bool TMatmulMxAccOp::isTile() { return true; }
bool TMatmulMxBiasOp::isTile() { return true; }

#include "PTO/IR/PTOInterfaces.cpp.inc"
#include "PTO/IR/PTOTileInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "PTO/IR/PTOOps.cpp.inc"
