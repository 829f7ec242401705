//===- Peeling.h - First and last iterations apart --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_TRANSFORMS_PEELING_H
#define PTO_LIB_TRANSFORMS_PEELING_H

#include "mlir/IR/Operation.h"

namespace mlir::pto {

/// What peeling did.
struct Peeling {
  /// Whether any loop was peeled.
  bool isPeeled = false;
  /// The loops that add to a buffer from outside of them and stay, with the
  /// reason.
  SmallVector<std::pair<Location, StringRef>> left;
};

/// Writes the first and the last iteration apart of every loop in `function`
/// that adds to a buffer from outside of it, so that START and STOP are flags
/// and not predicates: of `scf.for` and `affine.for` of constant bounds. Other
/// loops stay.
Peeling peelAccumulationLoops(Operation *function);

} // namespace mlir::pto

#endif // PTO_LIB_TRANSFORMS_PEELING_H
