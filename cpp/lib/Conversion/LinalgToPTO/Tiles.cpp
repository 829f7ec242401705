//===- Tiles.cpp - The tiles of one contraction ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"
#include "PTO/IR/PTODialect.h"
#include "PTO/IR/PTOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pto;
using namespace mlir::pto::conversion;

namespace {
/// The state of writing one contraction out: where each loop stands.
class TileEmitter {
public:
  TileEmitter(OpBuilder &builder, Contraction &contraction,
              const Tiling &tiling, bool isSeeded);

  void emit();

private:
  using Body = function_ref<void()>;

  /// Runs `body` for every tile of `loops`, the first of them outermost. Whole
  /// tiles of a loop from `begin` on become an scf.for where there are several
  /// and loops are wanted; what is left over is a tile of its own.
  void forEachTile(ArrayRef<unsigned> loops, Body body);
  /// `isLastApart` leaves the last tile out of the scf.for.
  void forEachTileFrom(int64_t begin, unsigned loop, Body body,
                       bool isLastApart = false);

  void emitOutputTile();
  void emitSum(Value accumulator);
  void emitProduct(Value accumulator, Value lhs, bool overwrites);
  Value stageLhs();

  /// The current tile of `operand` as a matrix of the loops `rows` and
  /// `columns`, of which each may be absent: a view, of the operand's element
  /// type.
  Value createView(OpOperand *operand, std::optional<unsigned> rows,
                   std::optional<unsigned> columns);
  /// That tile, `[k, columns]`, in a buffer of its own in SBUF.
  Value createStagedTile(OpOperand *operand, std::optional<unsigned> columns,
                         Type elementType);
  void createCopy(Value source, Value target, EngineAttr engine);

  MemRefType getBufferType(int64_t rows, int64_t columns, Type elementType,
                           MemorySpace space);
  /// A constant that everything written here can use.
  Value createIndex(int64_t number);

  int64_t getSize(std::optional<unsigned> loop) const {
    return loop ? sizes[*loop] : 1;
  }

  OpBuilder &builder;
  Location loc;
  Contraction &contraction;
  bool isSeeded;
  /// The loops of the reduction, outermost first.
  SmallVector<unsigned> sumLoops;
  /// Whether every step of a sum is written on its own.
  bool isSumUnrolled;
  /// For each loop: whether its tiles are written on their own, the largest
  /// tile, and offset and size of the current one.
  SmallVector<bool> isUnrolled;
  SmallVector<int64_t> tiles;
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> sizes;
  /// Index constants; they follow the operation `lastConstant`, or begin the
  /// block.
  DenseMap<int64_t, Value> constants;
  Operation *lastConstant;
  /// Where sums are unrolled: the staged tiles of lhs for the current rows of
  /// the output, one a step, so that each is loaded once for all columns.
  SmallVector<Value> stagedLhs;
};
} // namespace

TileEmitter::TileEmitter(OpBuilder &builder, Contraction &contraction,
                         const Tiling &tiling, bool isSeeded)
    : builder(builder), loc(contraction.op.getLoc()), contraction(contraction),
      isSeeded(isSeeded), sumLoops(contraction.outerK),
      tiles(contraction.extents.size(), 1),
      offsets(contraction.extents.size(), builder.getIndexAttr(0)),
      sizes(contraction.extents.size(), 1),
      lastConstant(contraction.op->getPrevNode()) {
  sumLoops.push_back(*contraction.k);
  auto setTile = [&](std::optional<unsigned> loop, int64_t tile) {
    if (loop)
      tiles[*loop] = tile;
  };
  setTile(contraction.m, tiling.m);
  setTile(contraction.n, tiling.n);
  setTile(contraction.k, tiling.k);
  int64_t steps = 1;
  for (unsigned loop : sumLoops)
    steps *= llvm::divideCeil(contraction.extents[loop], tiles[loop]);
  // The first step is written apart in any case; of two no loop is left.
  isSumUnrolled = tiling.unroll || steps <= 2;
  isUnrolled.assign(tiles.size(), tiling.unroll);
  if (isSumUnrolled)
    for (unsigned loop : sumLoops)
      isUnrolled[loop] = true;
}

void TileEmitter::emit() {
  SmallVector<unsigned> rowLoops = contraction.outerM;
  SmallVector<unsigned> columnLoops = contraction.outerN;
  if (contraction.m)
    rowLoops.push_back(*contraction.m);
  if (contraction.n)
    columnLoops.push_back(*contraction.n);
  forEachTile(rowLoops, [&] {
    stagedLhs.clear();
    if (isSumUnrolled)
      forEachTile(sumLoops, [&] { stagedLhs.push_back(stageLhs()); });
    forEachTile(columnLoops, [&] { emitOutputTile(); });
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void TileEmitter::forEachTile(ArrayRef<unsigned> loops, Body body) {
  if (loops.empty())
    return body();
  forEachTileFrom(0, loops.front(),
                  [&] { forEachTile(loops.drop_front(), body); });
}

void TileEmitter::forEachTileFrom(int64_t begin, unsigned loop, Body body,
                                  bool isLastApart) {
  int64_t extent = contraction.extents[loop], tile = tiles[loop];
  int64_t wholeTiles = (extent - begin - isLastApart) / tile;
  if (!isUnrolled[loop] && wholeTiles > 1) {
    int64_t end = begin + wholeTiles * tile;
    auto forOp = scf::ForOp::create(builder, loc, createIndex(begin),
                                    createIndex(end), createIndex(tile));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(forOp.getBody());
    offsets[loop] = forOp.getInductionVar();
    sizes[loop] = tile;
    body();
    begin = end;
  }
  for (; begin < extent; begin += tile) {
    offsets[loop] = builder.getIndexAttr(begin);
    sizes[loop] = std::min(tile, extent - begin);
    body();
  }
}

Value TileEmitter::createIndex(int64_t number) {
  Value &constant = constants[number];
  if (constant)
    return constant;
  OpBuilder::InsertionGuard guard(builder);
  if (lastConstant)
    builder.setInsertionPointAfter(lastConstant);
  else
    builder.setInsertionPointToStart(contraction.op->getBlock());
  constant = arith::ConstantIndexOp::create(builder, loc, number);
  lastConstant = constant.getDefiningOp();
  return constant;
}

//===----------------------------------------------------------------------===//
// One tile of the output
//===----------------------------------------------------------------------===//

void TileEmitter::emitOutputTile() {
  MemRefType type =
      getBufferType(getSize(contraction.m), getSize(contraction.n),
                    contraction.sumType, MemorySpace::psum);
  Value accumulator = PsumAllocOp::create(builder, loc, type, IntegerAttr(),
                                          IntegerAttr(), IntegerAttr());
  Value out = createView(contraction.out(), contraction.m, contraction.n);
  if (isSeeded)
    createCopy(out, accumulator, EngineAttr());
  emitSum(accumulator);
  createCopy(accumulator, out, EngineAttr());
}

void TileEmitter::emitSum(Value accumulator) {
  if (isSumUnrolled) {
    auto *lhs = stagedLhs.begin();
    forEachTile(sumLoops, [&] {
      bool overwrites = !isSeeded && lhs == stagedLhs.begin();
      emitProduct(accumulator, *lhs++, overwrites);
    });
    return;
  }
  auto accumulate = [&] { emitProduct(accumulator, stageLhs(), false); };
  bool isOneLoop = llvm::all_of(contraction.outerK, [&](unsigned loop) {
    return contraction.extents[loop] == 1;
  });
  // In several loops neither the first nor the last step can be written apart.
  // The first overwrites all the same, unless seeded: the accumulator is fresh.
  if (!isOneLoop)
    return forEachTile(sumLoops, accumulate);
  unsigned k = *contraction.k;
  int64_t begin = 0;
  if (!isSeeded) {
    offsets[k] = builder.getIndexAttr(0);
    sizes[k] = tiles[k];
    emitProduct(accumulator, stageLhs(), /*overwrites=*/true);
    begin = tiles[k];
  }
  forEachTileFrom(begin, k, accumulate, /*isLastApart=*/true);
}

void TileEmitter::emitProduct(Value accumulator, Value lhs, bool overwrites) {
  Value rhs =
      createStagedTile(contraction.rhs(), contraction.n, contraction.rhsType);
  auto create = [&](auto op, auto... accumulators) {
    decltype(op)::create(
        builder, loc, /*token=*/Type(), accumulators..., lhs, rhs, accumulator,
        /*start_if=*/Value(), /*stop_if=*/Value(), /*after=*/ValueRange(),
        /*c_scale=*/Value(), /*row_max_in=*/Value(), /*quant=*/Value(),
        /*prelu=*/Value(), /*row_max=*/Value(), /*group_max=*/Value(),
        /*tile_size=*/DenseI32ArrayAttr(),
        /*tile_position=*/DenseI32ArrayAttr(), /*acc=*/AccAttr(),
        /*zero_region=*/IntegerAttr(), /*rmode=*/RModeAttr(),
        /*sat=*/UnitAttr(), /*trans_a=*/UnitAttr(), /*trans_b=*/UnitAttr(),
        /*gemv=*/UnitAttr(), /*mask=*/IntegerAttr(), /*post=*/PostAttr(),
        /*inserted_after=*/DenseI32ArrayAttr(), /*inserted_token=*/UnitAttr());
  };
  if (overwrites)
    create(TMatmulOp());
  else
    create(TMatmulAccOp(), accumulator);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value TileEmitter::stageLhs() {
  return createStagedTile(contraction.lhs(), contraction.m,
                          contraction.lhsType);
}

Value TileEmitter::createStagedTile(OpOperand *operand,
                                    std::optional<unsigned> columns,
                                    Type elementType) {
  Value tile = createView(operand, contraction.k, columns);
  MemRefType type = getBufferType(getSize(contraction.k), getSize(columns),
                                  elementType, MemorySpace::sbuf);
  Value staged =
      SbufAllocOp::create(builder, loc, type, IntegerAttr(), IntegerAttr());
  createCopy(tile, staged, EngineAttr::get(builder.getContext(), Engine::dma));
  return staged;
}

Value TileEmitter::createView(OpOperand *operand, std::optional<unsigned> rows,
                              std::optional<unsigned> columns) {
  Value view = operand->get();
  auto type = cast<MemRefType>(view.getType());
  SmallVector<OpFoldResult> viewOffsets, viewSizes;
  SmallVector<OpFoldResult> steps(type.getRank(), builder.getIndexAttr(1));
  SmallVector<int64_t> shape;
  SmallVector<unsigned> kept;
  for (AffineExpr result :
       contraction.op.getMatchingIndexingMap(operand).getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    viewOffsets.push_back(offsets[loop]);
    viewSizes.push_back(builder.getIndexAttr(sizes[loop]));
    if (loop != rows && loop != columns)
      continue;
    kept.push_back(loop);
    shape.push_back(sizes[loop]);
  }
  if (ArrayRef<int64_t>(shape) != type.getShape())
    view = memref::SubViewOp::create(
        builder, loc,
        memref::SubViewOp::inferRankReducedResultType(shape, type, viewOffsets,
                                                      viewSizes, steps),
        view, viewOffsets, viewSizes, steps);
  if (kept.size() == 2 && kept.front() == columns)
    return memref::TransposeOp::create(
        builder, loc, view,
        AffineMapAttr::get(AffineMap::getPermutationMap(
            ArrayRef<unsigned>({1, 0}), builder.getContext())));
  if (kept.size() == 2)
    return view;
  SmallVector<ReassociationIndices> groups;
  if (kept.size() == 1)
    groups.push_back({0, 1});
  return memref::ExpandShapeOp::create(
      builder, loc, ArrayRef<int64_t>({getSize(rows), getSize(columns)}), view,
      groups);
}

void TileEmitter::createCopy(Value source, Value target, EngineAttr engine) {
  CopyOp::create(builder, loc, /*token=*/Type(), source, target,
                 /*after=*/ValueRange(), engine,
                 /*inserted_after=*/DenseI32ArrayAttr(),
                 /*inserted_token=*/UnitAttr());
}

MemRefType TileEmitter::getBufferType(int64_t rows, int64_t columns,
                                      Type elementType, MemorySpace space) {
  return MemRefType::get({rows, columns}, elementType,
                         MemRefLayoutAttrInterface(),
                         MemAttr::get(builder.getContext(), space));
}

void mlir::pto::conversion::emitTiles(OpBuilder &builder,
                                      Contraction &contraction,
                                      const Tiling &tiling, bool isSeeded) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(contraction.op);
  TileEmitter(builder, contraction, tiling, isSeeded).emit();
}
