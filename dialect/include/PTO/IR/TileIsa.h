//===- TileIsa.h - Tables of the tile ISA -----------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an operation on tiles is verified against: element types and their
// classes, the cells of the CUBE layouts, capacities, conversion modes, and the
// operands of an operation by role. docs/tile-isa.md is the explanation.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_TILEISA_H
#define PTO_IR_TILEISA_H

#include "PTO/IR/PTOAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <array>

namespace mlir::pto {

class TileOpInterface;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// The element types, in the spelling of MLIR. The values are the codes of the
/// instruction's type fields.
enum class TileType : uint8_t {
  f64 = 0,
  f32 = 1,
  tf32 = 2,
  hf32 = 3,
  f16 = 4,
  bf16 = 5,
  hif8 = 6,
  f8E4M3FN = 7,
  f8E5M2 = 8,
  f6E3M2FN = 9,
  f6E2M3FN = 10,
  f4E2M1FN = 11,
  e1m2 = 12,
  f8E8M0FNU = 13,
  hif4 = 14,
  si64 = 16,
  si32 = 17,
  si16 = 18,
  si8 = 19,
  si4 = 20,
  ui64 = 24,
  ui32 = 25,
  ui16 = 26,
  ui8 = 27,
  ui4 = 28
};

/// What decides the accumulator: operands of two classes cannot be multiplied.
enum class TileClass : uint8_t {
  none,
  floating,
  signedInteger,
  unsignedInteger
};

/// Whether a type may be a side of a block-scaled product, and with which
/// scale.
enum class TileScaling : uint8_t { none, unscaled, groupsOf32, groupsOf64 };

/// One element type.
struct TileTypeInfo {
  TileType type;
  /// As it is written in a memref.
  const char *spelling;
  /// Of one element in a tile. A 6-bit float takes a byte.
  unsigned bits;
  /// As a side of a product that is not block-scaled.
  TileClass productClass;
  /// As a side of one that is.
  TileScaling scaling;

  /// Whether a block-scaled side of this type has a scale operand.
  bool hasScale() const {
    return scaling == TileScaling::groupsOf32 ||
           scaling == TileScaling::groupsOf64;
  }
  /// Elements of K that one scale covers, and the type of a scale.
  int64_t getScaleGroup() const {
    return scaling == TileScaling::groupsOf64 ? 64 : 32;
  }
  TileType getScaleType() const {
    return scaling == TileScaling::groupsOf64 ? TileType::ui32
                                              : TileType::f8E8M0FNU;
  }
};

/// The facts of `type`.
const TileTypeInfo &getTileTypeInfo(TileType type);

/// What `element` is in a tile; nothing where a tile cannot hold it. Signless
/// integers are none of its types, but for i64, the ui64 of parameters.
std::optional<TileType> getTileType(Type element);

/// The accumulator of products of two types; nothing where they cannot be
/// multiplied. `isScaled` says whether the product is block-scaled.
std::optional<TileType> getTileAccumulator(TileType lhs, TileType rhs,
                                           bool isScaled);

//===----------------------------------------------------------------------===//
// Layouts and capacities
//===----------------------------------------------------------------------===//

/// Rows that `space` holds at most, where it is one for left operands and
/// accumulators (an M layout); 0 where it is not.
int64_t getMaxTileRows(MemorySpace space);

/// Bytes of a tile of `rows` x `columns`; nothing where the layout of `space`
/// cannot hold them. Parameters (64-bit elements) are row-major, in any space.
std::optional<int64_t> getTileBytes(MemorySpace space, TileType type,
                                    int64_t rows, int64_t columns);

/// The largest size code of a tile in `space`.
unsigned getMaxSizeCode(MemorySpace space);

/// The bytes of size code `code`.
inline int64_t getSizeCodeBytes(unsigned code) {
  return int64_t(128) << (code - 1);
}

/// The smallest size code of at least `bytes`, be there a tile of it or not.
unsigned getSmallestSizeCode(int64_t bytes);

//===----------------------------------------------------------------------===//
// Post-processing
//===----------------------------------------------------------------------===//

/// Where a conversion or an activation has its parameters from.
enum class TileParameter : uint8_t { none, scalar, vector };

/// What a conversion leaves to `rmode` and `sat`.
enum class TileControl : uint8_t { nothing, saturation, everything };

/// One conversion mode.
struct PreQuantMode {
  unsigned code;
  /// Of mode 0, any accumulator, and the same.
  TileType accumulator, output;
  TileParameter parameter;
  TileControl control;

  bool accepts(TileType type) const { return code == 0 || type == accumulator; }
  TileType getOutput(TileType type) const { return code == 0 ? type : output; }
};

/// The conversion mode `code`; null where the code is reserved.
const PreQuantMode *getPreQuantMode(int64_t code);

/// Where the activation `relu` has its factor from; nothing where the code is
/// reserved.
std::optional<TileParameter> getActivationParameter(int64_t relu);

/// Columns of one group of `group_max` for a code, 0 for none; nothing where
/// the code is reserved.
std::optional<int64_t> getGroupColumns(int64_t code);

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

constexpr unsigned kTileRoleCount = getMaxEnumValForTileRole() + 1;

/// The single operands of one operation by role; null where it has none. Of
/// `after`, which is a list, there is nothing here.
struct TileOperands {
  std::array<Value, kTileRoleCount> values;

  Value operator[](TileRole role) const {
    return values[static_cast<unsigned>(role)];
  }
};

/// The operands of `op`, whose operand groups must have passed verification.
TileOperands getTileOperands(TileOpInterface op);

/// The CUBE function code, with the bit of the matrix-vector form.
uint32_t getTileFunction(TileOpInterface op);

/// All processing elements of a core.
constexpr uint64_t kAllElements = 15;

} // namespace mlir::pto

#endif // PTO_IR_TILEISA_H
