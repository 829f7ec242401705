//===- Dialect.cpp - C accessors of the pto dialect -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pto-c/Dialect.h"
#include "PTO/IR/PTOOps.h"
#include "PTO/IR/Targets.h"
#include "PTO/IR/TileIsa.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(PTO, pto, mlir::pto::PTODialect)

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// The kind of a matmul of both machines, `pe` on the PE array.
template <typename Matmul>
static PtoOpKind getKind(Matmul matmul, PtoOpKind pe) {
  return matmul.isTile() ? PtoOpTileMatmul : pe;
}

uint32_t ptoOpGetKind(MlirOperation op) {
  return TypeSwitch<Operation *, PtoOpKind>(unwrap(op))
      .Case<TMatmulOp>([](auto op) { return getKind(op, PtoOpMatmul); })
      .Case<TMatmulAccOp>([](auto op) { return getKind(op, PtoOpMatmulAcc); })
      .Case<TMatmulBiasOp, TMatmulMxOp, TMatmulMxAccOp, TMatmulMxBiasOp>(
          [](auto) { return PtoOpTileMatmul; })
      .Case<TileAllocOp>([](auto) { return PtoOpTileAlloc; })
      .Case<PsumAllocOp>([](auto) { return PtoOpPsumAlloc; })
      .Case<SbufAllocOp>([](auto) { return PtoOpSbufAlloc; })
      .Case<MemsetOp>([](auto) { return PtoOpMemset; })
      .Case<CopyOp>([](auto) { return PtoOpCopy; })
      .Case<ExpectEqOp>([](auto) { return PtoOpExpectEq; })
      .Case<ExpectCloseOp>([](auto) { return PtoOpExpectClose; })
      .Default([](auto) { return PtoOpOther; });
}

uint32_t ptoTypeGetSpace(MlirType type) {
  auto memref = dyn_cast<BaseMemRefType>(unwrap(type));
  if (!memref)
    return PtoSpaceNone;
  std::optional<MemorySpace> space = getMemorySpace(memref);
  if (!space)
    return PtoSpaceForeign;
  if (isTileSpace(*space))
    return PtoSpaceTile;
  switch (*space) {
  case MemorySpace::sbuf:
    return PtoSpaceSbuf;
  case MemorySpace::psum:
    return PtoSpacePsum;
  default:
    return PtoSpaceHbm;
  }
}

uint32_t ptoTypeGetTileSpace(MlirType type) {
  auto memref = dyn_cast<BaseMemRefType>(unwrap(type));
  std::optional<MemorySpace> space;
  if (memref)
    space = getMemorySpace(memref);
  if (!space)
    return PtoTileSpaceNone;
  switch (*space) {
  case MemorySpace::cube_m16:
    return PtoTileSpaceCubeM16;
  case MemorySpace::cube_m32:
    return PtoTileSpaceCubeM32;
  case MemorySpace::cube_n8:
    return PtoTileSpaceCubeN8;
  case MemorySpace::shared:
    return PtoTileSpaceShared;
  default:
    return PtoTileSpaceNone;
  }
}

int32_t ptoTypeGetTileDataType(MlirType element) {
  std::optional<TileType> type = getTileType(unwrap(element));
  return type ? static_cast<int32_t>(*type) : -1;
}

//===----------------------------------------------------------------------===//
// Matmuls of the PE array
//===----------------------------------------------------------------------===//

/// Reads a matmul by the places of its operands and properties: asking an
/// interface for each would sum up all operand groups each time.
template <typename Matmul>
static bool readMatmul(Matmul op, PtoMatmul *matmul) {
  if (op.isTile())
    return false;
  constexpr bool accumulates = std::is_same_v<Matmul, TMatmulAccOp>;
  constexpr unsigned first = accumulates ? 1 : 0, mandatory = first + 3;
  auto &properties = op.getProperties();
  OperandRange operands = op->getOperands();
  ArrayRef<int32_t> sizes = properties.operandSegmentSizes;
  Value startIf, stopIf;
  if (sizes[mandatory])
    startIf = operands[mandatory];
  if (sizes[mandatory + 1])
    stopIf = operands[mandatory + sizes[mandatory]];
  matmul->accumulator = wrap(accumulates ? Value(operands[0]) : Value());
  matmul->lhs = wrap(Value(operands[first]));
  matmul->rhs = wrap(Value(operands[first + 1]));
  matmul->dst = wrap(Value(operands[first + 2]));
  matmul->startIf = wrap(startIf);
  matmul->stopIf = wrap(stopIf);
  int32_t absent = startIf || stopIf ? 0 : -1;
  matmul->acc =
      properties.acc ? static_cast<int32_t>(properties.acc.getValue()) : absent;
  matmul->zeroRegion =
      properties.zero_region
          ? static_cast<int32_t>(properties.zero_region.getInt())
          : -1;
  matmul->hasTile = properties.tile_size && properties.tile_position;
  const TargetInfo &any = getUnionOfTargets();
  matmul->tileRows =
      matmul->hasTile ? properties.tile_size[0] : int32_t(any.peRows);
  matmul->tileCols =
      matmul->hasTile ? properties.tile_size[1] : int32_t(any.peColumns);
  matmul->tileRow = matmul->hasTile ? properties.tile_position[0] : 0;
  matmul->tileCol = matmul->hasTile ? properties.tile_position[1] : 0;
  matmul->afterCount = common::getAfterCount(op);
  matmul->hasToken = op->getNumResults() != 0;
  return true;
}

bool ptoMatmulGet(MlirOperation op, PtoMatmul *matmul) {
  return TypeSwitch<Operation *, bool>(unwrap(op))
      .Case<TMatmulOp, TMatmulAccOp>(
          [&](auto source) { return readMatmul(source, matmul); })
      .Default([](auto) { return false; });
}

bool ptoOpHoldsTiledMatmul(MlirOperation op) {
  WalkResult walk = unwrap(op)->walk([](Operation *inner) {
    bool isTiled = TypeSwitch<Operation *, bool>(inner)
                       .Case<TMatmulOp, TMatmulAccOp>([](auto matmul) {
                         return !!matmul.getProperties().tile_size;
                       })
                       .Default(false);
    return isTiled ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

MlirAttribute ptoAccAttrGet(MlirContext context, int32_t acc) {
  return wrap(AccAttr::get(unwrap(context), static_cast<AccFlags>(acc)));
}

void ptoMatmulSetAccAttr(MlirOperation op, MlirAttribute acc,
                         MlirAttribute zeroRegion) {
  TypeSwitch<Operation *>(unwrap(op))
      .Case<TMatmulOp, TMatmulAccOp>([&](auto matmul) {
        matmul.setAccAttr(dyn_cast_or_null<AccAttr>(unwrap(acc)));
        matmul.setZeroRegionAttr(
            dyn_cast_or_null<IntegerAttr>(unwrap(zeroRegion)));
      });
}

void ptoMatmulSetAcc(MlirOperation op, int32_t acc, int32_t zeroRegion) {
  MLIRContext *context = unwrap(op)->getContext();
  Attribute code;
  if (zeroRegion >= 0)
    code = IntegerAttr::get(IntegerType::get(context, 64), zeroRegion);
  MlirAttribute none = wrap(Attribute());
  ptoMatmulSetAccAttr(op, acc < 0 ? none : ptoAccAttrGet(wrap(context), acc),
                      wrap(code));
}

void ptoMatmulSetPredicate(MlirOperation op, bool isStop, MlirValue condition) {
  TypeSwitch<Operation *>(unwrap(op))
      .Case<TMatmulOp, TMatmulAccOp>([&](auto matmul) {
        if (isStop)
          common::setOptionalOperand<TileRole::stop_if>(matmul,
                                                        unwrap(condition));
        else
          common::setOptionalOperand<TileRole::start_if>(matmul,
                                                         unwrap(condition));
      });
}

void ptoMatmulDropPredicates(MlirOperation op) {
  for (bool isStop : {false, true})
    ptoMatmulSetPredicate(op, isStop, wrap(Value()));
}

//===----------------------------------------------------------------------===//
// Matmuls of the tile ISA
//===----------------------------------------------------------------------===//

bool ptoTileOpGet(MlirOperation op, PtoTileOp *tileOp) {
  auto source = dyn_cast<TileOpInterface>(unwrap(op));
  if (!source || !source.isTile())
    return false;
  TileOperands operands = getTileOperands(source);
  auto get = [&](TileRole role) { return wrap(operands[role]); };
  *tileOp = PtoTileOp{};
  tileOp->accumulator = get(TileRole::accumulator);
  tileOp->lhs = get(TileRole::lhs);
  tileOp->lhsScale = get(TileRole::lhs_scale);
  tileOp->rhs = get(TileRole::rhs);
  tileOp->rhsScale = get(TileRole::rhs_scale);
  tileOp->bias = get(TileRole::bias);
  tileOp->dst = get(TileRole::dst);
  tileOp->rowMax = get(TileRole::row_max);
  tileOp->groupMax = get(TileRole::group_max);
  tileOp->cScale = get(TileRole::c_scale);
  tileOp->rowMaxIn = get(TileRole::row_max_in);
  tileOp->quant = get(TileRole::quant);
  tileOp->prelu = get(TileRole::prelu);
  tileOp->function = getTileFunction(source);
  tileOp->rmode =
      static_cast<uint32_t>(source.getRmode().value_or(RMode::Default));
  tileOp->mask = source.getMask().value_or(kAllElements);
  tileOp->sat = source.getSat();
  tileOp->transA = source.getTransA();
  tileOp->transB = source.getTransB();
  if (std::optional<PostAttr> post = source.getPost()) {
    tileOp->hasPost = true;
    tileOp->preQuant = post->getPreQuant();
    tileOp->relu = post->getRelu();
    tileOp->group = post->getGroup();
    tileOp->rowMaxEnable = post->getRowMax();
    tileOp->groupMaxEnable = post->getGroupMax();
    tileOp->rowMaxInit = post->getRowMaxInit();
    tileOp->maxAbs = post->getMaxAbs();
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

static int32_t getNumber(IntegerAttr attribute) {
  return attribute ? static_cast<int32_t>(attribute.getInt()) : 0;
}

bool ptoAllocGet(MlirOperation op, PtoAlloc *alloc) {
  if (auto psum = dyn_cast<PsumAllocOp>(unwrap(op))) {
    *alloc = {wrap(Value(psum.getBuffer())),
              PtoSpacePsum,
              getNumber(psum.getBankAttr()),
              getNumber(psum.getOffsetAttr()),
              getNumber(psum.getPartitionAttr()),
              static_cast<bool>(psum.getBankAttr())};
    return true;
  }
  if (auto sbuf = dyn_cast<SbufAllocOp>(unwrap(op))) {
    *alloc = {wrap(Value(sbuf.getBuffer())),
              PtoSpaceSbuf,
              /*bank=*/0,
              getNumber(sbuf.getOffsetAttr()),
              getNumber(sbuf.getPartitionAttr()),
              sbuf.getOffsetAttr() || sbuf.getPartitionAttr()};
    return true;
  }
  return false;
}

/// Makes the psum_alloc that stands for the allocation `op`, before it.
static PsumAllocOp makePsumAlloc(Operation *op) {
  OpBuilder builder(op);
  auto alloc = PsumAllocOp::create(
      builder, op->getLoc(), op->getResult(0).getType(), /*bank=*/IntegerAttr(),
      /*offset=*/IntegerAttr(), /*partition=*/IntegerAttr());
  alloc->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return alloc;
}

bool ptoAllocIsPlaceable(MlirOperation op) {
  if (isa<PsumAllocOp>(unwrap(op)))
    return true;
  PsumAllocOp alloc = makePsumAlloc(unwrap(op));
  bool isValid = succeeded(verify(alloc));
  alloc.erase();
  return isValid;
}

MlirOperation ptoAllocPlace(MlirOperation op, int64_t bank, int64_t offset,
                            int64_t partition) {
  auto alloc = dyn_cast<PsumAllocOp>(unwrap(op));
  if (!alloc) {
    alloc = makePsumAlloc(unwrap(op));
    unwrap(op)->replaceAllUsesWith(alloc);
    unwrap(op)->erase();
  }
  alloc.setBank(bank);
  alloc.setOffset(offset);
  alloc.setPartition(partition);
  return wrap(alloc.getOperation());
}

bool ptoTileAllocGet(MlirOperation op, PtoTileAlloc *alloc) {
  auto tile = dyn_cast<TileAllocOp>(unwrap(op));
  if (!tile)
    return false;
  uint32_t code = tile.getSizeCode();
  *alloc = {wrap(Value(tile.getBuffer())),
            ptoTypeGetTileSpace(wrap(Type(tile.getBuffer().getType()))), code,
            static_cast<uint32_t>(getSizeCodeBytes(code)),
            static_cast<bool>(tile.getSizeAttr())};
  return true;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

bool ptoEngineOpGet(MlirOperation op, uint32_t *engine, uint32_t *afterCount,
                    bool *hasToken, bool *inserted) {
  auto instruction = dyn_cast<EngineOpInterface>(unwrap(op));
  if (!instruction)
    return false;
  *engine = static_cast<uint32_t>(instruction.getExecutingEngine());
  *afterCount = instruction.getAfterCount();
  *hasToken = static_cast<bool>(instruction.getTokenOrNull());
  auto memset = dyn_cast<MemsetOp>(unwrap(op));
  *inserted = memset && memset.getInserted();
  return true;
}

MlirValue ptoEngineOpGetAfter(MlirOperation op, uint32_t i) {
  return wrap(Value(cast<EngineOpInterface>(unwrap(op)).getAfter()[i]));
}

bool ptoEngineOpIsAfterInserted(MlirOperation op, uint32_t i) {
  auto instruction = cast<EngineOpInterface>(unwrap(op));
  std::optional<ArrayRef<int32_t>> positions = instruction.getInsertedAfter();
  return positions && llvm::is_contained(*positions, static_cast<int32_t>(i));
}

/// Makes `old` anew in its place with the result types `results`.
static EngineOpInterface rebuild(EngineOpInterface old, TypeRange results) {
  Operation *op = Operation::create(
      old->getLoc(), old->getName(), results, old->getOperands(),
      old->getDiscardableAttrDictionary(), old->getPropertiesStorage(),
      BlockRange(), /*numRegions=*/0);
  old->getBlock()->getOperations().insert(old->getIterator(), op);
  old->erase();
  return cast<EngineOpInterface>(op);
}

MlirOperation ptoEngineOpAddToken(MlirOperation op, bool inserted) {
  auto old = cast<EngineOpInterface>(unwrap(op));
  if (old.getTokenOrNull())
    return op;
  EngineOpInterface instruction =
      rebuild(old, TypeRange(TokenType::get(old.getContext())));
  instruction.setInsertedToken(inserted);
  return wrap(instruction.getOperation());
}

MlirOperation ptoEngineOpDropTokenIfUnusedInserted(MlirOperation op) {
  auto old = cast<EngineOpInterface>(unwrap(op));
  Value token = old.getTokenOrNull();
  if (!token || !token.use_empty() || !old.getInsertedToken())
    return op;
  old.setInsertedToken(false);
  return wrap(rebuild(old, TypeRange()).getOperation());
}

/// Marks the tokens at `positions` of `after`; none removes the attribute.
static void setInsertedAfter(EngineOpInterface op,
                             ArrayRef<int32_t> positions) {
  DenseI32ArrayAttr attribute;
  if (!positions.empty())
    attribute = DenseI32ArrayAttr::get(op.getContext(), positions);
  op.setInsertedAfterAttr(attribute);
}

void ptoEngineOpAppendAfter(MlirOperation op, uint32_t n,
                            MlirValue const *tokens, bool inserted) {
  auto instruction = cast<EngineOpInterface>(unwrap(op));
  int32_t first = instruction.getAfterCount();
  SmallVector<Value> values;
  for (MlirValue token : ArrayRef(tokens, n))
    values.push_back(unwrap(token));
  instruction.appendAfter(values);
  if (!inserted)
    return;
  SmallVector<int32_t> positions(
      instruction.getInsertedAfter().value_or(ArrayRef<int32_t>()));
  for (int32_t i = 0, count = n; i < count; ++i)
    positions.push_back(first + i);
  setInsertedAfter(instruction, positions);
}

void ptoEngineOpDropInserted(MlirOperation op) {
  auto instruction = cast<EngineOpInterface>(unwrap(op));
  SmallVector<int32_t> positions(
      instruction.getInsertedAfter().value_or(ArrayRef<int32_t>()));
  for (int32_t position : llvm::reverse(positions))
    instruction.getAfterMutable().erase(position);
  setInsertedAfter(instruction, {});
}

MlirOperation ptoMemsetCreateBefore(MlirOperation before, MlirValue value,
                                    MlirValue target, uint32_t engine,
                                    bool inserted) {
  Operation *successor = unwrap(before);
  OpBuilder builder(successor);
  OperationState state(successor->getLoc(), MemsetOp::getOperationName());
  state.addOperands({unwrap(value), unwrap(target)});
  auto &properties = state.getOrAddProperties<MemsetOp::Properties>();
  if (auto chosen = static_cast<Engine>(engine); chosen != Engine::vector)
    properties.engine = EngineAttr::get(builder.getContext(), chosen);
  if (inserted)
    properties.inserted = builder.getUnitAttr();
  return wrap(builder.create(state));
}

//===----------------------------------------------------------------------===//
// Effects and views
//===----------------------------------------------------------------------===//

static constexpr uint32_t reads = 1, writes = 2, allocates = 4, frees = 8;

static uint32_t getBit(MemoryEffects::Effect *effect) {
  if (isa<MemoryEffects::Read>(effect))
    return reads;
  if (isa<MemoryEffects::Write>(effect))
    return writes;
  return isa<MemoryEffects::Allocate>(effect) ? allocates : frees;
}

/// Whether `effect` is on the memory behind `operand`.
static bool isEffectOn(const MemoryEffects::EffectInstance &effect,
                       OpOperand &operand) {
  if (auto *exact = effect.getEffectValue<OpOperand *>())
    return exact == &operand;
  if (Value value = effect.getValue())
    return value == operand.get();
  // An effect on no value in particular may be on any memref, except that a
  // matmul says by its one on PSUM only that START reaches other cells.
  return !effect.getSymbolRef() && !isa<PsumResource>(effect.getResource()) &&
         isa<BaseMemRefType>(operand.get().getType());
}

bool ptoOpIsEffectFree(MlirOperation op) {
  return isMemoryEffectFree(unwrap(op));
}

uint32_t ptoTypeGetBytes(MlirType element) {
  Type type = unwrap(element);
  if (isa<FloatTF32Type>(type))
    return 4;
  return type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8)
                             : 1;
}

uint32_t ptoOpOperandEffects(MlirOperation op, uint32_t index) {
  OpOperand &operand = unwrap(op)->getOpOperand(index);
  // A parameter of a tile matmul is declared as read, be it a tile or a scalar.
  if (operand.get().getType().isIntOrIndexOrFloat())
    return 0;
  auto interface = dyn_cast<MemoryEffectOpInterface>(unwrap(op));
  if (!interface)
    return isa<BaseMemRefType>(operand.get().getType()) ? reads | writes : 0;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  uint32_t bits = 0;
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (isEffectOn(effect, operand))
      bits |= getBit(effect.getEffect());
  return bits;
}

bool ptoOpIsView(MlirOperation op) {
  Operation *view = unwrap(op);
  auto isMemref = [](Type type) { return isa<BaseMemRefType>(type); };
  // Not every view says so by the interface; but what turns one memref into
  // another and touches no memory can give nothing else.
  return view->getNumResults() == 1 && view->getNumRegions() == 0 &&
         isMemref(view->getResultTypes().front()) &&
         llvm::count_if(view->getOperandTypes(), isMemref) == 1 &&
         (isa<ViewLikeOpInterface>(view) || isMemoryEffectFree(view));
}
