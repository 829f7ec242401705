//===- Interfaces.cpp - Upstream interfaces for Rust ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/Bridge/Interfaces.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

bool ptoOpIsCall(MlirOperation op) { return isa<CallOpInterface>(unwrap(op)); }

bool ptoFunctionGetPsumBanks(MlirOperation function, uint32_t *mask) {
  auto banks =
      unwrap(function)->getAttrOfType<DenseI32ArrayAttr>("pto.psum_banks");
  if (!banks)
    return false;
  *mask = 0;
  for (int32_t bank : banks.asArrayRef()) {
    if (bank < 0 || bank >= 32)
      return false;
    *mask |= uint32_t(1) << bank;
  }
  return true;
}

bool ptoCallGetPsumBanks(MlirOperation call, uint32_t *mask) {
  auto callOp = dyn_cast<CallOpInterface>(unwrap(call));
  Operation *callee = callOp ? callOp.resolveCallable() : nullptr;
  return callee && ptoFunctionGetPsumBanks(wrap(callee), mask);
}

/// The number that an affine map of constants gives: what unrolling makes of
/// bounds.
static std::optional<int64_t> foldApply(affine::AffineApplyOp apply) {
  SmallVector<Attribute> operands;
  Builder builder(apply.getContext());
  for (Value operand : apply.getMapOperands()) {
    std::optional<int64_t> number = getConstantIntValue(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(builder.getIndexAttr(*number));
  }
  SmallVector<Attribute> results;
  if (failed(apply.getAffineMap().constantFold(operands, results)))
    return std::nullopt;
  auto number = dyn_cast<IntegerAttr>(results.front());
  return number ? number.getValue().trySExtValue() : std::nullopt;
}

/// The constant that `bound` is. What is most often one is asked directly:
/// upstream's matcher tries the folders of its operation.
static std::optional<int64_t> getConstant(OpFoldResult bound) {
  auto value = dyn_cast<Value>(bound);
  if (auto apply =
          value ? value.getDefiningOp<affine::AffineApplyOp>() : nullptr)
    return foldApply(apply);
  if (auto constant =
          value ? value.getDefiningOp<arith::ConstantOp>() : nullptr)
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return number.getValue().trySExtValue();
  return getConstantIntValue(bound);
}

/// The iterations from `lower` to `upper`, signed, by a positive `step`.
static uint64_t countTrips(int64_t lower, int64_t upper, int64_t step) {
  // Unsigned: the bounds may be further apart than a signed number says.
  uint64_t span = lower < upper ? uint64_t(upper) - uint64_t(lower) : 0;
  return llvm::divideCeil(span, uint64_t(step));
}

bool ptoLoopGetTripCount(MlirOperation op, uint64_t *trips) {
  if (auto loop = dyn_cast<affine::AffineForOp>(unwrap(op))) {
    int64_t step = loop.getStepAsInt();
    if (!loop.hasConstantBounds() || step <= 0)
      return false;
    *trips = countTrips(loop.getConstantLowerBound(),
                        loop.getConstantUpperBound(), step);
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(unwrap(op));
      loop && !loop.getUnsignedCmp()) {
    std::optional<int64_t> lower = getConstant(loop.getLowerBound());
    std::optional<int64_t> upper = getConstant(loop.getUpperBound());
    std::optional<int64_t> step = getConstant(loop.getStep());
    if (lower && upper && step && *step > 0) {
      *trips = countTrips(*lower, *upper, *step);
      return true;
    }
  }
  auto loop = dyn_cast<LoopLikeOpInterface>(unwrap(op));
  std::optional<APInt> count = loop ? loop.getStaticTripCount() : std::nullopt;
  if (!count || count->getActiveBits() > 64)
    return false;
  *trips = count->getZExtValue();
  return true;
}

static PtoBound boundOf(OpFoldResult bound) {
  PtoBound result = {};
  if (!bound)
    return result;
  if (auto value = dyn_cast<Value>(bound))
    result.value = wrap(value);
  if (std::optional<int64_t> constant = getConstant(bound)) {
    result.constant = *constant;
    result.isConstant = true;
  }
  return result;
}

/// As the interface says it, but without the lists that it makes.
static void getForLoop(scf::ForOp op, PtoLoop *loop) {
  loop->variable = wrap(op.getInductionVar());
  loop->lower = boundOf(op.getLowerBound());
  loop->upper = boundOf(op.getUpperBound());
  loop->step = boundOf(op.getStep());
  loop->boundOperands = op.getNumControlOperands();
  loop->isUnsigned = op.getUnsignedCmp();
}

bool ptoLoopGet(MlirOperation op, PtoLoop *loop) {
  if (auto forLoop = dyn_cast<scf::ForOp>(unwrap(op))) {
    getForLoop(forLoop, loop);
    return true;
  }
  auto like = dyn_cast<LoopLikeOpInterface>(unwrap(op));
  std::optional<Value> variable =
      like ? like.getSingleInductionVar() : std::nullopt;
  if (!variable)
    return false;
  loop->variable = wrap(*variable);
  loop->lower = boundOf(like.getSingleLowerBound().value_or(OpFoldResult()));
  loop->upper = boundOf(like.getSingleUpperBound().value_or(OpFoldResult()));
  loop->step = boundOf(like.getSingleStep().value_or(OpFoldResult()));
  loop->boundOperands = like->getNumOperands() - like.getInits().size();
  loop->isUnsigned = false;
  return true;
}

MlirOperation ptoOpCreateLike(MlirOperation op, MlirValue left, MlirValue right,
                              MlirLocation location, MlirOperation before) {
  Operation *like = unwrap(op);
  // Cloning would make a map of values for the two.
  Operation *made = Operation::create(
      unwrap(location), like->getName(), like->getResultTypes(),
      ValueRange{unwrap(left), unwrap(right)},
      like->getDiscardableAttrDictionary(), like->getPropertiesStorage(),
      /*successors=*/{}, /*numRegions=*/0);
  Operation *next = unwrap(before);
  next->getBlock()->getOperations().insert(Block::iterator(next), made);
  return wrap(made);
}

bool ptoValueGetSum(MlirValue value, MlirValue *base, int64_t *constant) {
  Operation *maker = unwrap(value).getDefiningOp();
  if (auto add = dyn_cast_or_null<arith::AddIOp>(maker)) {
    std::optional<int64_t> number = getConstantIntValue(add.getRhs());
    *base = wrap(add.getLhs());
    *constant = number.value_or(0);
    return number.has_value();
  }
  if (auto sub = dyn_cast_or_null<arith::SubIOp>(maker)) {
    std::optional<int64_t> number = getConstantIntValue(sub.getRhs());
    *base = wrap(sub.getLhs());
    return number && !llvm::SubOverflow<int64_t>(0, *number, *constant);
  }
  auto apply = dyn_cast_or_null<affine::AffineApplyOp>(maker);
  if (!apply || apply.getNumOperands() != 1)
    return false;
  // Affine expressions keep constants on the right.
  auto sum = dyn_cast<AffineBinaryOpExpr>(apply.getAffineMap().getResult(0));
  auto number =
      sum ? dyn_cast<AffineConstantExpr>(sum.getRHS()) : AffineConstantExpr();
  if (!number || sum.getKind() != AffineExprKind::Add ||
      !isa<AffineDimExpr, AffineSymbolExpr>(sum.getLHS()))
    return false;
  *base = wrap(apply.getOperand(0));
  *constant = number.getValue();
  return true;
}

void ptoFunctionGetArgument(MlirOperation function, uint32_t index,
                            PtoArgument *argument) {
  *argument = {};
  auto op = dyn_cast<FunctionOpInterface>(unwrap(function));
  if (!op || index >= op.getNumArguments())
    return;
  auto number = [&](StringRef name, int32_t &value) {
    auto attribute = op.getArgAttrOfType<IntegerAttr>(index, name);
    value = attribute ? static_cast<int32_t>(attribute.getInt()) : 0;
    return static_cast<bool>(attribute);
  };
  argument->placed = number("pto.bank", argument->bank);
  number("pto.offset", argument->offset);
  number("pto.partition", argument->partition);
  argument->fresh = static_cast<bool>(op.getArgAttr(index, "pto.fresh"));
  argument->noalias = op.getArgAttr(index, "pto.noalias") ||
                      op.getArgAttr(index, "llvm.noalias");
}
