//===- TileOperandVerifier.cpp - Operands of the tile ISA's matmuls -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of TileVerifier about each operand in its role, and about operands
// that must not be one tile.
//
//===----------------------------------------------------------------------===//

#include "TileVerifier.h"

using namespace mlir;
using namespace mlir::pto;

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
      failed(verifyAccumulatorCapacity(op, operands)))
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
LogicalResult
TileVerifier::verifyAccumulatorCapacity(TileOpInterface op,
                                        const TileOperands &operands) {
  Value accumulator = operands[TileRole::accumulator];
  Value dst = operands[TileRole::dst];
  if (!accumulator || accumulator == dst)
    return success();
  auto source = accumulator.getDefiningOp<TileAllocOp>();
  auto target = dst.getDefiningOp<TileAllocOp>();
  // What is equal needs no computing.
  if (!source || !target ||
      (source.getSizeAttr() == target.getSizeAttr() &&
       accumulator.getType() == dst.getType()) ||
      source.getSizeCode() == target.getSizeCode())
    return success();
  if (std::optional<PostAttr> post = op.getPost(); post && post->getPreQuant())
    return success();
  InFlightDiagnostic diag = error(op)
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
LogicalResult TileVerifier::verifyAliases(TileOpInterface op,
                                          const TileOperands &operands) {
  if (!operands[TileRole::c_scale] && !operands[TileRole::row_max] &&
      !operands[TileRole::group_max])
    return success();
  constexpr std::pair<TileRole, TileRole> different[] = {
      {TileRole::c_scale, TileRole::dst},
      {TileRole::c_scale, TileRole::row_max},
      {TileRole::c_scale, TileRole::group_max},
      {TileRole::row_max, TileRole::dst},
      {TileRole::group_max, TileRole::dst},
      {TileRole::group_max, TileRole::row_max}};
  for (auto [first, second] : different)
    if (operands[first] && operands[first] == operands[second])
      return error(op) << stringifyTileRole(first) << " and "
                       << stringifyTileRole(second)
                       << " to be different tiles, found one for both"
                       << rules::alias.end();
  return success();
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
