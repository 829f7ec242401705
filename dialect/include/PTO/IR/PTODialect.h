//===- PTODialect.h - The pto dialect ---------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTODIALECT_H
#define PTO_IR_PTODIALECT_H

#include "mlir/IR/Dialect.h"
#include <string>

#include "PTO/IR/PTODialect.h.inc"

namespace mlir::pto {

/// Registers the dialect. Fails, with one sentence in `problem`, where another
/// dialect of the same name is registered already: MLIR itself would abort.
LogicalResult registerPTODialect(DialectRegistry &registry,
                                 std::string &problem);

/// Loads the dialect. Fails, with one sentence in `problem`, where another
/// dialect of the same name is loaded already: MLIR itself would abort.
LogicalResult loadPTODialect(MLIRContext &context, std::string &problem);

} // namespace mlir::pto

#endif // PTO_IR_PTODIALECT_H
