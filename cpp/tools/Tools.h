//===- Tools.h - What the tools share ---------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_TOOLS_TOOLS_H
#define PTO_TOOLS_TOOLS_H

#include "PTO/IR/PTODialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/ProgramStack.h"

namespace mlir::pto {

/// Every dialect a tool understands: upstream's and ours.
inline void registerToolDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<PTODialect>();
}

/// Runs `tool` with room for deeply nested regions: parsing and printing them
/// recurses. Memory is used only as far as the nesting goes.
template <typename Tool> int runWithLargeStack(Tool tool) {
  constexpr unsigned stackBytes = 1u << 30;
  int status = 1;
  llvm::runOnNewStack(stackBytes, [&] { status = tool(); });
  return status;
}

} // namespace mlir::pto

#endif // PTO_TOOLS_TOOLS_H
