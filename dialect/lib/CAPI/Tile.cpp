//===- Tile.cpp - C accessors that edit tile operations -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOOps.h"
#include "PTO/IR/TileIsa.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/Builders.h"
#include "pto-c/Dialect.h"

using namespace mlir;
using namespace mlir::pto;

static PtoTileUse getUse(TileRole role) {
  switch (role) {
  case TileRole::accumulator:
    return PtoTileUseAccumulator;
  case TileRole::dst:
  case TileRole::row_max:
  case TileRole::group_max:
    return PtoTileUseDestination;
  case TileRole::start_if:
  case TileRole::stop_if:
  case TileRole::after:
    return PtoTileUseNone;
  default:
    return PtoTileUseSource;
  }
}

uint32_t ptoTileOpGetUse(MlirOperation op, uint32_t operand) {
  auto source = cast<TileOpInterface>(unwrap(op));
  uint32_t end = 0;
  for (auto [role, size] :
       llvm::zip_equal(source.getGroupRoles(), source.getOperandGroupSizes())) {
    end += size;
    if (operand < end)
      return getUse(role);
  }
  return PtoTileUseNone;
}

/// The name of the operation that begins a group where `op` goes on with one.
static StringRef getBeginning(Operation *op) {
  return isa<TMatmulMxAccOp>(op) ? TMatmulMxOp::getOperationName()
                                 : TMatmulOp::getOperationName();
}

MlirOperation ptoTileOpDropAccumulator(MlirOperation op) {
  auto old = cast<TileOpInterface>(unwrap(op));
  OperationState state(old->getLoc(), getBeginning(old));
  SmallVector<int32_t> sizes;
  OperandRange operands = old->getOperands();
  for (auto [role, size] :
       llvm::zip_equal(old.getGroupRoles(), old.getOperandGroupSizes())) {
    bool isDropped = role == TileRole::accumulator || role == TileRole::c_scale;
    if (!isDropped)
      state.addOperands(operands.take_front(size));
    operands = operands.drop_front(size);
    // A beginning has no group for an accumulator, and an empty one for
    // c_scale.
    if (role != TileRole::accumulator)
      sizes.push_back(isDropped ? 0 : size);
  }
  NamedAttrList properties(
      cast<DictionaryAttr>(old->getPropertiesAsAttribute()));
  properties.set("operandSegmentSizes",
                 DenseI32ArrayAttr::get(old->getContext(), sizes));
  state.propertiesAttr = properties.getDictionary(old->getContext());
  state.addTypes(old->getResultTypes());
  state.addAttributes(llvm::to_vector(old->getDiscardableAttrs()));
  Operation *beginning = OpBuilder(old).create(state);
  old->replaceAllUsesWith(beginning);
  old->erase();
  return wrap(beginning);
}

uint32_t ptoTypeGetTileBytes(MlirType type) {
  auto memref = dyn_cast<MemRefType>(unwrap(type));
  if (!memref || memref.getRank() != 2 || !memref.hasStaticShape())
    return 0;
  std::optional<MemorySpace> space = getMemorySpace(memref);
  std::optional<TileType> element = getTileType(memref.getElementType());
  if (!space || !isTileSpace(*space) || !element)
    return 0;
  std::optional<int64_t> bytes = getTileBytes(
      *space, *element, memref.getDimSize(0), memref.getDimSize(1));
  if (!bytes)
    return 0;
  unsigned code = getSmallestSizeCode(*bytes);
  return code <= getMaxSizeCode(*space) ? getSizeCodeBytes(code) : 0;
}

const char *ptoTileDataTypeSpelling(uint32_t code) {
  constexpr uint32_t codeCount = 32;
  if (code >= codeCount)
    return nullptr;
  // The table gives another type for a reserved code.
  const TileTypeInfo &info = getTileTypeInfo(static_cast<TileType>(code));
  return static_cast<uint32_t>(info.type) == code ? info.spelling : nullptr;
}

MlirValue ptoTileAllocCreateLike(MlirValue tile) {
  Value value = unwrap(tile);
  OpBuilder builder(value.getContext());
  IntegerAttr size;
  if (Operation *maker = value.getDefiningOp()) {
    builder.setInsertionPoint(maker);
    if (auto alloc = dyn_cast<TileAllocOp>(maker))
      size = alloc.getSizeAttr();
  } else {
    builder.setInsertionPointToStart(cast<BlockArgument>(value).getOwner());
  }
  OperationState state(value.getLoc(), TileAllocOp::getOperationName());
  state.addTypes(value.getType());
  state.getOrAddProperties<TileAllocOp::Properties>().size = size;
  return wrap(builder.create(state)->getResult(0));
}
