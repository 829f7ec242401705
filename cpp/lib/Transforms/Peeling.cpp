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
// nest of depth d becomes 2d + 1 bodies, not 3^d.
//
// Upstream has a first-iteration peeling too. It is not used because it runs
// the peeled iteration of a loop that runs never, and peels no last one.
//
//===----------------------------------------------------------------------===//

#include "Peeling.h"
#include "PTO/IR/PTOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

/// The value that `buffer` is a view of.
static Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Whether a matmul in `loop` writes a buffer from outside of it.
static bool accumulates(scf::ForOp loop) {
  WalkResult result = loop.walk([&](pto::MatmulOpInterface matmul) {
    Region *home = getRoot(matmul.getDst()).getParentRegion();
    return loop.getRegion().isAncestor(home) ? WalkResult::advance()
                                             : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

namespace {
/// Where a loop of constant bounds runs.
struct Range {
  int64_t lower, step, trips;

  static std::optional<Range> of(scf::ForOp loop) {
    auto lower = getConstantIntValue(loop.getLowerBound());
    auto upper = getConstantIntValue(loop.getUpperBound());
    auto step = getConstantIntValue(loop.getStep());
    int64_t length;
    if (!lower || !upper || !step || *step <= 0 || *upper <= *lower ||
        llvm::SubOverflow(*upper, *lower, length))
      return std::nullopt;
    return Range{*lower, *step, (length - 1) / *step + 1};
  }

  int64_t at(int64_t trip) const { return lower + trip * step; }
};

class Peeler {
public:
  explicit Peeler(MLIRContext *context) : rewriter(context) {}

  /// Peels `loop`, and inside what is peeled the loops that add on.
  void peel(scf::ForOp loop, bool isFirst, bool isLast) {
    std::optional<Range> range = Range::of(loop);
    if (!range || !accumulates(loop))
      return;
    peeled = true;
    scf::ForOp first, last;
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

  bool peeled = false;

private:
  /// Ends `loop` before `at`. The loop that goes on from there.
  scf::ForOp cut(scf::ForOp loop, int64_t at) {
    rewriter.setInsertionPoint(loop);
    Value bound = arith::ConstantOp::create(
        rewriter, loop.getLoc(),
        rewriter.getIntegerAttr(loop.getInductionVar().getType(), at));
    rewriter.setInsertionPointAfter(loop);
    auto rest = cast<scf::ForOp>(rewriter.clone(*loop));
    for (auto [before, after] :
         llvm::zip_equal(loop.getResults(), rest.getResults()))
      rewriter.replaceAllUsesExcept(before, after, rest);
    rest.getInitArgsMutable().assign(loop.getResults());
    rest.setLowerBound(bound);
    loop.setUpperBound(bound);
    return rest;
  }

  /// Puts the one iteration of `loop` in its place, its own loops peeled.
  void dissolve(scf::ForOp loop, bool isFirst, bool isLast) {
    SmallVector<scf::ForOp> inner;
    loop.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForOp op) {
      inner.push_back(op);
      return WalkResult::skip();
    });
    if (failed(loop.promoteIfSingleIteration(rewriter)))
      return;
    for (scf::ForOp op : inner)
      peel(op, isFirst, isLast);
  }

  IRRewriter rewriter;
};
} // namespace

bool mlir::pto::peelAccumulationLoops(Operation *function) {
  SmallVector<scf::ForOp> loops;
  function->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!accumulates(loop))
      return WalkResult::advance();
    loops.push_back(loop);
    return WalkResult::skip();
  });
  Peeler peeler(function->getContext());
  for (scf::ForOp loop : loops)
    peeler.peel(loop, /*isFirst=*/true, /*isLast=*/true);
  return peeler.peeled;
}
