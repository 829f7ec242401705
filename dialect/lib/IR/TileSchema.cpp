//===- TileSchema.cpp - What each operand on tiles must be ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileSchema.h"
#include "PTO/IR/PTOOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

FailureOr<Tile> mlir::pto::readTile(common::EmitError emitError, StringRef name,
                                    Value value) {
  auto type = cast<MemRefType>(value.getType());
  auto fail = [&](const char *what, const char *tag) {
    return emitError() << "expected " << name << " " << what << ", found "
                       << type << " [" << tag << "]";
  };
  std::optional<MemorySpace> space = getMemorySpace(type);
  if (!space)
    return fail("in a memory of pto", "pto:space");
  if (type.getRank() != 2)
    return fail("of rank 2", "pto:rank");
  if (!type.hasStaticShape())
    return fail("of static shape", "pto:dynamic-shape");
  auto layout = dyn_cast<AffineMapAttr>(type.getLayout());
  if (!layout || !layout.getValue().isIdentity())
    return fail("to be a whole tile, without a layout", "pto:layout");
  std::optional<TileType> element = getTileType(type.getElementType());
  if (!element)
    return emitError() << "expected " << name
                       << " of an element type of the tile ISA (signed or "
                          "unsigned integers, not signless ones), found "
                       << type.getElementType() << rules::operandType.end();
  return Tile{value, *space, *element, type.getDimSize(0), type.getDimSize(1)};
}

/// A tile in a message: 16x64xf16 in cube_m16.
static std::string spell(const Tile &tile) {
  return (Twine(tile.rows) + "x" + Twine(tile.columns) + "x" +
          getTileTypeInfo(tile.type).spelling + " in " +
          stringifyMemorySpace(tile.space))
      .str();
}

LogicalResult mlir::pto::verifyGeometry(common::EmitError emitError,
                                        StringRef name, const Tile &tile,
                                        const TileRule &layoutRule,
                                        const TileRule &capacityRule) {
  if (tile.rows < 1 || tile.columns < 1)
    return emitError() << "expected " << name << " with elements, found "
                       << spell(tile) << rules::operandShape.end();
  if (!isTileSpace(tile.space))
    return emitError() << "expected " << name << " in a tile, found "
                       << spell(tile) << layoutRule.end();
  std::optional<int64_t> bytes =
      getTileBytes(tile.space, tile.type, tile.rows, tile.columns);
  if (!bytes)
    return emitError() << "expected " << name
                       << " in a layout that holds it, found " << spell(tile)
                       << layoutRule.end();
  int64_t limit = getSizeCodeBytes(getMaxSizeCode(tile.space));
  if (*bytes > limit)
    return emitError() << "expected " << name << " of at most " << limit
                       << " bytes, found " << *bytes << capacityRule.end();
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static constexpr TileSpaces bitOf(MemorySpace space) {
  return 1u << static_cast<unsigned>(space);
}

// Either M layout, and any Local one.
static constexpr TileSpaces anyM =
    bitOf(MemorySpace::cube_m16) | bitOf(MemorySpace::cube_m32);
static constexpr TileSpaces anyLocal = anyM | bitOf(MemorySpace::cube_n8);

TileSchema TileFrame::getScaleSchema(TileRole role, const Tile &side,
                                     int64_t rows, bool isTransposed) const {
  const TileTypeInfo &info = getTileTypeInfo(side.type);
  int64_t groups = llvm::divideCeilSigned(k, info.getScaleGroup());
  bool isShared = (*this)[role].isShared();
  if (isTransposed)
    std::swap(rows, groups);
  return {info.getScaleType(), rows, groups,
          bitOf(isShared ? MemorySpace::shared : MemorySpace::cube_m32)};
}

TileSchema TileFrame::getSchema(TileRole role) const {
  const Tile &lhs = (*this)[TileRole::lhs], &rhs = (*this)[TileRole::rhs];
  TileSpaces shared = bitOf(MemorySpace::shared);
  switch (role) {
  case TileRole::lhs:
    if (!lhs.isShared())
      return {lhs.type, m, k, anyM};
    if (transposesLhs)
      return {lhs.type, k, groupRows, shared};
    return {lhs.type, groupRows, k, shared};
  case TileRole::rhs:
    if (transposesRhs)
      return {rhs.type, n, k, shared};
    return {rhs.type, k, n,
            rhs.isShared() ? shared : bitOf(MemorySpace::cube_n8)};
  case TileRole::lhs_scale:
    return getScaleSchema(role, lhs, groupRows, transposesLhs);
  case TileRole::rhs_scale:
    // A Local scale has one row a column of rhs. A Shared one is as rhs is.
    return getScaleSchema(role, rhs, n,
                          (*this)[role].isShared() && !transposesRhs);
  case TileRole::accumulator:
    return {accumulator, m, n, bitOf(mLayout)};
  case TileRole::dst:
    return {output, m, n, bitOf(mLayout)};
  case TileRole::bias:
    return {accumulator, 1, n, anyM};
  case TileRole::c_scale:
    return {TileType::ui8, m, 1, bitOf(MemorySpace::cube_m32)};
  case TileRole::row_max_in:
  case TileRole::row_max:
    return {accumulator, m, 1, anyM};
  case TileRole::group_max:
    return {accumulator, m, llvm::divideCeilSigned(n, groupColumns), anyM};
  case TileRole::quant:
  case TileRole::prelu:
    return {TileType::ui64, 1, n, anyLocal};
  case TileRole::start_if:
  case TileRole::stop_if:
  case TileRole::after:
    break;
  }
  llvm_unreachable("not a tile");
}

/// The names of `spaces`, as a choice.
static std::string spell(TileSpaces spaces) {
  SmallVector<StringRef> names;
  for (unsigned space = 0; space <= getMaxEnumValForMemorySpace(); ++space)
    if (spaces & 1u << space)
      names.push_back(stringifyMemorySpace(static_cast<MemorySpace>(space)));
  return llvm::join(names, " or ");
}

LogicalResult mlir::pto::verifySchema(common::EmitError emitError,
                                      StringRef name, const Tile &tile,
                                      const TileSchema &schema,
                                      const TileRule *rule) {
  auto end = [&](const TileRule &own) { return (rule ? *rule : own).end(); };
  if (tile.rows != schema.rows || tile.columns != schema.columns)
    return emitError() << "expected " << name << " to be " << schema.rows << "x"
                       << schema.columns << ", found " << tile.rows << "x"
                       << tile.columns << end(rules::operandShape);
  if (tile.type != schema.type)
    return emitError() << "expected " << name << " of "
                       << getTileTypeInfo(schema.type).spelling << ", found "
                       << getTileTypeInfo(tile.type).spelling
                       << end(rules::operandType);
  if (!(bitOf(tile.space) & schema.spaces))
    return emitError() << "expected " << name << " in " << spell(schema.spaces)
                       << ", found it in " << stringifyMemorySpace(tile.space)
                       << end(rules::operandLayout);
  return success();
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

LogicalResult TileAllocOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  FailureOr<Tile> tile = readTile(emitError, "the buffer", getBuffer());
  if (failed(tile))
    return failure();
  if (!isTileSpace(tile->space))
    return emitOpError() << "expected the buffer in cube_m16, cube_m32, "
                            "cube_n8 or shared, found it in "
                         << stringifyMemorySpace(tile->space) << " [pto:space]";
  unsigned largest = getMaxSizeCode(tile->space);
  if (IntegerAttr code = getSizeAttr();
      code && (code.getInt() < 1 || code.getInt() > largest))
    return emitOpError() << "expected a size code from 1 to " << largest
                         << ", found " << code.getInt()
                         << rules::reserved.end();
  if (failed(verifyGeometry(emitError, "the buffer", *tile,
                            rules::operandLayout, rules::destinationCapacity)))
    return failure();
  int64_t bytes =
      *getTileBytes(tile->space, tile->type, tile->rows, tile->columns);
  if (bytes <= getSizeCodeBytes(getSizeCode()))
    return success();
  return emitOpError() << "expected a size of at least the " << bytes
                       << " bytes of the buffer, found "
                       << getSizeCodeBytes(getSizeCode()) << " bytes of size("
                       << getSizeCode() << ")"
                       << rules::destinationCapacity.end();
}

unsigned TileAllocOp::getSizeCode() {
  if (IntegerAttr code = getSizeAttr())
    return code.getInt();
  MemRefType type = getBuffer().getType();
  return getSmallestSizeCode(
      *getTileBytes(*getMemorySpace(type), *getTileType(type.getElementType()),
                    type.getDimSize(0), type.getDimSize(1)));
}
