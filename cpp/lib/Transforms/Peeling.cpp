//===- Peeling.cpp - First and last iterations apart ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop is cut at constants: what comes before a cut stays in the loop, what
// comes after is a copy of it that takes its results. A piece of one iteration
// is no loop any more. Inner loops are peeled where they matter: their first
// iteration in the first one of the outer loop, their last in its last. So a
// nest of depth d becomes 2d + 1 bodies, not 3^d. Where a loop of a nest stays
// all of it does, for its first iteration is a predicate either way.
//
// Upstream has a first-iteration peeling too. It is not used because it runs
// the peeled iteration of a loop that runs never, and peels no last one.
//
//===----------------------------------------------------------------------===//

#include "Peeling.h"
#include "PTO/IR/PTOOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/LoopUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

/// The value that `buffer` is a view of.
static Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Whether a matmul in `op` writes a buffer from outside of `loop`.
static bool accumulates(Operation *op, LoopLikeOpInterface loop) {
  WalkResult result = op->walk([&](pto::MatmulOpInterface matmul) {
    Operation *home = getRoot(matmul.getDst()).getParentRegion()->getParentOp();
    return loop->isAncestor(home) ? WalkResult::advance()
                                  : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

/// Whether a matmul in `loop` writes a buffer from outside of it.
static bool accumulates(LoopLikeOpInterface loop) {
  return accumulates(loop, loop);
}

/// Loops that are cut at a value of their one induction variable.
static bool isCounted(Operation *op) {
  return isa<scf::ForOp, affine::AffineForOp>(op);
}

namespace {
/// Where a loop of constant bounds runs.
struct Range {
  int64_t lower, step, trips;

  static std::optional<Range> of(LoopLikeOpInterface loop) {
    auto number = [](std::optional<OpFoldResult> bound) {
      return bound ? getConstantIntValue(*bound) : std::nullopt;
    };
    auto lower = number(loop.getSingleLowerBound());
    auto upper = number(loop.getSingleUpperBound());
    auto step = number(loop.getSingleStep());
    int64_t length;
    if (!lower || !upper || !step || *step <= 0 ||
        llvm::SubOverflow(*upper, *lower, length))
      return std::nullopt;
    return Range{*lower, *step, length <= 0 ? 0 : (length - 1) / *step + 1};
  }

  int64_t at(int64_t trip) const { return lower + trip * step; }
};

/// Why `inner` is a loop that nothing is cut off from, once the loops around it
/// in `outer` have been peeled: then their induction variables are constants.
static std::optional<StringRef> getObstacle(LoopLikeOpInterface inner,
                                            LoopLikeOpInterface outer) {
  if (!isCounted(inner))
    return "it is no scf.for or affine.for";
  if (Range::of(inner))
    return std::nullopt;
  auto isFixed = [&](std::optional<OpFoldResult> bound) {
    if (!bound || getConstantIntValue(*bound))
      return bound.has_value();
    auto variable = dyn_cast<BlockArgument>(cast<Value>(*bound));
    Operation *around = variable ? variable.getOwner()->getParentOp() : nullptr;
    auto counted = dyn_cast_or_null<LoopLikeOpInterface>(around);
    return counted && outer->isProperAncestor(inner) &&
           outer->isAncestor(counted) &&
           counted.getSingleInductionVar() == variable;
  };
  bool isKnown = isFixed(inner.getSingleLowerBound()) &&
                 isFixed(inner.getSingleUpperBound()) &&
                 isFixed(inner.getSingleStep());
  return isKnown ? std::nullopt
                 : std::optional<StringRef>("its bounds are no constants");
}

/// Whether a loop in `loop` that adds to a buffer from outside of both stays:
/// the sum then has its first iteration there, and peeling `loop` alone gains
/// nothing.
static bool hasObstacleInside(LoopLikeOpInterface loop) {
  WalkResult result = loop->walk([&](LoopLikeOpInterface inner) {
    return inner != loop && accumulates(inner, loop) && getObstacle(inner, loop)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

class Peeler {
public:
  explicit Peeler(MLIRContext *context) : rewriter(context) {}

  /// Peels `loop`, and inside what is peeled the loops that add on.
  void peel(LoopLikeOpInterface loop, bool isFirst, bool isLast) {
    if (!accumulates(loop))
      return;
    std::optional<Range> range = Range::of(loop);
    if (!range) {
      result.left.emplace_back(loop.getLoc(), "its bounds are no constants");
      return;
    }
    if (range->trips == 0)
      return;
    result.isPeeled = true;
    LoopLikeOpInterface first, last;
    if (range->trips > 1 && isLast)
      last = cut(loop, range->at(range->trips - 1));
    int64_t rest = range->trips - (last ? 1 : 0);
    if (isFirst && rest > 1) {
      cut(loop, range->at(1));
      first = loop;
    } else if (rest == 1) {
      first = loop;
    }
    if (last)
      dissolve(last, /*isFirst=*/false, /*isLast=*/true);
    if (first)
      dissolve(first, isFirst, isLast && !last);
  }

  pto::Peeling result;

private:
  /// Ends `loop` before `at`. The loop that goes on from there.
  LoopLikeOpInterface cut(LoopLikeOpInterface loop, int64_t at) {
    rewriter.setInsertionPointAfter(loop);
    auto rest = cast<LoopLikeOpInterface>(rewriter.clone(*loop));
    for (auto [before, after] :
         llvm::zip_equal(loop->getResults(), rest->getResults()))
      rewriter.replaceAllUsesExcept(before, after, rest);
    for (auto [initial, before] :
         llvm::zip_equal(rest.getInitsMutable(), loop->getResults()))
      initial.set(before);
    bound(loop, rest, at);
    return rest;
  }

  /// Ends `loop` and begins `rest` at `at`.
  void bound(LoopLikeOpInterface loop, LoopLikeOpInterface rest, int64_t at) {
    if (auto affineLoop = dyn_cast<affine::AffineForOp>(*loop)) {
      affineLoop.setConstantUpperBound(at);
      cast<affine::AffineForOp>(*rest).setConstantLowerBound(at);
      return;
    }
    auto scfLoop = cast<scf::ForOp>(*loop);
    rewriter.setInsertionPoint(loop);
    Value bound = arith::ConstantOp::create(
        rewriter, loop.getLoc(),
        rewriter.getIntegerAttr(scfLoop.getInductionVar().getType(), at));
    cast<scf::ForOp>(*rest).setLowerBound(bound);
    scfLoop.setUpperBound(bound);
  }

  /// Puts the one iteration of `loop` in its place, its own loops peeled.
  void dissolve(LoopLikeOpInterface loop, bool isFirst, bool isLast) {
    SmallVector<LoopLikeOpInterface> inner;
    loop.getLoopRegions().front()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) {
          if (!isCounted(op))
            return WalkResult::advance();
          inner.push_back(cast<LoopLikeOpInterface>(op));
          return WalkResult::skip();
        });
    auto affineLoop = dyn_cast<affine::AffineForOp>(*loop);
    if (failed(affineLoop ? affine::promoteIfSingleIteration(affineLoop)
                          : loop.promoteIfSingleIteration(rewriter)))
      return;
    for (LoopLikeOpInterface op : inner)
      peel(op, isFirst, isLast);
  }

  IRRewriter rewriter;
};
} // namespace

pto::Peeling mlir::pto::peelAccumulationLoops(Operation *function) {
  SmallVector<LoopLikeOpInterface> loops;
  Peeler peeler(function->getContext());
  function->walk<WalkOrder::PreOrder>([&](LoopLikeOpInterface loop) {
    if (!accumulates(loop))
      return WalkResult::advance();
    std::optional<StringRef> reason = getObstacle(loop, loop);
    if (!reason && hasObstacleInside(loop))
      reason = "one inside of it is not";
    if (reason) {
      peeler.result.left.emplace_back(loop.getLoc(), *reason);
      return WalkResult::advance();
    }
    loops.push_back(loop);
    return WalkResult::skip();
  });
  for (LoopLikeOpInterface loop : loops)
    peeler.peel(loop, /*isFirst=*/true, /*isLast=*/true);
  return peeler.result;
}
