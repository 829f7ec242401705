//===- Canonicalization.cpp - Constant predicates -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A predicate that is a constant moves into the flags. It is a pattern and not
// a folder, because sparse analyses fold on trial and could not take back an
// attribute that was absent.
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::pto;

namespace {

/// start_if(true) becomes START in `acc`, stop_if(true) STOP; a false one goes.
///
/// An operation with a predicate has explicit flags, an absent `acc` standing
/// for `none`. They stay explicit: `start_if(false)` alone leaves `acc<none>`,
/// for auto flags would let the compiler derive a START that was ruled out.
struct FoldConstantPredicate
    : public OpInterfaceRewritePattern<MatmulOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(MatmulOpInterface op,
                                PatternRewriter &rewriter) const override {
    bool start = false, stop = false;
    bool foldsStart = matchConstant(op.getStartIfOrNull(), start);
    bool foldsStop = matchConstant(op.getStopIfOrNull(), stop);
    if (!foldsStart && !foldsStop)
      return failure();
    AccFlags flags = op.getAcc().value_or(AccFlags::none);
    if (start)
      flags = flags | AccFlags::start;
    if (stop)
      flags = flags | AccFlags::stop;
    rewriter.modifyOpInPlace(op, [&] {
      op.setAccAttr(AccAttr::get(op.getContext(), flags));
      if (foldsStart)
        op.getStartIfMutable().clear();
      if (foldsStop)
        op.getStopIfMutable().clear();
    });
    return success();
  }

private:
  /// Whether `predicate` is there and constant; its value goes to `holds`.
  static bool matchConstant(Value predicate, bool &holds) {
    if (!predicate)
      return false;
    // The function of the MLIR library, not a matcher: a matcher is compiled
    // here, and where this library hides its symbols, as in a plugin, its id of
    // the constant trait is another than that of a library of another compiler.
    std::optional<int64_t> value = getConstantIntValue(predicate);
    holds = value && *value != 0;
    return value.has_value();
  }
};

} // namespace

void PTODialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<FoldConstantPredicate>(getContext());
}
