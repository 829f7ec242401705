//===- Contraction.h - Contractions that the PE array can do ----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of a linalg operation before anything is changed: whether it is
// a contraction of the PE array, of which dimensions and types, and what its
// output holds before it.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_CONVERSION_LINALGTOPTO_CONTRACTION_H
#define PTO_CONVERSION_LINALGTOPTO_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir {
class AliasAnalysis;
class RewriterBase;
} // namespace mlir

namespace mlir::pto::conversion {

/// `out[batch, m, n] += sum over k of lhs[batch, k, m] * rhs[batch, k, n]`,
/// each operand with its dimensions in any order. Dimensions are numbers of
/// loops of `op`.
struct Contraction {
  linalg::LinalgOp op;
  /// The number of iterations of each loop.
  SmallVector<int64_t> extents;
  /// The loops that are tiled: rows and columns of the PE array, and the
  /// columns that move through it. Nothing where a vector takes the place of a
  /// matrix.
  std::optional<unsigned> k, m, n;
  /// The other loops, which take single steps: those of m, of n (with the
  /// batches before them), and of k. All in ascending order.
  SmallVector<unsigned> outerM, outerN, outerK;
  /// What the operands are in SBUF, and the sums in PSUM.
  Type lhsType, rhsType, sumType;

  OpOperand *lhs() { return op.getDpsInputOperand(0); }
  OpOperand *rhs() { return op.getDpsInputOperand(1); }
  OpOperand *out() { return op.getDpsInitOperand(0); }
};

/// Why an operation stays as it is.
struct Refusal {
  /// A sentence with its tag.
  std::string reason;
  /// Whether the operation is one that a user expects to be converted.
  bool isWarning = false;
};

/// Reads `op` as a contraction; on failure says in `refusal` why it is none
/// that this conversion does.
FailureOr<Contraction>
matchContraction(linalg::LinalgOp op, AliasAnalysis &aliases, Refusal &refusal);

/// Makes one loop of neighbouring loops that every operand has as neighbouring
/// dimensions, or not at all, as far as the buffers' layouts allow. Larger
/// loops fill larger tiles. Replaces the operation of `contraction` if it can.
void collapseLoops(RewriterBase &rewriter, Contraction &contraction);

/// What the output of a contraction holds before it.
struct InitialValue {
  /// What makes it zero, if it is: a fill, or a copy of zeros, of which front
  /// ends make one for all.
  Operation *zeroMaker = nullptr;
  /// Whether something beside the contraction reads what that wrote.
  bool isReadElsewhere = false;
};

/// Looks back from `contraction` for what makes its output zero, with nothing
/// that overwrites it in between.
InitialValue findInitialValue(Contraction &contraction, AliasAnalysis &aliases);

} // namespace mlir::pto::conversion

#endif // PTO_CONVERSION_LINALGTOPTO_CONTRACTION_H
