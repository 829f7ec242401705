//===- TileRules.h - The rules of the tile ISA ------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules that one operation on tiles can break, with the fault each raises
// when it is executed. Names are those of docs/tile-isa.md, where the rules are
// explained; an interpreter reports the same ones.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_IR_TILERULES_H
#define PTO_LIB_IR_TILERULES_H

#include <string>

namespace mlir::pto {

/// A rule: the fault it raises, and its stable tag.
struct TileRule {
  const char *fault;
  const char *tag;

  /// How a message ends.
  std::string end() const {
    return std::string(" (") + fault + ") [" + tag + "]";
  }
};

namespace rules {

// An encoding without a meaning.
inline constexpr TileRule reserved{"IllegalInstruction", "pto:tile-reserved"};

// Fields and operands that do not fit together.
inline constexpr TileRule typePair{"TileLegality", "pto:tile-type-pair"};
inline constexpr TileRule sharedCount{"TileLegality", "pto:tile-shared-count"};
inline constexpr TileRule sourceCount{"TileLegality", "pto:tile-source-count"};
inline constexpr TileRule destinationCount{"TileLegality",
                                           "pto:tile-destination-count"};
inline constexpr TileRule scalarParameters{"TileLegality",
                                           "pto:tile-scalar-parameters"};
inline constexpr TileRule roundingFields{"TileLegality",
                                         "pto:tile-rounding-fields"};
inline constexpr TileRule postFields{"TileLegality", "pto:tile-post-fields"};
inline constexpr TileRule dimensions{"TileLegality", "pto:tile-dimensions"};
inline constexpr TileRule cooperativeMask{"TileLegality",
                                          "pto:tile-cooperative-mask"};
inline constexpr TileRule gemvRows{"TileLegality", "pto:tile-gemv-rows"};
inline constexpr TileRule transpose{"TileLegality", "pto:tile-transpose"};
inline constexpr TileRule sharedSchema{"TileLegality",
                                       "pto:tile-shared-schema"};
inline constexpr TileRule cScale{"TileLegality", "pto:tile-c-scale"};
inline constexpr TileRule modeAccumulator{"TileLegality",
                                          "pto:tile-mode-accumulator"};
inline constexpr TileRule postSource{"TileLegality", "pto:tile-post-source"};

// One operand.
inline constexpr TileRule operandType{"TileLegality", "pto:tile-operand-type"};
inline constexpr TileRule operandShape{"TileLegality",
                                       "pto:tile-operand-shape"};
inline constexpr TileRule operandLayout{"TileLegality",
                                        "pto:tile-operand-layout"};
inline constexpr TileRule capacity{"TileLegality", "pto:tile-capacity"};

// Operands and destinations.
inline constexpr TileRule accumulatorCapacity{"TileLegality",
                                              "pto:tile-accumulator-capacity"};
inline constexpr TileRule alias{"TileLegality", "pto:tile-alias"};
inline constexpr TileRule destinationCapacity{"TileAllocation",
                                              "pto:tile-destination-capacity"};

} // namespace rules
} // namespace mlir::pto

#endif // PTO_LIB_IR_TILERULES_H
