//===- MatmulVerifier.cpp - Rules of the matmul instruction ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that one matmul knows about itself, in the order of its clauses:
// spaces, shapes, element types, tile, flags. Written on the interface, so that
// every variant is held to every rule. Facts about places (which partition the
// destination begins at, whether accumulator and destination are one buffer)
// are verified by the passes, which see where buffers are.
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOOps.h"
#include "PTO/IR/TileIsa.h"
#include "Verification.h"

using namespace mlir;
using namespace mlir::pto;

namespace {

/// The rules about one matmul, for the target that it is compiled for.
class MatmulVerifier {
public:
  explicit MatmulVerifier(MatmulOpInterface matmul)
      : op(matmul), target(getEffectiveTarget(matmul)),
        lhs(matmul.getLhs().getType()), rhs(matmul.getRhs().getType()),
        dst(matmul.getDst().getType()) {}

  LogicalResult verify() {
    return success(succeeded(verifyOperands()) && succeeded(verifyShapes()) &&
                   succeeded(verifyElementTypes()) && succeeded(verifyTile()) &&
                   succeeded(verifyFlags()) && succeeded(verifyZeroRegion()));
  }

private:
  LogicalResult verifyOperands();
  LogicalResult verifyOperand(StringRef name, MemRefType type,
                              MemorySpace space);
  LogicalResult verifyShapes();
  LogicalResult verifyEqual(StringRef axis, StringRef leftName, int64_t left,
                            StringRef rightName, int64_t right);
  LogicalResult verifyElementTypes();
  LogicalResult verifyTile();
  LogicalResult verifyTileAxis(StringRef axis, int64_t size, int64_t position,
                               int64_t extent);
  LogicalResult verifyWithinTile(StringRef axis, int64_t value,
                                 StringRef tileAxis, int64_t size);
  LogicalResult verifyFlags();
  LogicalResult verifyZeroRegion();

  InFlightDiagnostic error() { return op->emitOpError(); }

  MatmulOpInterface op;
  const TargetInfo &target;
  MemRefType lhs, rhs, dst;
};

} // namespace

LogicalResult MatmulVerifier::verifyOperand(StringRef name, MemRefType type,
                                            MemorySpace space) {
  auto emitError = [&] { return error(); };
  if (failed(common::verifySpace(emitError, name, type, space)))
    return failure();
  if (type.getRank() != 2)
    return error() << "expected " << name << " of rank 2, found " << type
                   << " [pto:rank]";
  if (llvm::is_contained(type.getShape(), 0))
    return error() << "expected " << name << " with elements, found " << type
                   << " [pto:shape]";
  return success();
}

LogicalResult MatmulVerifier::verifyOperands() {
  if (failed(verifyOperand("lhs", lhs, MemorySpace::sbuf)) ||
      failed(verifyOperand("rhs", rhs, MemorySpace::sbuf)) ||
      failed(verifyOperand("dst", dst, MemorySpace::psum)))
    return failure();
  Value accumulator = op.getAccumulatorOrNull();
  if (accumulator && accumulator.getType() != dst)
    return error() << "expected accumulator of the type of dst, " << dst
                   << ", found " << accumulator.getType()
                   << " [pto:accumulator-type]";
  return success();
}

LogicalResult MatmulVerifier::verifyEqual(StringRef axis, StringRef leftName,
                                          int64_t left, StringRef rightName,
                                          int64_t right) {
  if (left == right || ShapedType::isDynamic(left) ||
      ShapedType::isDynamic(right))
    return success();
  return error() << "expected " << leftName << " and " << rightName
                 << " to agree in " << axis << ", found " << left << " and "
                 << right << " [pto:shape]";
}

LogicalResult MatmulVerifier::verifyShapes() {
  auto emitError = [&] { return error(); };
  auto verifySize = [&](StringRef axis, int64_t value,
                        unsigned TargetInfo::*limit) {
    return common::verifyAtMost(emitError, target, axis, value, limit,
                                "pto:matmul-size");
  };
  return success(
      succeeded(verifyEqual("K", "dimension 0 of lhs", lhs.getDimSize(0),
                            "dimension 0 of rhs", rhs.getDimSize(0))) &&
      succeeded(verifyEqual("M", "dimension 1 of lhs", lhs.getDimSize(1),
                            "dimension 0 of dst", dst.getDimSize(0))) &&
      succeeded(verifyEqual("N", "dimension 1 of rhs", rhs.getDimSize(1),
                            "dimension 1 of dst", dst.getDimSize(1))) &&
      succeeded(verifySize("K", lhs.getDimSize(0), &TargetInfo::peRows)) &&
      succeeded(verifySize("K", rhs.getDimSize(0), &TargetInfo::peRows)) &&
      succeeded(verifySize("M", lhs.getDimSize(1), &TargetInfo::peColumns)) &&
      succeeded(verifySize("M", dst.getDimSize(0), &TargetInfo::peColumns)) &&
      succeeded(
          verifySize("N", rhs.getDimSize(1), &TargetInfo::maxMovingCells)) &&
      succeeded(
          verifySize("N", dst.getDimSize(1), &TargetInfo::maxMovingCells)));
}

/// Floats of 32 bits on their way through the array: they meet only each other.
static bool isWideFloat(Type type) {
  return isa<Float32Type, FloatTF32Type>(type);
}

static bool isNarrowFloat(Type type) {
  return isa<BFloat16Type, Float16Type, Float8E4M3FNType, Float8E5M2Type,
             Float8E3M4Type>(type);
}

/// i8, si8 or ui8.
static bool isByteInteger(Type type) { return type.isInteger(8); }

LogicalResult MatmulVerifier::verifyElementTypes() {
  Type left = lhs.getElementType(), right = rhs.getElementType();
  for (auto [name, type] : {std::pair("lhs", left), std::pair("rhs", right)})
    if (!isWideFloat(type) && !isNarrowFloat(type) && !isByteInteger(type))
      return error() << "expected " << name
                     << " of f8E4M3FN, f8E5M2, f8E3M4, bf16, f16, tf32, f32, "
                        "i8, si8 or ui8, found "
                     << type << " [pto:element-type]";
  if (isWideFloat(left) != isWideFloat(right) ||
      isByteInteger(left) != isByteInteger(right))
    return error() << "expected lhs and rhs both of f32 or tf32, both of "
                      "narrower floats or both of 8-bit integers, found "
                   << left << " and " << right << " [pto:element-type]";
  Type result = dst.getElementType();
  if (isByteInteger(left)) {
    if (result.isSignlessInteger(32))
      return success();
    return error() << "expected dst of i32 for 8-bit integers, found " << result
                   << " [pto:element-type]";
  }
  if (result.isBF16() && !target.hasBf16Psum)
    return error() << "expected dst of f32 on " << target.name
                   << ", found bf16 [pto:target-limit]";
  if (result.isF32() || result.isBF16())
    return success();
  return error() << "expected dst of f32 (or, on trn3, bf16) for floats, found "
                 << result << " [pto:element-type]";
}

/// One axis of a tile: `size` at `position` of an array `extent` long.
LogicalResult MatmulVerifier::verifyTileAxis(StringRef axis, int64_t size,
                                             int64_t position, int64_t extent) {
  int64_t quadrant = target.quadrantPartitions;
  if (size < quadrant || size > extent || !llvm::isPowerOf2_64(size))
    return error() << "expected a tile of " << quadrant << ", " << 2 * quadrant
                   << " or " << extent << " " << axis << ", found " << size
                   << " [pto:tile-size]";
  if (position < 0 || position % size != 0 || position + size > extent)
    return error() << "expected a tile of " << size << " " << axis
                   << " to begin at a multiple of " << size << " below "
                   << extent << ", found " << position
                   << " [pto:tile-position]";
  return success();
}

LogicalResult MatmulVerifier::verifyWithinTile(StringRef axis, int64_t value,
                                               StringRef tileAxis,
                                               int64_t size) {
  if (ShapedType::isDynamic(value) || value <= size)
    return success();
  return error() << "expected " << axis << " of at most the " << size << " "
                 << tileAxis << " of the tile, found " << value
                 << " [pto:tile-size]";
}

LogicalResult MatmulVerifier::verifyTile() {
  std::optional<ArrayRef<int32_t>> size = op.getTileSize();
  std::optional<ArrayRef<int32_t>> position = op.getTilePosition();
  if (!size && !position)
    return success();
  if (!size || !position)
    return error() << "expected tile_size and tile_position together, found "
                      "only "
                   << (size ? "tile_size" : "tile_position")
                   << (size ? " [pto:tile-position]" : " [pto:tile-size]");
  if (size->size() != 2)
    return error() << "expected two numbers in tile_size, found "
                   << size->size() << " [pto:tile-size]";
  if (position->size() != 2)
    return error() << "expected two numbers in tile_position, found "
                   << position->size() << " [pto:tile-position]";
  int64_t rows = (*size)[0], columns = (*size)[1];
  int64_t row = (*position)[0], column = (*position)[1];
  if (failed(verifyTileAxis("rows", rows, row, target.peRows)) ||
      failed(verifyTileAxis("columns", columns, column, target.peColumns)))
    return failure();
  if (!target.hasRowTile(rows))
    return error() << "expected a height of tile that " << target.name
                   << " has, found " << rows << " rows [pto:target-limit]";
  int64_t lastQuadrant = target.peColumns - target.quadrantPartitions;
  if (column == lastQuadrant && !target.hasLastQuadrantGroup)
    return error() << "expected a tile that " << target.name
                   << " has, found the last " << target.quadrantPartitions
                   << " columns alone [pto:target-limit]";
  return success(
      succeeded(verifyWithinTile("K", lhs.getDimSize(0), "rows", rows)) &&
      succeeded(verifyWithinTile("K", rhs.getDimSize(0), "rows", rows)) &&
      succeeded(verifyWithinTile("M", lhs.getDimSize(1), "columns", columns)) &&
      succeeded(verifyWithinTile("M", dst.getDimSize(0), "columns", columns)));
}

LogicalResult MatmulVerifier::verifyFlags() {
  AccFlags flags = op.getAcc().value_or(AccFlags::none);
  auto byte = static_cast<unsigned>(flags);
  if (!getUnionOfTargets().isLegalControlByte(byte))
    return error() << "expected start or accumulate, found both in acc<"
                   << stringifyAccFlags(flags) << "> [pto:acc-flags]";
  bool accumulates = bitEnumContainsAny(flags, AccFlags::accumulate);
  if (accumulates && op.getStartIfOrNull())
    return error() << "expected start_if or accumulate, found both "
                      "[pto:acc-flags]";
  // A generation without group flags ignores stale ones.
  if (target.hasGroupFlags && !target.isLegalControlByte(byte))
    return error() << "expected flags that " << target.name
                   << " has, found acc<" << stringifyAccFlags(flags)
                   << "> [pto:target-limit]";
  return success();
}

LogicalResult MatmulVerifier::verifyZeroRegion() {
  if (!op.getZeroRegion())
    return success();
  auto code = static_cast<int64_t>(*op.getZeroRegion());
  int64_t largest = getUnionOfTargets().maxZeroRegionCode;
  if (code < 0 || code > largest)
    return error() << "expected a zero region code from 0 to " << largest
                   << ", found " << code << " [pto:zero-region]";
  if (target.hasGroupFlags && code > target.maxZeroRegionCode)
    return error() << "expected a zero region code of at most "
                   << target.maxZeroRegionCode << " on " << target.name
                   << ", found " << code << " [pto:target-limit]";
  return success();
}

/// What only the tile ISA has must not stand on the PE array.
static LogicalResult verifyNoTileClauses(TileOpInterface op) {
  auto fail = [&](StringRef found) {
    return op->emitOpError() << "expected only clauses of the PE array for a "
                                "destination in psum, "
                                "found "
                             << found << " [pto:machine-clause]";
  };
  TileOperands operands = getTileOperands(op);
  for (TileRole role :
       {TileRole::c_scale, TileRole::row_max_in, TileRole::quant,
        TileRole::prelu, TileRole::row_max, TileRole::group_max})
    if (operands[role])
      return fail(stringifyTileRole(role));
  for (auto [name, isSet] :
       {std::pair("rmode", op.getRmode().has_value()),
        std::pair("sat", op.getSat()), std::pair("trans_a", op.getTransA()),
        std::pair("trans_b", op.getTransB()), std::pair("gemv", op.getGemv()),
        std::pair("mask", op.getMask().has_value()),
        std::pair("post", op.getPost().has_value())})
    if (isSet)
      return fail(name);
  return success();
}

LogicalResult common::verifyPeMatmul(TileOpInterface op) {
  auto matmul = cast<MatmulOpInterface>(op.getOperation());
  return success(succeeded(MatmulVerifier(matmul).verify()) &&
                 succeeded(verifyNoTileClauses(op)));
}
