//===- Functions.cpp - Passes as functions --------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

static LogicalResult run(Operation *root, std::unique_ptr<Pass> pass) {
  PassManager manager(root->getName());
  manager.addPass(std::move(pass));
  return manager.run(root);
}

LogicalResult mlir::pto::legalizeAcc(Operation *root,
                                     PTOLegalizeAccOptions options) {
  return run(root, createLegalizeAccPass(std::move(options)));
}

LogicalResult mlir::pto::verifyAcc(Operation *root,
                                   PTOVerifyAccOptions options) {
  return run(root, createVerifyAccPass(std::move(options)));
}

LogicalResult mlir::pto::validateAgainst(Operation *original, Operation *root,
                                         PTOValidateAgainstOptions options) {
  return run(root, createValidateAgainstPass(original, std::move(options)));
}
