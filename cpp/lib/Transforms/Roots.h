//===- Roots.h - The functions that a pass runs on --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_TRANSFORMS_ROOTS_H
#define PTO_LIB_TRANSFORMS_ROOTS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::pto {

/// `root` if it is a function, else the outermost functions inside it.
SmallVector<Operation *> getFunctions(Operation *root);

/// The name of the machine `function` is compiled for: `option` if it is not
/// empty, else what is written around the function; empty for the default.
std::string getTarget(Operation *function, StringRef option);

} // namespace mlir::pto

#endif // PTO_LIB_TRANSFORMS_ROOTS_H
