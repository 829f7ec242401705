//===- Targets.cpp - The numbers of the targets ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/Targets.h"
#include "PTO/IR/PTODialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::pto;

static const TargetInfo targetTable[] = {
#include "PTO/IR/TargetTable.inc"
};

bool TargetInfo::hasRowTile(int64_t rows) const {
  return rows > 0 && llvm::is_contained(rowTiles, static_cast<uint64_t>(rows));
}

bool TargetInfo::isLegalStartPartition(int64_t start, int64_t count) const {
  if (start < 0 || count < 1 || start >= partitions || count > partitions)
    return false;
  unsigned step = quadrantPartitions;
  if (count > partitions / 2)
    step = partitions;
  else if (count > quadrantPartitions)
    step = partitions / 2;
  return start % step == 0 && start + count <= partitions;
}

bool TargetInfo::isLegalControlByte(unsigned byte) const {
  return byte <= 3 || (hasAccumulate && (byte == 4 || byte == 6));
}

const TargetInfo *mlir::pto::getTargetInfo(TargetKind kind) {
  auto index = static_cast<size_t>(kind);
  return index < std::size(targetTable) ? &targetTable[index] : nullptr;
}

const TargetInfo *mlir::pto::findTarget(StringRef name) {
  auto *found = llvm::find_if(targetTable, [&](const TargetInfo &target) {
    return name == target.name ||
           llvm::any_of(target.aliases, [&](const char *alias) {
             return alias && name == alias;
           });
  });
  return found == std::end(targetTable) ? nullptr : found;
}

/// Adds to `sum`'s row tiles, which are ascending, those of `other`.
static void mergeRowTiles(TargetInfo &sum, const TargetInfo &other) {
  SmallVector<unsigned> tiles;
  for (unsigned rows : sum.rowTiles)
    if (rows)
      tiles.push_back(rows);
  for (unsigned rows : other.rowTiles)
    if (rows && !llvm::is_contained(tiles, rows))
      tiles.push_back(rows);
  llvm::sort(tiles);
  assert(tiles.size() <= std::size(sum.rowTiles) && "more tiles than slots");
  llvm::copy(tiles, sum.rowTiles);
}

static TargetInfo computeUnion() {
  TargetInfo sum = targetTable[0];
  sum.name = "any target";
  for (const TargetInfo &other : llvm::drop_begin(targetTable)) {
    for (unsigned TargetInfo::*limit :
         {&TargetInfo::archLevel, &TargetInfo::partitions,
          &TargetInfo::quadrantPartitions, &TargetInfo::banks,
          &TargetInfo::bankBytes, &TargetInfo::cellBytes, &TargetInfo::peRows,
          &TargetInfo::peColumns, &TargetInfo::maxMovingCells,
          &TargetInfo::maxZeroRegionCode})
      sum.*limit = std::max(sum.*limit, other.*limit);
    for (bool TargetInfo::*feature :
         {&TargetInfo::hasAccumulate, &TargetInfo::hasGroupFlags,
          &TargetInfo::hasLastQuadrantGroup, &TargetInfo::hasBf16Psum})
      sum.*feature = sum.*feature || other.*feature;
    mergeRowTiles(sum, other);
  }
  return sum;
}

const TargetInfo &mlir::pto::getUnionOfTargets() {
  static const TargetInfo sum = computeUnion();
  return sum;
}

const TargetInfo &mlir::pto::getEffectiveTarget(Operation *op) {
  for (; op; op = op->getParentOp()) {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      continue;
    auto target =
        module->getAttrOfType<TargetAttr>(PTODialect::kTargetAttrName);
    if (!target)
      continue;
    const TargetInfo *info = getTargetInfo(target.getValue());
    return info ? *info : getUnionOfTargets();
  }
  return getUnionOfTargets();
}
