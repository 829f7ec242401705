//===- Bridge.h - Calls into the Rust core ----------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of rust/mlir/src/bridge.rs for code without exceptions: what
// they throw is a message in the result here.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_BRIDGE_BRIDGE_H
#define PTO_BRIDGE_BRIDGE_H

#include "mlir/IR/Operation.h"
#include "pto-mlir/src/bridge.rs.h"
#include <string>

namespace mlir::pto {

/// What a call gave: an outcome, or what is wrong with the callee.
struct PassResult {
  pto_rust::Outcome outcome;
  /// Empty unless the callee is at fault.
  std::string fault;
};

/// The name of the machine `function` is compiled for: `option`, or what the
/// operations around it say; empty for the default.
std::string getTargetName(Operation *function, StringRef option = {});

/// What is wrong with `options` for `pass`; empty if nothing is.
std::string validateOptions(pto_rust::Pass pass,
                            const pto_rust::Options &options);

/// Runs `pass` on the function-like operation `function` for the target called
/// `target`. No other thread may change the function meanwhile.
PassResult runOnFunction(pto_rust::Pass pass, Operation *function,
                         StringRef target, const pto_rust::Options &options);

/// Compares the values of `function` with those of `original`, another
/// function of the same context. `sticky` also runs the machine whose pending
/// bits outlive the writes of other engines.
PassResult compareFunctions(Operation *original, Operation *function,
                            StringRef target, bool sticky);

/// Whether somebody asked for remarks of `category`: making them takes time.
bool wantsRemarks(Operation *root, StringRef category);

/// Prints what a run on `function` has to say. `category` is that of remarks.
void printMessages(const PassResult &result, Operation *function,
                   StringRef category);

/// Runs `module` as the command line `args` of pto-run says, on `inputs`, and
/// prints its diagnostics.
pto_rust::RunOutcome interpret(Operation *module,
                               rust::Slice<const rust::String> args,
                               rust::Slice<const pto_rust::Buffer> inputs);

} // namespace mlir::pto

#endif // PTO_BRIDGE_BRIDGE_H
