//===- Run.h - The interpreter for C++ --------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_BRIDGE_RUN_H
#define PTO_BRIDGE_RUN_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlir::pto {

/// A command line of pto-run, read.
struct RunRequest {
  /// The file to run; empty if there is nothing to run.
  std::string file;
  /// Otherwise the exit status, and what to print to standard output or error.
  int status = 0;
  std::string text;
  bool isError = false;
};

/// Reads a command line, the first argument being the name of the program.
RunRequest parseRunArguments(ArrayRef<char *> arguments);

/// Runs `module` as the command line says: prints diagnostics and output, and
/// returns the exit status.
int runModule(Operation *module, ArrayRef<char *> arguments);

} // namespace mlir::pto

#endif // PTO_BRIDGE_RUN_H
