//===- Roots.h - The functions that a pass runs on --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_TRANSFORMS_ROOTS_H
#define PTO_LIB_TRANSFORMS_ROOTS_H

#include "mlir/IR/Operation.h"

namespace mlir::pto {

/// `root` if it is a function, else the outermost functions inside it.
SmallVector<Operation *> getFunctions(Operation *root);

} // namespace mlir::pto

#endif // PTO_LIB_TRANSFORMS_ROOTS_H
