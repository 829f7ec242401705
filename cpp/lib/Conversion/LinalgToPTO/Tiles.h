//===- Tiles.h - The tiles of one contraction -------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a contraction out as loops over tiles, or as all tiles in a row.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_CONVERSION_LINALGTOPTO_TILES_H
#define PTO_CONVERSION_LINALGTOPTO_TILES_H

#include "Contraction.h"

namespace mlir::pto::conversion {

/// How a contraction is cut.
struct Tiling {
  /// The largest tile: PE columns, cells of PSUM in a partition, PE rows.
  int64_t m, n, k;
  /// Straight-line code instead of loops.
  bool unroll;
};

/// Writes `contraction` out before its operation, which the caller erases.
/// `isSeeded` says that sums begin with what the output holds.
void emitTiles(OpBuilder &builder, Contraction &contraction,
               const Tiling &tiling, bool isSeeded);

} // namespace mlir::pto::conversion

#endif // PTO_CONVERSION_LINALGTOPTO_TILES_H
