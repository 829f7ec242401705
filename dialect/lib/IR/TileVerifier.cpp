//===- TileVerifier.cpp - Fields of the tile ISA's matmuls ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of TileVerifier about fields, counts and dimensions, and their
// order.
//
//===----------------------------------------------------------------------===//

#include "TileVerifier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

LogicalResult TileVerifier::verify() {
  if (failed(readTiles()) || failed(verifyCodes()) || failed(verifyEnables()))
    return failure();
  // Without a processing element nothing happens, and nothing else is judged.
  if (mask == 0)
    return success();
  return success(succeeded(verifyTypePair()) && succeeded(verifySharing()) &&
                 succeeded(verifyStreams()) && succeeded(verifyControl()) &&
                 succeeded(verifyDimensions()) && succeeded(verifyElements()) &&
                 succeeded(verifyTransposes()) && succeeded(verifyShared()) &&
                 succeeded(verifyColumnScale()) &&
                 succeeded(verifyPostSources()) && succeeded(verifySources()) &&
                 succeeded(verifyAliases(op, operands)) &&
                 succeeded(verifyDestinations()));
}

LogicalResult TileVerifier::verifyValues(TileOpInterface op) {
  if (op.getMask() == 0)
    return success();
  TileOperands operands = getTileOperands(op);
  return success(succeeded(verifyAccumulatorCapacity(op, operands)) &&
                 succeeded(verifyAliases(op, operands)));
}

//===----------------------------------------------------------------------===//
// Each field and each tile by itself
//===----------------------------------------------------------------------===//

LogicalResult TileVerifier::readTiles() {
  auto emitError = [&] { return op->emitOpError(); };
  for (unsigned index = 0; index < kTileRoleCount; ++index) {
    Value value = operands.values[index];
    if (!value || !isa<MemRefType>(value.getType()))
      continue;
    StringRef name = stringifyTileRole(static_cast<TileRole>(index));
    FailureOr<Tile> tile = readTile(emitError, name, value);
    if (failed(tile))
      return failure();
    frame.tiles[index] = *tile;
  }
  return success();
}

LogicalResult TileVerifier::verifyCodes() {
  auto fail = [&](const char *what, int64_t found) -> LogicalResult {
    return error() << what << ", found " << found << rules::reserved.end();
  };
  mode = getPreQuantMode(post.preQuant);
  if (!mode)
    return fail("pre_quant to be a conversion mode", post.preQuant);
  std::optional<TileParameter> parameter = getActivationParameter(post.relu);
  if (!parameter)
    return fail("relu from 0 to 3", post.relu);
  activation = *parameter;
  std::optional<int64_t> columns = getGroupColumns(post.group);
  if (!columns)
    return fail("group from 0 to 9", post.group);
  frame.groupColumns = *columns;
  if (!llvm::is_contained<uint64_t>({0, 1, 2, 4, 8, 12, 14, 15}, mask))
    return fail("mask to be 0, 1, 2, 4, 8, 12, 14 or 15", mask);
  return success();
}

LogicalResult TileVerifier::verifyEnables() {
  auto fail = [&](const char *what, const char *found) -> LogicalResult {
    return error() << what << ", found " << found << rules::postFields.end();
  };
  if (post.rowMaxInit && !post.rowMax)
    return fail("row_max beside row_max_init", "none");
  bool hasGroups = post.group != 0;
  if (post.groupMax != hasGroups)
    return fail("group_max and a group other than 0 together",
                hasGroups ? "a group alone" : "group_max alone");
  if (post.maxAbs && !post.rowMax && !post.groupMax)
    return fail("row_max or group_max beside max_abs", "neither");
  return success();
}

//===----------------------------------------------------------------------===//
// Fields and operands together
//===----------------------------------------------------------------------===//

LogicalResult TileVerifier::verifyTypePair() {
  TileType left = frame[TileRole::lhs].type, right = frame[TileRole::rhs].type;
  std::optional<TileType> accumulator =
      getTileAccumulator(left, right, isScaled());
  if (!accumulator)
    return error() << "element types of lhs and rhs that can be multiplied"
                   << (isScaled() ? " with block scales" : "") << ", found "
                   << getTileTypeInfo(left).spelling << " and "
                   << getTileTypeInfo(right).spelling << rules::typePair.end();
  frame.accumulator = *accumulator;
  frame.output = mode->getOutput(*accumulator);
  return success();
}

LogicalResult TileVerifier::verifyScalePresence(TileRole scale, TileRole side) {
  const TileTypeInfo &type = getTileTypeInfo(frame[side].type);
  return verifyPresence(scale, isScaled() && type.hasScale(),
                        "with " + stringifyTileRole(side) + " of " +
                            type.spelling,
                        rules::sourceCount);
}

LogicalResult TileVerifier::verifySharing() {
  if (failed(verifyScalePresence(TileRole::lhs_scale, TileRole::lhs)) ||
      failed(verifyScalePresence(TileRole::rhs_scale, TileRole::rhs)))
    return failure();
  bool left = frame[TileRole::lhs].isShared();
  bool right = frame[TileRole::rhs].isShared();
  auto isTorn = [&](TileRole scale, bool isSideShared) {
    return frame[scale] && frame[scale].isShared() != isSideShared;
  };
  if (isTorn(TileRole::lhs_scale, left) || isTorn(TileRole::rhs_scale, right))
    return error() << "an operand and its scale both Shared or both Local, "
                      "found one of them Shared"
                   << rules::sharedCount.end();
  if (left && !right)
    return error() << "rhs or both sides Shared, found lhs Shared alone"
                   << rules::sharedCount.end();
  if (isMatrixVector && right)
    return error() << "only Local operands in the matrix-vector form, found a "
                      "Shared one"
                   << rules::sharedCount.end();
  return success();
}

LogicalResult TileVerifier::verifyPresence(TileRole role, bool isExpected,
                                           const Twine &circumstance,
                                           const TileRule &rule) {
  bool isThere = static_cast<bool>(operands[role]);
  if (isThere == isExpected)
    return success();
  return error() << (isExpected ? "" : "no ") << stringifyTileRole(role) << " "
                 << circumstance << ", found " << (isThere ? "one" : "none")
                 << rule.end();
}

LogicalResult TileVerifier::verifyParameter(TileRole role, StringRef field,
                                            int64_t code,
                                            TileParameter parameter) {
  auto found = TileParameter::none;
  if (operands[role])
    found = frame[role] ? TileParameter::vector : TileParameter::scalar;
  if (found == parameter)
    return success();
  auto spell = [](TileParameter kind) {
    return kind == TileParameter::none     ? "none"
           : kind == TileParameter::scalar ? "an i64"
                                           : "a tile";
  };
  // Tiles count as sources; scalars come with another command.
  bool isSource =
      found == TileParameter::vector || parameter == TileParameter::vector;
  return error()
         << stringifyTileRole(role) << " to be " << spell(parameter) << " with "
         << field << " = " << code << ", found " << spell(found)
         << (isSource ? rules::sourceCount : rules::scalarParameters).end();
}

LogicalResult TileVerifier::verifyStreams() {
  auto verifyEnabled = [&](TileRole role, bool isEnabled, const char *field,
                           const TileRule &rule) {
    return verifyPresence(
        role, isEnabled,
        Twine(isEnabled ? "with " : "without ") + field + " in post", rule);
  };
  return success(
      succeeded(verifyEnabled(TileRole::row_max_in, post.rowMaxInit,
                              "row_max_init", rules::sourceCount)) &&
      succeeded(verifyEnabled(TileRole::row_max, post.rowMax, "row_max",
                              rules::destinationCount)) &&
      succeeded(verifyEnabled(TileRole::group_max, post.groupMax, "group_max",
                              rules::destinationCount)) &&
      succeeded(verifyParameter(TileRole::quant, "pre_quant", mode->code,
                                mode->parameter)) &&
      succeeded(
          verifyParameter(TileRole::prelu, "relu", post.relu, activation)));
}

LogicalResult TileVerifier::verifyControl() {
  bool isDefault = rounding == RMode::Default;
  bool fixesSaturation = mode->control == TileControl::nothing;
  if (mode->control == TileControl::everything ||
      (isDefault && !(fixesSaturation && op.getSat())))
    return success();
  return error() << "rmode default" << (fixesSaturation ? " and no sat" : "")
                 << " with pre_quant = " << mode->code << ", found "
                 << (isDefault ? "sat" : stringifyRMode(rounding))
                 << rules::roundingFields.end();
}

LogicalResult TileVerifier::verifyDimensions() {
  const Tile &lhs = frame[TileRole::lhs], &dst = frame[TileRole::dst];
  frame.transposesLhs = op.getTransA() && lhs.isShared();
  frame.transposesRhs = op.getTransB() && isShared();
  frame.m = dst.rows;
  frame.n = dst.columns;
  frame.k = frame.transposesLhs ? lhs.rows : lhs.columns;
  frame.groupRows = frame.m;
  if (lhs.isShared())
    frame.groupRows = frame.transposesLhs ? lhs.columns : lhs.rows;
  constexpr int64_t largest = 65535, largestGroup = 128, mostElements = 32768;
  auto fail = [&]() { return error(); };
  for (auto [name, size] : {std::pair("M", frame.groupRows),
                            std::pair("N", frame.n), std::pair("K", frame.k)}) {
    if (size < 1 || size > largest)
      return fail() << name << " from 1 to " << largest << ", found " << size
                    << rules::dimensions.end();
    if (isShared() && name[0] != 'M' && !llvm::isPowerOf2_64(size))
      return fail() << name << " to be a power of two with Shared operands, "
                    << "found " << size << rules::dimensions.end();
  }
  if (lhs.isShared() && frame.groupRows > largestGroup)
    return fail() << "a group of at most " << largestGroup << " rows, found "
                  << frame.groupRows << rules::dimensions.end();
  if (!isShared() && frame.m * frame.n > mostElements)
    return fail() << "at most " << mostElements << " elements of dst, found "
                  << frame.m << "x" << frame.n << rules::dimensions.end();
  return success();
}

/// Whether one of the four processing elements takes `rows` rows of a group of
/// `groupRows`: 16 each up to 64 rows, else 32, the last ones fewer.
static bool isShareOf(int64_t groupRows, int64_t rows) {
  int64_t share = groupRows <= 64 ? 16 : 32;
  if (rows == share)
    return groupRows >= share;
  return rows > 0 && rows == groupRows % share;
}

LogicalResult TileVerifier::verifyElements() {
  if (isShared() && mask != kAllElements)
    return error() << "mask 15 with Shared operands, found " << mask
                   << rules::cooperativeMask.end();
  if (isMatrixVector && frame.m != 1)
    return error() << "M = 1 in the matrix-vector form, found " << frame.m
                   << rules::gemvRows.end();
  if (frame[TileRole::lhs].isShared() && !isShareOf(frame.groupRows, frame.m))
    return error() << "dst with the rows of one processing element of a group "
                      "of "
                   << frame.groupRows << ", found " << frame.m
                   << rules::operandShape.end();
  return success();
}

LogicalResult TileVerifier::verifyTransposes() {
  for (auto [name, isSet, role] :
       {std::tuple("trans_a", op.getTransA(), TileRole::lhs),
        std::tuple("trans_b", op.getTransB(), TileRole::rhs)})
    if (isSet && !frame[role].isShared())
      return error() << name << " only with a Shared "
                     << stringifyTileRole(role) << ", found a Local one"
                     << rules::transpose.end();
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// The operand groups that hold one operand must do so. The generic form can
/// name groups of any size, and the accessors of an operand rely on its group,
/// so this comes before everything else.
static LogicalResult verifyOperandGroups(TileOpInterface op) {
  ArrayRef<TileRole> roles = op.getGroupRoles();
  for (auto [role, size] : llvm::zip_equal(roles, op.getOperandGroupSizes())) {
    if (role > TileRole::dst)
      break;
    if (size != 1 && role != TileRole::lhs_scale && role != TileRole::rhs_scale)
      return op->emitOpError()
             << "expected one operand in each of the first "
             << llvm::find(roles, TileRole::dst) - roles.begin() + 1
             << " groups"
             << (llvm::is_contained(roles, TileRole::lhs_scale)
                     ? " but the scales"
                     : "")
             << ", found " << size << " [pto:operand-groups]";
  }
  return success();
}

/// What only the PE array has must not stand on tiles.
static LogicalResult verifyNoPeClauses(TileOpInterface tileOp) {
  auto op = dyn_cast<MatmulOpInterface>(tileOp.getOperation());
  if (!op)
    return success();
  for (auto [name, isSet] :
       {std::pair("tile", op.getTileSize() || op.getTilePosition()),
        std::pair("acc", op.getAcc().has_value()),
        std::pair("zero_region", op.getZeroRegion().has_value()),
        std::pair("start_if", static_cast<bool>(op.getStartIfOrNull())),
        std::pair("stop_if", static_cast<bool>(op.getStopIfOrNull()))})
    if (isSet)
      return op->emitOpError()
             << "expected only clauses of the tile ISA for a destination in a "
                "tile, found "
             << name << " [pto:machine-clause]";
  return success();
}

LogicalResult common::verifyMatmul(TileOpInterface op) {
  if (failed(verifyOperandGroups(op)))
    return failure();
  if (!op.isTile())
    return verifyPeMatmul(op);
  TileSignature signature(op);
  if (signature.isKnown())
    return TileVerifier::verifyValues(op);
  if (failed(TileVerifier(op).verify()) || failed(verifyNoPeClauses(op)))
    return failure();
  signature.remember();
  return success();
}
