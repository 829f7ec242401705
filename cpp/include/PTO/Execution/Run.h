//===- Run.h - The interpreter for C++ --------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter runs a module under the reference meaning and on the machine,
// and compares every read, bit for bit. Options are those of the command line
// of pto-run, as `pto-run --help` lists them, and so is the status: 0 fine, 1
// an expectation, a comparison or a hazard failed, 2 the module cannot be run.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_EXECUTION_RUN_H
#define PTO_EXECUTION_RUN_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::pto {

/// The value of one argument or result: a memref, or a scalar, without sizes.
struct RunArray {
  /// Its number among the arguments, or among the results.
  size_t number = 0;
  bool isResult = false;
  /// The element type as MLIR spells it. Not looked at in an argument.
  std::string element;
  /// An argument may leave them out where its type has them.
  std::vector<uint64_t> sizes;
  /// The elements, little endian, row-major, without gaps.
  std::vector<uint8_t> bytes;
};

/// What a run gave. Diagnostics went to the context.
struct RunResult {
  int status = 0;
  /// What the options ask to print, --stats for one.
  std::string output;
  /// Memref arguments as the function left them, then results. Empty if the run
  /// did not come to its end.
  std::vector<RunArray> values;
};

/// Runs `module` with `inputs` as arguments; those without one are undefined,
/// or what the options say.
RunResult run(Operation *module, ArrayRef<StringRef> options = {},
              ArrayRef<RunArray> inputs = {});

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

#endif // PTO_EXECUTION_RUN_H
