//===- pto-translate.cpp - Command words of the tile ISA ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-translate with two translations: a module to the command words of its
// tile operations, and back. docs/tile-words.md describes the format.
//
//===----------------------------------------------------------------------===//

#include "PTO/Bridge/Words.h"
#include "Tools.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// The module whose command words are in the main buffer of `sources`.
static OwningOpRef<Operation *> fromTileWords(llvm::SourceMgr &sources,
                                              MLIRContext *context) {
  const llvm::MemoryBuffer *words =
      sources.getMemoryBuffer(sources.getMainFileID());
  StringRef name = words->getBufferIdentifier();
  FailureOr<std::string> text =
      pto::importTileWords(context, name, words->getBuffer());
  if (failed(text))
    return {};
  // What the operations break is said by their verifiers, about their text.
  llvm::SourceMgr generated;
  generated.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(*text, "<from tile words>"),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(generated, context);
  return parseSourceFile<ModuleOp>(generated, context);
}

int main(int argc, char **argv) {
  TranslateFromMLIRRegistration toWords(
      "pto-to-tile-words",
      "command words of the tile operations of legalized functions, as JSON",
      [](Operation *module, llvm::raw_ostream &output) {
        return pto::exportTileWords(module, output);
      },
      [](DialectRegistry &registry) { pto::registerToolDialects(registry); });
  TranslateToMLIRRegistration fromWords(
      "pto-from-tile-words", "the tile operations of command words",
      [](llvm::SourceMgr &sources, MLIRContext *context) {
        return fromTileWords(sources, context);
      },
      [](DialectRegistry &registry) { pto::registerToolDialects(registry); });
  return pto::runWithLargeStack([&] {
    return failed(mlirTranslateMain(argc, argv, "pto translation driver\n"));
  });
}
