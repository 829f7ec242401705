//===- pto-opt.cpp - mlir-opt with the pto dialect ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/Transforms/Passes.h"
#include "Tools.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::pto::registerToolDialects(registry);
  mlir::registerAllPasses();
  mlir::pto::registerPTOPasses();
  mlir::pto::registerPTOPipelines();
  return mlir::pto::runWithLargeStack([&] {
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, "pto optimizer driver\n", registry));
  });
}
