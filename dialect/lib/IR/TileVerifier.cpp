//===- TileVerifier.cpp - Rules of the tile ISA's matmuls -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that one operation on tiles knows about itself, in the order of the
// ISA's preflight: the first rule broken is the one reported. Written once, on
// the roles of operands: a variant is a CUBE function code and the roles it
// has.
//
// M and N are the rows and columns of the destination, K the columns of the
// left operand as it is read; every other operand is held against these. What
// depends on contents, on readiness or on the room that is left is not judged
// here, nor is a capacity that no tile_alloc of an operand says.
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOOps.h"
#include "TileSchema.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

namespace {

/// What `post` says, or says by its absence.
struct Post {
  int64_t preQuant = 0, relu = 0, group = 0;
  bool rowMax = false, groupMax = false, rowMaxInit = false, maxAbs = false;
};

/// The rules about one operation.
class TileVerifier {
public:
  explicit TileVerifier(TileOpInterface tileOp)
      : op(tileOp), operands(getTileOperands(tileOp)),
        function(tileOp.getFunctionCode()), isMatrixVector(tileOp.getGemv()),
        rounding(tileOp.getRmode().value_or(RMode::Default)),
        mask(tileOp.getMask().value_or(kAllElements)) {
    if (std::optional<PostAttr> attribute = tileOp.getPost())
      post = {attribute->getPreQuant(), attribute->getRelu(),
              attribute->getGroup(),    attribute->getRowMax(),
              attribute->getGroupMax(), attribute->getRowMaxInit(),
              attribute->getMaxAbs()};
  }

  LogicalResult verify();

private:
  // Each field and each tile by itself.
  LogicalResult readTiles();
  LogicalResult verifyCodes();
  LogicalResult verifyEnables();
  // Fields and operands together.
  LogicalResult verifyTypePair();
  LogicalResult verifyScalePresence(TileRole scale, TileRole side);
  LogicalResult verifySharing();
  LogicalResult verifyPresence(TileRole role, bool isExpected,
                               const Twine &circumstance, const TileRule &rule);
  LogicalResult verifyParameter(TileRole role, StringRef field, int64_t code,
                                TileParameter parameter);
  LogicalResult verifyStreams();
  LogicalResult verifyControl();
  LogicalResult verifyDimensions();
  LogicalResult verifyElements();
  LogicalResult verifyTransposes();
  // Operands.
  LogicalResult verifyShared();
  LogicalResult verifyColumnScale();
  LogicalResult verifyPostSources();
  LogicalResult verifySources();
  LogicalResult verifySource(TileRole role, const TileRule *rule = nullptr);
  LogicalResult verifyAccumulatorCapacity();
  LogicalResult verifyAliases();
  LogicalResult verifyDestinations();

  MemorySpace getMLayout() const;
  bool isScaled() const { return function & 4; }
  bool isShared() const { return frame[TileRole::rhs].isShared(); }
  InFlightDiagnostic error() { return op->emitOpError() << "expected "; }

  TileOpInterface op;
  TileOperands operands;
  uint32_t function;
  bool isMatrixVector;
  RMode rounding;
  uint64_t mask;
  Post post;
  // Found out on the way.
  const PreQuantMode *mode = nullptr;
  TileParameter activation = TileParameter::none;
  TileFrame frame;
};

} // namespace

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
                 succeeded(verifyAliases()) && succeeded(verifyDestinations()));
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
// Operands
//===----------------------------------------------------------------------===//

LogicalResult TileVerifier::verifyShared() {
  auto emitError = [&] { return op->emitOpError(); };
  for (TileRole role : {TileRole::lhs, TileRole::lhs_scale, TileRole::rhs,
                        TileRole::rhs_scale}) {
    StringRef name = stringifyTileRole(role);
    const Tile &tile = frame[role];
    if (!tile.isShared())
      continue;
    if (failed(verifySchema(emitError, name, tile, frame.getSchema(role),
                            &rules::sharedSchema)) ||
        failed(verifyGeometry(emitError, name, tile, rules::operandLayout,
                              rules::capacity)))
      return failure();
  }
  return success();
}

LogicalResult TileVerifier::verifyColumnScale() {
  if (!operands[TileRole::c_scale])
    return success();
  if (!operands[TileRole::accumulator] || isMatrixVector)
    return error() << "no c_scale without an accumulator or in the "
                      "matrix-vector form, found one"
                   << rules::cScale.end();
  if (frame.accumulator != TileType::f32)
    return error() << "an accumulator of f32 with c_scale, found "
                   << getTileTypeInfo(frame.accumulator).spelling
                   << rules::cScale.end();
  return success();
}

/// One Local source, if it is there: its layout holds it, and it is what its
/// role says.
LogicalResult TileVerifier::verifySource(TileRole role, const TileRule *rule) {
  auto emitError = [&] { return op->emitOpError(); };
  const Tile &tile = frame[role];
  if (!tile)
    return success();
  StringRef name = stringifyTileRole(role);
  return success(succeeded(verifyGeometry(emitError, name, tile,
                                          rule ? *rule : rules::operandLayout,
                                          rules::capacity)) &&
                 succeeded(verifySchema(emitError, name, tile,
                                        frame.getSchema(role), rule)));
}

LogicalResult TileVerifier::verifyPostSources() {
  if (!mode->accepts(frame.accumulator))
    return error() << "pre_quant to be a mode for an accumulator of "
                   << getTileTypeInfo(frame.accumulator).spelling << ", found "
                   << mode->code << rules::modeAccumulator.end();
  for (TileRole role : {TileRole::row_max_in, TileRole::quant, TileRole::prelu})
    if (failed(verifySource(role, &rules::postSource)))
      return failure();
  return success();
}

/// The layout of lhs, accumulator and dst: that of a Local lhs, else that of
/// the accumulator, else the narrowest for M.
MemorySpace TileVerifier::getMLayout() const {
  const Tile &lhs = frame[TileRole::lhs];
  const Tile &leader = lhs.isShared() ? frame[TileRole::accumulator] : lhs;
  if (leader && getMaxTileRows(leader.space))
    return leader.space;
  return frame.m <= getMaxTileRows(MemorySpace::cube_m16)
             ? MemorySpace::cube_m16
             : MemorySpace::cube_m32;
}

LogicalResult TileVerifier::verifySources() {
  frame.mLayout = getMLayout();
  if (failed(verifySource(TileRole::accumulator)) ||
      failed(verifyAccumulatorCapacity()))
    return failure();
  for (TileRole role :
       {TileRole::lhs, TileRole::lhs_scale, TileRole::rhs, TileRole::rhs_scale})
    if (!frame[role].isShared() && failed(verifySource(role)))
      return failure();
  return success(succeeded(verifySource(TileRole::bias)) &&
                 succeeded(verifySource(TileRole::c_scale, &rules::cScale)));
}

/// Without a conversion accumulator and dst have one capacity. It is known
/// where both were allocated as tiles.
LogicalResult TileVerifier::verifyAccumulatorCapacity() {
  Value accumulator = operands[TileRole::accumulator];
  if (!accumulator || mode->code != 0)
    return success();
  auto source = accumulator.getDefiningOp<TileAllocOp>();
  auto target = operands[TileRole::dst].getDefiningOp<TileAllocOp>();
  if (!source || !target || source.getSizeCode() == target.getSizeCode())
    return success();
  InFlightDiagnostic diag = error()
                            << "accumulator and dst of one capacity, found "
                            << getSizeCodeBytes(source.getSizeCode()) << " and "
                            << getSizeCodeBytes(target.getSizeCode())
                            << " bytes" << rules::accumulatorCapacity.end();
  diag.attachNote(source.getLoc()) << "the accumulator is allocated here";
  diag.attachNote(target.getLoc()) << "dst is allocated here";
  return diag;
}

/// Destinations are fresh: each another tile than c_scale and than the other
/// destinations. That the accumulator is another tile than dst is a rule too,
/// but not of the form before registers are assigned, which updates one in
/// place: who executes or encodes the operation judges that.
LogicalResult TileVerifier::verifyAliases() {
  auto verifyDistinct = [&](TileRole first, TileRole second) -> LogicalResult {
    if (!operands[first] || operands[first] != operands[second])
      return success();
    return error() << stringifyTileRole(first) << " and "
                   << stringifyTileRole(second)
                   << " to be different tiles, found one for both"
                   << rules::alias.end();
  };
  constexpr TileRole destinations[] = {TileRole::dst, TileRole::row_max,
                                       TileRole::group_max};
  for (TileRole role : destinations)
    if (failed(verifyDistinct(TileRole::c_scale, role)))
      return failure();
  return success(
      succeeded(verifyDistinct(TileRole::row_max, TileRole::dst)) &&
      succeeded(verifyDistinct(TileRole::group_max, TileRole::dst)) &&
      succeeded(verifyDistinct(TileRole::group_max, TileRole::row_max)));
}

LogicalResult TileVerifier::verifyDestinations() {
  auto emitError = [&] { return op->emitOpError(); };
  for (TileRole role :
       {TileRole::dst, TileRole::row_max, TileRole::group_max}) {
    const Tile &tile = frame[role];
    StringRef name = stringifyTileRole(role);
    if (tile &&
        (failed(verifySchema(emitError, name, tile, frame.getSchema(role))) ||
         failed(verifyGeometry(emitError, name, tile,
                               rules::destinationCapacity,
                               rules::destinationCapacity))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Whether an operand group holds one operand, neither none nor a list.
static bool isMandatory(TileRole role) {
  return role <= TileRole::dst && role != TileRole::lhs_scale &&
         role != TileRole::rhs_scale;
}

/// The operand groups that hold one operand must do so. The generic form can
/// name groups of any size, and the accessors of an operand rely on its group,
/// so this comes before everything else.
static LogicalResult verifyOperandGroups(TileOpInterface op) {
  ArrayRef<TileRole> roles = op.getGroupRoles();
  for (auto [role, size] : llvm::zip_equal(roles, op.getOperandGroupSizes()))
    if (isMandatory(role) && size != 1)
      return op->emitOpError()
             << "expected one operand in each of the first "
             << llvm::find(roles, TileRole::dst) - roles.begin() + 1
             << " groups"
             << (llvm::is_contained(roles, TileRole::lhs_scale)
                     ? " but the scales"
                     : "")
             << ", found " << size << " [pto:operand-groups]";
  return success();
}

LogicalResult common::verifyTileOp(TileOpInterface op) {
  if (failed(verifyOperandGroups(op)))
    return failure();
  if (!op.isTile())
    return success();
  return TileVerifier(op).verify();
}
