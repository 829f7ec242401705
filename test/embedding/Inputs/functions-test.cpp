//===- functions-test.cpp - The verifier and validator as functions -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pto-functions-test ORIGINAL RESULT [OPTIONS]
//
// Asks the functions of the installed headers, in C++ and in C, about two
// modules, and says what each answered.
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTODialect.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "pto-c/PTO.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static void say(StringRef function, LogicalResult result) {
  llvm::outs() << function << ": " << (succeeded(result) ? "yes" : "no")
               << "\n";
}

static void print(MlirStringRef text, void *) { llvm::outs() << unwrap(text); }

/// One function of each module on its own, whatever they are called.
static void askAboutFirst(ModuleOp original, ModuleOp result) {
  auto before = *original.getOps<func::FuncOp>().begin();
  auto after = *result.getOps<func::FuncOp>().begin();
  OwningOpRef<func::FuncOp> renamed = before.clone();
  renamed->setSymName("another_name");
  say("validateAgainst, one function",
      pto::validateAgainst(renamed->getOperation(), after));
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<pto::PTODialect, arith::ArithDialect, func::FuncDialect,
                  memref::MemRefDialect>();
  MLIRContext context(registry), other(registry);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    llvm::outs() << "  " << diagnostic << "\n";
  });
  auto original = parseSourceFile<ModuleOp>(argv[1], &context);
  auto result = parseSourceFile<ModuleOp>(argv[2], &context);
  auto foreign = parseSourceFile<ModuleOp>(argv[1], &other);
  if (!original || !result || !foreign)
    return 2;
  say("verifyAcc", pto::verifyAcc(*result));
  say("validateAgainst", pto::validateAgainst(*original, *result));
  askAboutFirst(*original, *result);
  say("validateAgainst, another context",
      pto::validateAgainst(*foreign, *result));
  pto::PTOValidateAgainstOptions file;
  file.against = argv[1];
  say("validateAgainst, a file too",
      pto::validateAgainst(*original, *result, file));

  auto toRef = [](StringRef text) {
    return mlirStringRefCreate(text.data(), text.size());
  };
  say("ptoVerifyAcc", unwrap(ptoVerifyAcc(wrap(result->getOperation()),
                                          toRef(""), print, nullptr)));
  say("ptoValidateAgainst",
      unwrap(ptoValidateAgainst(
          wrap(original->getOperation()), wrap(result->getOperation()),
          toRef(argc > 3 ? argv[3] : ""), print, nullptr)));
}
