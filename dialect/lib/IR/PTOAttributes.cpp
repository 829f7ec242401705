//===- PTOAttributes.cpp - Attributes and types of pto --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOAttributes.h"
#include "PTO/IR/PTODialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pto;

#include "PTO/IR/PTOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "PTO/IR/PTOAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "PTO/IR/PTOTypes.cpp.inc"

//===----------------------------------------------------------------------===//
// Words between angle brackets
//===----------------------------------------------------------------------===//

/// Says which of `words` were expected.
static ParseResult failWord(AsmParser &parser, SMLoc loc,
                            ArrayRef<StringRef> words, StringRef found) {
  return parser.emitError(loc)
         << "expected " << llvm::join(words.drop_back(), ", ") << " or "
         << words.back() << ", found '" << found << "' [pto:keyword]";
}

template <typename Enum>
static ParseResult parseWord(AsmParser &parser, unsigned last, Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  SmallVector<StringRef> words;
  for (unsigned index = 0; index <= last; ++index)
    words.push_back(stringifyEnum(static_cast<Enum>(index)));
  std::optional<Enum> known = symbolizeEnum<Enum>(word);
  if (!known)
    return failWord(parser, loc, words, word);
  value = *known;
  return success();
}

ParseResult mlir::pto::parseEngineWord(AsmParser &parser, Engine &engine) {
  return parseWord(parser, getMaxEnumValForEngine(), engine);
}

static ParseResult parseFlags(AsmParser &parser, AccFlags &flags) {
  flags = AccFlags::none;
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<AccFlags> flag = symbolizeAccFlags(word);
    if (!flag)
      return failWord(parser, loc, {"none", "start", "stop", "accumulate"},
                      word);
    flags = flags | *flag;
  } while (succeeded(parser.parseOptionalVerticalBar()));
  return success();
}

Attribute MemAttr::parse(AsmParser &parser, Type) {
  MemorySpace space{};
  if (parser.parseLess() ||
      parseWord(parser, getMaxEnumValForMemorySpace(), space) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), space);
}

void MemAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyMemorySpace(getValue()) << '>';
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  TargetKind kind{};
  if (parser.parseLess() ||
      parseWord(parser, getMaxEnumValForTargetKind(), kind) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), kind);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyTargetKind(getValue()) << '>';
}

Attribute AccAttr::parse(AsmParser &parser, Type) {
  AccFlags flags{};
  if (parser.parseLess() || parseFlags(parser, flags) || parser.parseGreater())
    return {};
  return get(parser.getContext(), flags);
}

void AccAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyAccFlags(getValue()) << '>';
}

Attribute EngineAttr::parse(AsmParser &parser, Type) {
  Engine engine{};
  if (parser.parseLess() || parseEngineWord(parser, engine) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), engine);
}

void EngineAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyEngine(getValue()) << '>';
}

Attribute RModeAttr::parse(AsmParser &parser, Type) {
  RMode mode{};
  if (parser.parseLess() || parseWord(parser, getMaxEnumValForRMode(), mode) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), mode);
}

void RModeAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyRMode(getValue()) << '>';
}

//===----------------------------------------------------------------------===//
// Memory spaces, registration
//===----------------------------------------------------------------------===//

std::optional<MemorySpace> mlir::pto::getMemorySpace(BaseMemRefType type) {
  Attribute space = type.getMemorySpace();
  if (!space)
    return MemorySpace::hbm;
  if (auto mem = dyn_cast<MemAttr>(space))
    return mem.getValue();
  return std::nullopt;
}

void PTODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "PTO/IR/PTOAttributes.cpp.inc"
      >();
}

void PTODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "PTO/IR/PTOTypes.cpp.inc"
      >();
}
