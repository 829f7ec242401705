//===- TileAttributes.cpp - The text of #pto.post -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::pto;

namespace {

/// The fields of one #pto.post, those with a number and those without.
struct PostFields {
  static constexpr StringLiteral numberNames[] = {"pre_quant", "relu", "group"};
  static constexpr StringLiteral flagNames[] = {"row_max", "group_max",
                                                "row_max_init", "max_abs"};
  int64_t numbers[std::size(numberNames)] = {};
  bool flags[std::size(flagNames)] = {};
};

/// Parses the fields between the angle brackets.
class PostParser {
public:
  explicit PostParser(AsmParser &parser) : parser(parser) {}

  ParseResult parse() {
    if (parser.parseLess())
      return failure();
    if (succeeded(parser.parseOptionalGreater()))
      return success();
    if (parser.parseCommaSeparatedList([&] { return parseField(); }))
      return failure();
    return parser.parseGreater();
  }

  PostFields fields;

private:
  ParseResult parseField() {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (!names.insert(name).second)
      return parser.emitError(loc)
             << "expected each field once, found '" << name << "' again "
             << "[pto:keyword]";
    const auto *number = llvm::find(PostFields::numberNames, name);
    if (number != std::end(PostFields::numberNames))
      return failure(
          parser.parseEqual() ||
          parser.parseInteger(
              fields.numbers[number - std::begin(PostFields::numberNames)]));
    const auto *flag = llvm::find(PostFields::flagNames, name);
    if (flag == std::end(PostFields::flagNames))
      return parser.emitError(loc)
             << "expected pre_quant, relu, group, row_max, group_max, "
                "row_max_init or max_abs, found '"
             << name << "' [pto:keyword]";
    fields.flags[flag - std::begin(PostFields::flagNames)] = true;
    return success();
  }

  AsmParser &parser;
  llvm::SmallSet<StringRef, 8> names;
};

} // namespace

Attribute PostAttr::parse(AsmParser &parser, Type) {
  PostParser post(parser);
  if (post.parse())
    return {};
  const auto &[numbers, flags] = post.fields;
  return get(parser.getContext(), numbers[0], numbers[1], numbers[2], flags[0],
             flags[1], flags[2], flags[3]);
}

void PostAttr::print(AsmPrinter &printer) const {
  int64_t numbers[] = {getPreQuant(), getRelu(), getGroup()};
  bool flags[] = {getRowMax(), getGroupMax(), getRowMaxInit(), getMaxAbs()};
  printer << '<';
  llvm::interleaveComma(llvm::zip_equal(PostFields::numberNames, numbers),
                        printer, [&](const auto &field) {
                          printer << std::get<0>(field) << " = "
                                  << std::get<1>(field);
                        });
  for (auto [name, isSet] : llvm::zip_equal(PostFields::flagNames, flags))
    if (isSet)
      printer << ", " << name;
  printer << '>';
}
