//===- Targets.h - The numbers of the targets -------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C++ side of Targets.td.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_TARGETS_H
#define PTO_IR_TARGETS_H

#include "PTO/IR/PTOAttributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::pto {

/// The numbers of one matrix engine; Targets.td says what each means. Units are
/// in the names or there.
struct TargetInfo {
  const char *name;
  /// Other names in options; unused entries at the end are null.
  const char *aliases[4];
  unsigned archLevel;
  unsigned partitions;
  unsigned quadrantPartitions;
  unsigned banks;
  unsigned bankBytes;
  unsigned cellBytes;
  unsigned peRows;
  unsigned peColumns;
  unsigned maxMovingCells;
  unsigned maxZeroRegionCode;
  bool hasAccumulate;
  bool hasGroupFlags;
  /// Ascending; unused entries at the end are 0.
  unsigned rowTiles[4];
  bool hasLastQuadrantGroup;
  bool hasBf16Psum;

  /// Bytes of PSUM in one partition.
  unsigned getPartitionBytes() const { return banks * bankBytes; }

  /// Whether a tile of the PE array may have `rows` rows.
  bool hasRowTile(int64_t rows) const;

  /// Whether an access of `count` partitions may begin at partition `start`:
  /// more than half of them only at 0, more than a quadrant only at a half,
  /// others at a quadrant.
  bool isLegalStartPartition(int64_t start, int64_t count) const;

  /// Whether the control byte exists: 0 to 3 everywhere, 4 and 6 with
  /// `hasAccumulate`, 5 and 7 nowhere.
  bool isLegalControlByte(unsigned byte) const;
};

/// The numbers of `kind`; null for the tile ISA, which is no PE machine.
const TargetInfo *getTargetInfo(TargetKind kind);

/// The target called `name`, which may be an alias; null if there is none.
const TargetInfo *findTarget(llvm::StringRef name);

/// A target that accepts whatever some target accepts: each limit is the
/// largest of the table.
const TargetInfo &getUnionOfTargets();

/// The target that `op` is compiled for: that of the nearest module with the
/// attribute `pto.target`, else the union of all targets.
const TargetInfo &getEffectiveTarget(Operation *op);

} // namespace mlir::pto

#endif // PTO_IR_TARGETS_H
