//===- pto-lsp-server.cpp - mlir-lsp-server with the pto dialect ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::pto::registerToolDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
