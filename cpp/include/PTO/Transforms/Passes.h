//===- Passes.h - Passes of the pto dialect ---------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each pass of Passes.td a struct of options, PTO<Name>Options, and
// createPTO<Name>(options) to add it to a pipeline; registerPTOPasses() for
// pipelines in text.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_TRANSFORMS_PASSES_H
#define PTO_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::pto {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "PTO/Transforms/Passes.h.inc"

/// The pass that derives accumulation groups.
inline std::unique_ptr<Pass>
createLegalizeAccPass(PTOLegalizeAccOptions options = {}) {
  return createPTOLegalizeAcc(std::move(options));
}

/// The pass that proves flags right or says what breaks.
inline std::unique_ptr<Pass>
createVerifyAccPass(PTOVerifyAccOptions options = {}) {
  return createPTOVerifyAcc(std::move(options));
}

/// The pass that proves that what it runs on gives the same values as
/// `original`, which outlives it, is of the same context, and is isolated from
/// above. The option `against` stays empty.
std::unique_ptr<Pass>
createValidateAgainstPass(Operation *original,
                          PTOValidateAgainstOptions options = {});

/// Derives the accumulation groups of every function in `root`, which is
/// isolated from above. What is wrong is said in diagnostics; a function with
/// an error is as it was.
LogicalResult legalizeAcc(Operation *root, PTOLegalizeAccOptions options = {});

/// Whether the flags of every function in `root`, which is isolated from above,
/// are right. What breaks is said in diagnostics; nothing is changed.
LogicalResult verifyAcc(Operation *root, PTOVerifyAccOptions options = {});

/// Whether every value that `root` reads from PSUM is the one that `original`
/// means, bit for bit, for all inputs. Both are isolated from above and of one
/// context: two functions, or two modules, whose functions are paired by their
/// symbols. What differs is said in diagnostics; nothing is changed.
LogicalResult validateAgainst(Operation *original, Operation *root,
                              PTOValidateAgainstOptions options = {});

/// Registers `pto-pipeline`: all passes from linalg to verified flags.
void registerPTOPipelines();

} // namespace mlir::pto

#endif // PTO_TRANSFORMS_PASSES_H
