//===- OpVerifier.cpp - Rules of the other operations ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOOps.h"
#include "TileSchema.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getNumber(IntegerAttr attribute) {
  if (!attribute)
    return std::nullopt;
  return attribute.getInt();
}

LogicalResult PsumAllocOp::verify() {
  const TargetInfo &target = getEffectiveTarget(*this);
  auto emitError = [&] { return emitOpError(); };
  MemRefType type = getBuffer().getType();
  if (failed(common::verifyAllocatable(emitError, target, type,
                                       MemorySpace::psum)))
    return failure();
  common::Placement placement{getNumber(getBankAttr()),
                              getNumber(getOffsetAttr()),
                              getNumber(getPartitionAttr())};
  return common::verifyPsumPlacement(emitError, target, type, placement);
}

LogicalResult SbufAllocOp::verify() {
  const TargetInfo &target = getEffectiveTarget(*this);
  auto emitError = [&] { return emitOpError(); };
  MemRefType type = getBuffer().getType();
  if (failed(common::verifyAllocatable(emitError, target, type,
                                       MemorySpace::sbuf)))
    return failure();
  int64_t offset = getNumber(getOffsetAttr()).value_or(0);
  int64_t partition = getNumber(getPartitionAttr()).value_or(0);
  if (offset < 0)
    return emitOpError() << "expected an offset of at least 0, found " << offset
                         << " [pto:placement]";
  int64_t last = target.partitions - type.getDimSize(0);
  if (partition < 0 || partition > last)
    return emitOpError() << "expected a first partition from 0 to " << last
                         << ", found " << partition << " [pto:placement]";
  return success();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// `token` must be made by an instruction of the function of `op`, directly.
static LogicalResult verifyToken(EngineOpInterface op, Value token) {
  Operation *maker = token.getDefiningOp();
  auto fail = [&](const char *found) -> LogicalResult {
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected the tokens of after to be made by "
                                 "an instruction of the same function, found "
                              << found << " [pto:token]";
    if (maker != op)
      diag.attachNote(token.getLoc()) << "the token comes from here";
    return diag;
  };
  if (!maker)
    return fail("a block argument");
  if (!isa<EngineOpInterface>(maker))
    return fail("a result of another operation");
  if (maker == op)
    return fail("its own token");
  if (maker->getBlock() != op->getBlock() &&
      maker->getParentOfType<FunctionOpInterface>() !=
          op->getParentOfType<FunctionOpInterface>())
    return fail("one of another function");
  return success();
}

/// The marks of legalization must point to what is there.
static LogicalResult verifyMarks(EngineOpInterface op) {
  if (op.getInsertedToken() && !op.getTokenOrNull())
    return op->emitOpError() << "expected a token beside inserted_token, found "
                                "none [pto:inserted-marks]";
  std::optional<ArrayRef<int32_t>> positions = op.getInsertedAfter();
  if (!positions)
    return success();
  int64_t previous = -1, count = op.getAfter().size();
  for (int32_t position : *positions) {
    if (position <= previous || position >= count)
      return op->emitOpError() << "expected ascending positions below " << count
                               << " in inserted_after, found " << position
                               << " [pto:inserted-marks]";
    previous = position;
  }
  return success();
}

LogicalResult common::verifyEngineOp(EngineOpInterface op) {
  for (Value token : op.getAfter())
    if (failed(verifyToken(op, token)))
      return failure();
  return verifyMarks(op);
}

/// memset and copy run anywhere but on the PE array.
static LogicalResult verifyMoveEngine(EngineOpInterface op) {
  if (op.getExecutingEngine() != Engine::pe)
    return success();
  return op->emitOpError() << "expected engine vector, scalar, gpsimd or dma, "
                              "found pe, which only multiplies [pto:engine]";
}

static bool isTile(MemRefType type) {
  std::optional<MemorySpace> space = getMemorySpace(type);
  return space && isTileSpace(*space);
}

/// A tile, or a part of one, that is filled or copied. What a layout can hold
/// is judged where a whole tile is allocated or multiplied.
static LogicalResult verifyTilePart(common::EmitError emitError, StringRef what,
                                    MemRefType type) {
  if (!getTileType(type.getElementType()))
    return emitError() << "expected " << what
                       << " of an element type of the tile ISA (signed or "
                          "unsigned integers, not signless ones), found "
                       << type.getElementType() << rules::operandType.end();
  if (llvm::is_contained(type.getShape(), 0))
    return emitError() << "expected " << what << " with elements, found "
                       << type << " [pto:shape]";
  return success();
}

/// What a memset or a copy reads or writes.
static LogicalResult verifyMovedBuffer(Operation *op, StringRef what,
                                       MemRefType type) {
  auto emitError = [&] { return op->emitOpError(); };
  if (isTile(type))
    return verifyTilePart(emitError, what, type);
  return common::verifyBuffer(emitError, getEffectiveTarget(op), what, type);
}

/// A tile is copied from and to hbm or another tile: the machine that has tiles
/// has neither sbuf nor psum.
static LogicalResult verifyTileCounterpart(CopyOp op) {
  MemRefType source = op.getSource().getType(),
             target = op.getTarget().getType();
  if (isTile(source) == isTile(target))
    return success();
  MemRefType other = isTile(source) ? target : source;
  MemorySpace space = *getMemorySpace(other);
  if (space == MemorySpace::hbm)
    return success();
  return op.emitOpError() << "expected a tile to be copied from or to hbm or a "
                             "tile, found "
                          << stringifyMemorySpace(space) << " [pto:tile-space]";
}

/// Whether a memset may fill elements of type `element` with a `value`.
static bool isMemsetValue(Type value, Type element) {
  if (value == element)
    return true;
  if (value.isF32())
    return isa<HF32Type, HiF8Type, E1M2Type, HiF4Type>(element) ||
           (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32);
  return value.isSignlessInteger() && isa<IntegerType>(element) &&
         value.getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth();
}

LogicalResult MemsetOp::verify() {
  MemRefType type = getTarget().getType();
  if (failed(verifyMoveEngine(*this)) ||
      failed(verifyMovedBuffer(*this, "target", type)))
    return failure();
  Type value = getValue().getType(), element = type.getElementType();
  if (isMemsetValue(value, element))
    return success();
  return emitOpError() << "expected a value for elements of " << element
                       << " (that type, f32 for a narrower float, or a "
                          "signless integer of that width), found "
                       << value << " [pto:memset-value]";
}

LogicalResult CopyOp::verify() {
  MemRefType source = getSource().getType(), type = getTarget().getType();
  if (failed(verifyMoveEngine(*this)) ||
      failed(verifyMovedBuffer(*this, "source", source)) ||
      failed(verifyMovedBuffer(*this, "target", type)) ||
      failed(verifyTileCounterpart(*this)))
    return failure();
  if (succeeded(verifyCompatibleShape(source, type)))
    return success();
  return emitOpError() << "expected source and target of one shape, found "
                       << source << " and " << type << " [pto:shape]";
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

/// Whether elements written as `word` are the raw words of the type `element`,
/// of which there are no literals: integers of its width, or a byte for 4 bits.
static bool isRawWord(Type word, Type element) {
  if (!isa<HF32Type, HiF8Type, E1M2Type, HiF4Type>(element))
    return false;
  unsigned bits = getTileTypeInfo(*getTileType(element)).bits;
  return word.isSignlessInteger(bits) ||
         (bits < 8 && word.isSignlessInteger(8));
}

/// The buffer of an expectation may be a tile or in another memory.
static LogicalResult verifyExpectedBuffer(Operation *op, Value buffer) {
  auto emitError = [&] { return op->emitOpError(); };
  auto type = cast<MemRefType>(buffer.getType());
  std::optional<MemorySpace> space = getMemorySpace(type);
  if (!space || !isTileSpace(*space))
    return common::verifyBuffer(emitError, getEffectiveTarget(op), "the buffer",
                                type);
  FailureOr<Tile> tile = readTile(emitError, "the buffer", buffer);
  if (failed(tile))
    return failure();
  return verifyGeometry(emitError, "the buffer", *tile, rules::operandLayout,
                        rules::capacity);
}

static LogicalResult verifyExpectation(Operation *op, Value value,
                                       ElementsAttr expected) {
  if (failed(verifyExpectedBuffer(op, value)))
    return failure();
  auto buffer = cast<MemRefType>(value.getType());
  auto type = dyn_cast<RankedTensorType>(expected.getShapedType());
  if (!type || failed(verifyCompatibleShape(buffer, type)))
    return op->emitOpError() << "expected elements in a tensor of the shape of "
                                "the buffer, "
                             << buffer << ", found " << expected.getShapedType()
                             << " [pto:shape]";
  Type found = type.getElementType(), element = buffer.getElementType();
  if (found == element || isRawWord(found, element))
    return success();
  return op->emitOpError() << "expected elements of " << element << ", found "
                           << found << " [pto:element-type]";
}

LogicalResult ExpectEqOp::verify() {
  return verifyExpectation(*this, getBuffer(), getExpected());
}

LogicalResult ExpectCloseOp::verify() {
  MemRefType type = getBuffer().getType();
  if (failed(verifyExpectation(*this, getBuffer(), getExpected())))
    return failure();
  if (!isa<FloatType>(type.getElementType()))
    return emitOpError() << "expected a buffer of floats, found "
                         << type.getElementType() << " [pto:element-type]";
  int64_t ulp = getUlpAttr().getInt();
  if (ulp < 0)
    return emitOpError() << "expected ulp of at least 0, found " << ulp
                         << " [pto:ulp]";
  return success();
}
