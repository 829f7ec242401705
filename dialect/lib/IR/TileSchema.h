//===- TileSchema.h - What each operand on tiles must be --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tile, and the type, shape and layout it must have in its role.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_IR_TILESCHEMA_H
#define PTO_LIB_IR_TILESCHEMA_H

#include "PTO/IR/TileIsa.h"
#include "TileRules.h"
#include "Verification.h"

namespace mlir::pto {

/// One tile as its memref says it. Null, with a null value, where there is
/// none.
struct Tile {
  Value value;
  MemorySpace space = MemorySpace::hbm;
  TileType type = TileType::f32;
  int64_t rows = 0, columns = 0;

  explicit operator bool() const { return static_cast<bool>(value); }
  bool isShared() const { return value && space == MemorySpace::shared; }
};

/// Reads the memref `value`, called `name` in messages. It must be one that can
/// be a tile: two static dimensions, no layout, elements of the tile ISA.
FailureOr<Tile> readTile(common::EmitError emitError, StringRef name,
                         Value value);

/// The memory spaces an operand may be in, one bit each.
using TileSpaces = unsigned;

/// What an operand must be.
struct TileSchema {
  TileType type;
  int64_t rows, columns;
  TileSpaces spaces;
};

/// What the operands of one operation are held against.
struct TileFrame {
  std::array<Tile, kTileRoleCount> tiles;
  /// Rows and columns of the destination, and what is summed over.
  int64_t m = 0, n = 0, k = 0;
  /// Rows of a Shared lhs, which all processing elements share; else m.
  int64_t groupRows = 0;
  /// Columns of one group of group_max.
  int64_t groupColumns = 0;
  TileType accumulator = TileType::f32, output = TileType::f32;
  /// The layout of lhs, accumulator and destination.
  MemorySpace mLayout = MemorySpace::cube_m16;
  /// Shared operands that are stored transposed.
  bool transposesLhs = false, transposesRhs = false;

  const Tile &operator[](TileRole role) const {
    return tiles[static_cast<unsigned>(role)];
  }

  /// What the operand in `role` must be.
  TileSchema getSchema(TileRole role) const;

private:
  TileSchema getScaleSchema(TileRole role, const Tile &side, int64_t rows,
                            bool isTransposed) const;
};

/// `tile` must be what `schema` says: in shape, type and layout. `rule` is the
/// one to name for all three, where there is one.
LogicalResult verifySchema(common::EmitError emitError, StringRef name,
                           const Tile &tile, const TileSchema &schema,
                           const TileRule *rule = nullptr);

/// The layout of `tile` must hold its elements (else `layoutRule`), and some
/// capacity its bytes (else `capacityRule`).
LogicalResult verifyGeometry(common::EmitError emitError, StringRef name,
                             const Tile &tile, const TileRule &layoutRule,
                             const TileRule &capacityRule);

} // namespace mlir::pto

#endif // PTO_LIB_IR_TILESCHEMA_H
