//===- pto-run.cpp - The interpreter of the pto dialect -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses a module and hands it to the interpreter, which is Rust: options and
// exit statuses are described in rust/mlir/src/run.
//
//===----------------------------------------------------------------------===//

#include "PTO/Execution/Run.h"
#include "Tools.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// The exit status of an input that cannot be run.
static constexpr int unusableInput = 2;

static int run(StringRef file, ArrayRef<char *> arguments) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &message);
  if (!buffer) {
    llvm::errs() << "pto-run: " << message << "\n";
    return unusableInput;
  }
  DialectRegistry registry;
  pto::registerToolDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return unusableInput;
  return pto::runModule(*module, arguments);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  ArrayRef<char *> arguments(argv, argc);
  pto::RunRequest request = pto::parseRunArguments(arguments);
  if (request.file.empty()) {
    (request.isError ? llvm::errs() : llvm::outs()) << request.text;
    return request.status;
  }
  return pto::runWithLargeStack([&] { return run(request.file, arguments); });
}
