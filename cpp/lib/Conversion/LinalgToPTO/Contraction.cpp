//===- Contraction.cpp - Contractions that the PE array can do ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "PTO/IR/PTOAttributes.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pto;
using namespace mlir::pto::conversion;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The argument of a linalg body that `value` is, perhaps widened: by
/// arith.extf or by arith.extsi, which lose nothing.
static BlockArgument getWidenedArgument(Value value) {
  if (Operation *op = value.getDefiningOp())
    if (isa<arith::ExtFOp, arith::ExtSIOp>(op))
      value = op->getOperand(0);
  return dyn_cast<BlockArgument>(value);
}

/// Whether `body` yields `%2 + widen(%0) * widen(%1)`, in any order of
/// operands, and nothing is rounded on the way but product and sum.
static bool isMultiplyAccumulate(Block &body) {
  Operation *yield = body.getTerminator();
  Operation *add = yield->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value sum = body.getArgument(2);
  bool isFirst = add->getOperand(0) == sum;
  if (!isFirst && add->getOperand(1) != sum)
    return false;
  Operation *multiply = add->getOperand(isFirst ? 1 : 0).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply))
    return false;
  BlockArgument left = getWidenedArgument(multiply->getOperand(0));
  BlockArgument right = getWidenedArgument(multiply->getOperand(1));
  return left && right && left != right && left != sum && right != sum;
}

/// Floats that the PE array takes in any pair.
static bool isNarrowFloat(Type type) {
  return isa<BFloat16Type, Float16Type, Float8E4M3FNType, Float8E5M2Type,
             Float8E3M4Type>(type);
}

/// Floats that the PE array takes only among themselves.
static bool isWideFloat(Type type) {
  return isa<Float32Type, FloatTF32Type>(type);
}

/// Chooses the types of operands and sums. Floats are added up in f32 and
/// rounded to the output's type once, at the end.
static LogicalResult chooseTypes(Contraction &contraction, Refusal &refusal) {
  linalg::LinalgOp op = contraction.op;
  Type lhs = getElementTypeOrSelf(contraction.lhs()->get());
  Type rhs = getElementTypeOrSelf(contraction.rhs()->get());
  Type out = getElementTypeOrSelf(contraction.out()->get());
  auto isFloat = [](Type type) {
    return isNarrowFloat(type) || isWideFloat(type);
  };
  MLIRContext *context = op.getContext();
  if (isFloat(lhs) && isFloat(rhs) &&
      isa<Float32Type, BFloat16Type, Float16Type>(out)) {
    // An operand of 32 bits wants another beside it, and a copy widens exactly.
    bool widens = isWideFloat(lhs) != isWideFloat(rhs);
    Type wide = isWideFloat(lhs) ? lhs : rhs;
    contraction.lhsType = widens ? wide : lhs;
    contraction.rhsType = widens ? wide : rhs;
    contraction.sumType = Float32Type::get(context);
    return success();
  }
  if (lhs.isInteger(8) && rhs.isInteger(8) && out.isInteger(32)) {
    contraction.lhsType = lhs;
    contraction.rhsType = rhs;
    contraction.sumType = out;
    return success();
  }
  llvm::raw_string_ostream(refusal.reason)
      << "expected floats of at most 32 bits into f32, f16 or bf16, or i8 into "
         "i32, found "
      << lhs << " and " << rhs << " into " << out << " [pto:element-type]";
  return failure();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The loop of `loops` to tile: the longest, of equals the innermost. The
/// others go to `outer`.
static std::optional<unsigned> takeLongest(ArrayRef<unsigned> loops,
                                           ArrayRef<int64_t> extents,
                                           SmallVectorImpl<unsigned> &outer) {
  std::optional<unsigned> longest;
  for (unsigned loop : loops)
    if (!longest || extents[loop] >= extents[*longest])
      longest = loop;
  llvm::copy_if(loops, std::back_inserter(outer),
                [&](unsigned loop) { return loop != longest; });
  return longest;
}

/// The reduction to tile: the innermost of more than one iteration, so that
/// sums are in row-major order.
static std::optional<unsigned> takeInnermost(ArrayRef<unsigned> loops,
                                             ArrayRef<int64_t> extents,
                                             SmallVectorImpl<unsigned> &outer) {
  std::optional<unsigned> innermost;
  for (unsigned loop : loops)
    if (!innermost || extents[loop] > 1)
      innermost = loop;
  llvm::copy_if(loops, std::back_inserter(outer),
                [&](unsigned loop) { return loop != innermost; });
  return innermost;
}

/// Reads the loops of `op`, which must be a contraction, by what they are to
/// the PE array, and its types.
static FailureOr<Contraction> readContraction(linalg::LinalgOp op,
                                              Refusal &refusal) {
  Contraction contraction;
  contraction.op = op;
  if (failed(chooseTypes(contraction, refusal)))
    return failure();
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) ||
      dims->batch.size() + dims->m.size() + dims->n.size() + dims->k.size() !=
          op.getNumLoops()) {
    refusal.reason = "expected every reduction in both inputs, and every other "
                     "loop in the output and an input [pto:unconverted]";
    return failure();
  }
  contraction.extents = op.getStaticLoopRanges();
  ArrayRef<int64_t> extents = contraction.extents;
  contraction.outerM = llvm::to_vector(dims->batch);
  contraction.m = takeLongest(dims->m, extents, contraction.outerM);
  contraction.n = takeLongest(dims->n, extents, contraction.outerN);
  contraction.k = takeInnermost(dims->k, extents, contraction.outerK);
  return contraction;
}

void mlir::pto::conversion::collapseLoops(RewriterBase &rewriter,
                                          Contraction &contraction) {
  linalg::LinalgOp op = contraction.op;
  // Upstream collapses generic operations.
  if (!isa<linalg::GenericOp>(op))
    return;
  bool isCollapsed = false;
  for (unsigned loop = op.getNumLoops() - 1; loop > 0; --loop) {
    SmallVector<ReassociationIndices> pair = {{loop - 1, loop}};
    if (!linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), pair))
      continue;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> collapsed =
        linalg::collapseOpIterationDims(op, pair, rewriter);
    if (failed(collapsed))
      continue;
    rewriter.eraseOp(op);
    op = collapsed->collapsedOp;
    isCollapsed = true;
  }
  if (!isCollapsed)
    return;
  // What was a contraction of some types is one of the same types.
  Refusal none;
  contraction = *readContraction(op, none);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The value that `value` is a view of.
static Value getBase(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      value = view.getViewSource();
    else if (auto transpose = dyn_cast<memref::TransposeOp>(op))
      value = transpose.getIn();
    else
      break;
  }
  return value;
}

/// Whether `base` is memory of its own: what is made here, or comes in. That
/// two arguments are two buffers is what bufferization assumes too.
static bool isOwnMemory(Value base) {
  if (auto argument = dyn_cast<BlockArgument>(base)) {
    Operation *parent = argument.getOwner()->getParentOp();
    return argument.getOwner()->isEntryBlock() &&
           isa_and_nonnull<FunctionOpInterface>(parent);
  }
  Operation *op = base.getDefiningOp();
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return isa<CallOpInterface, memref::GetGlobalOp>(op) ||
         (effects && effects.getEffectOnValue<MemoryEffects::Allocate>(base));
}

/// Whether `left` and `right` may share an element.
static bool mayOverlap(Value left, Value right, AliasAnalysis &aliases) {
  Value leftBase = getBase(left), rightBase = getBase(right);
  if (leftBase != rightBase && isOwnMemory(leftBase) && isOwnMemory(rightBase))
    return false;
  if (aliases.alias(left, right).isNo())
    return false;
  auto leftView = left.getDefiningOp<memref::SubViewOp>();
  auto rightView = right.getDefiningOp<memref::SubViewOp>();
  if (!leftView || !rightView || leftView.getSource() != rightView.getSource())
    return true;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      left.getContext(), HyperrectangularSlice(leftView),
      HyperrectangularSlice(rightView));
  return failed(overlap) || *overlap;
}

/// Checks that the operands are buffers that a copy can read and write.
static LogicalResult checkBuffers(linalg::LinalgOp op, AliasAnalysis &aliases,
                                  Refusal &refusal) {
  llvm::raw_string_ostream reason(refusal.reason);
  for (Value operand : op->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    if (!type.hasStaticShape()) {
      refusal.isWarning = true;
      reason << "expected a static shape, found " << type
             << "; this contraction stays as it is [pto:dynamic-shape]";
      return failure();
    }
    std::optional<MemorySpace> space = getMemorySpace(type);
    if (!space || isTileSpace(*space)) {
      reason << "expected a buffer in hbm, sbuf or psum, found " << type
             << " [pto:space]";
      return failure();
    }
    if (!type.isStrided()) {
      reason << "expected a buffer with strides, found " << type
             << " [pto:layout]";
      return failure();
    }
  }
  Value out = op.getDpsInits()[0];
  for (Value in : op.getDpsInputs()) {
    if (!mayOverlap(out, in, aliases))
      continue;
    refusal.isWarning = true;
    reason << "expected an output that shares no element with an input; this "
              "contraction stays as it is [pto:output-overlaps-input]";
    return failure();
  }
  return success();
}

FailureOr<Contraction> mlir::pto::conversion::matchContraction(
    linalg::LinalgOp op, AliasAnalysis &aliases, Refusal &refusal) {
  using linalg::detail::MatchContractionResult;
  auto match = linalg::detail::isContractionInterfaceImpl(op);
  if (match != MatchContractionResult{}) {
    refusal.reason = (linalg::detail::getMatchContractionMessage(match) +
                      " for a contraction [pto:unconverted]")
                         .str();
    return failure();
  }
  if (!op.hasPureBufferSemantics()) {
    refusal.reason = "expected buffers, found tensors: bufferize first "
                     "[pto:unconverted]";
    return failure();
  }
  if (!isMultiplyAccumulate(*op.getBlock())) {
    refusal.reason = "expected a body that adds a product of its inputs, "
                     "extended with sign, "
                     "to the output [pto:unconverted]";
    return failure();
  }
  FailureOr<Contraction> contraction = readContraction(op, refusal);
  if (failed(contraction) || failed(checkBuffers(op, aliases, refusal)))
    return failure();
  return contraction;
}

//===----------------------------------------------------------------------===//
// The initial value
//===----------------------------------------------------------------------===//

/// Whether `value` is a constant zero, of either sign: a sum of products begins
/// with +0.0, and -0.0 added to it changes nothing.
static bool isZero(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return number.getValue().isZero();
  auto number = dyn_cast<IntegerAttr>(constant.getValue());
  return number && number.getValue().isZero();
}

/// What `op` may do to `buffer`. Of operations with regions upstream knows
/// nothing; what a linalg operation does is told by its operands.
static ModRefResult getModRef(Operation *op, Value buffer,
                              AliasAnalysis &aliases) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !llvm::all_of(*linalgOp.getBlock(), [](Operation &inner) {
        return isa<linalg::YieldOp>(inner) || isMemoryEffectFree(&inner);
      }))
    return aliases.getModRef(op, buffer);
  ModRefResult access = ModRefResult::getNoModRef();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()) ||
        aliases.alias(operand.get(), buffer).isNo())
      continue;
    access =
        access.merge(linalgOp.isDpsInit(&operand) ? ModRefResult::getModAndRef()
                                                  : ModRefResult::getRef());
  }
  return access;
}

/// The last operation of the block before `op` that writes `buffer`, if it
/// overwrites all of it and is near. Sets `isRead` if another one in between
/// reads it.
static Operation *findWriter(Operation *op, Value buffer,
                             AliasAnalysis &aliases, bool &isRead) {
  // A fill is near its use wherever bufferization made it. What is farther away
  // counts as any other value, which is right too.
  constexpr unsigned reach = 64;
  op = op->getPrevNode();
  for (unsigned step = 0; op && step < reach; op = op->getPrevNode(), ++step) {
    if (isa<linalg::FillOp, linalg::CopyOp, memref::CopyOp>(op) &&
        op->getOperand(1) == buffer)
      return op;
    ModRefResult access = getModRef(op, buffer, aliases);
    if (access.isMod())
      return nullptr;
    isRead |= access.isRef();
  }
  return nullptr;
}

InitialValue mlir::pto::conversion::findInitialValue(Contraction &contraction,
                                                     AliasAnalysis &aliases) {
  InitialValue initial;
  Operation *writer = findWriter(contraction.op, contraction.out()->get(),
                                 aliases, initial.isReadElsewhere);
  Operation *source = writer;
  bool isSourceRead = false;
  if (isa_and_nonnull<linalg::CopyOp, memref::CopyOp>(writer))
    source = findWriter(writer, writer->getOperand(0), aliases, isSourceRead);
  if (isa_and_nonnull<linalg::FillOp>(source) && isZero(source->getOperand(0)))
    initial.zeroMaker = writer;
  return initial;
}
