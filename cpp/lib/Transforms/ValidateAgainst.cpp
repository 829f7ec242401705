//===- ValidateAgainst.cpp - Two modules, the same values -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// pto-validate-against reads a second module, or is given one, and pairs its
// functions with those it runs on, by their symbols. Whether two functions give
// the same values is decided in Rust.
//
//===----------------------------------------------------------------------===//

#include "PTO/Bridge/Bridge.h"
#include "PTO/IR/PTODialect.h"
#include "PTO/Transforms/Passes.h"
#include "Roots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pto {
#define GEN_PASS_DEF_PTOVALIDATEAGAINST
#include "PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

using namespace mlir;
using namespace mlir::pto;
namespace bridge = pto_rust;

/// The symbols of the operations around `function` and its own, outermost
/// first, as a reference: `@module::@function`. From `end` on they are left
/// out.
static std::string getSymbolPath(Operation *function,
                                 Operation *end = nullptr) {
  SmallVector<std::string> names;
  for (Operation *op = function; op != end; op = op->getParentOp())
    if (auto name =
            op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      names.push_back("@" + name.str());
  return llvm::join(llvm::reverse(names), "::");
}

namespace {
struct ValidateAgainst
    : mlir::pto::impl::PTOValidateAgainstBase<ValidateAgainst> {
  using PTOValidateAgainstBase::PTOValidateAgainstBase;

  ValidateAgainst(Operation *original, PTOValidateAgainstOptions options)
      : PTOValidateAgainstBase(std::move(options)), original(original) {}

  /// A file name alone stands for `against=` and the name.
  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override {
    StringRef first = options.ltrim().split(' ').first;
    bool isName = !first.empty() && !first.contains('=') && first != "sticky";
    std::string text = ((isName ? "against=" : "") + options.ltrim()).str();
    return PTOValidateAgainstBase::initializeOptions(text, errorHandler);
  }

  /// Reads the other module here, where dialects may still be loaded.
  LogicalResult initialize(MLIRContext *context) override {
    auto refuse = [&](const Twine &sentence) {
      return emitError(UnknownLoc::get(context))
             << getArgument() << ": " << sentence;
    };
    bridge::Options options{};
    options.target = target.getValue();
    std::string problem = validateOptions(bridge::Pass::VerifyAcc, options);
    if (!problem.empty())
      return refuse(problem);
    if (original && !parsed)
      return initializeGiven(context, refuse);
    if (against.empty())
      return refuse("option `against`: expected the file with the original, "
                    "found none [pto:option]");
    parsed = std::make_shared<OwningOpRef<ModuleOp>>(
        parseSourceFile<ModuleOp>(against, ParserConfig(context)));
    if (!*parsed)
      return refuse("cannot read the original `" + against.getValue() +
                    "` [pto:against]");
    original = parsed->get();
    return success();
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    SmallVector<Operation *> originals = getFunctions(original);
    llvm::StringMap<Operation *> unpaired;
    for (Operation *function : originals)
      unpaired[getName(function, original)] = function;
    SmallVector<Operation *> functions = getFunctions(root);
    SmallVector<Operation *> partners(functions.size());
    for (auto [function, partner] : llvm::zip_equal(functions, partners)) {
      auto found = unpaired.find(getName(function, root));
      if (found == unpaired.end())
        continue;
      partner = found->second;
      unpaired.erase(found);
    }
    std::vector<PassResult> results(functions.size());
    parallelFor(root->getContext(), 0, functions.size(), [&](size_t index) {
      Operation *function = functions[index];
      if (partners[index])
        results[index] = compareFunctions(
            partners[index], function, getTargetName(function, target), sticky);
    });
    // Printed in the order of the functions, whatever thread they ran on.
    for (auto [function, partner, result] :
         llvm::zip_equal(functions, partners, results)) {
      if (!partner)
        reportExtra(function);
      printMessages(result, function, "pto.validate-against");
      if (result.outcome.failed)
        signalPassFailure();
    }
    bool seesAll = functions.empty() || functions.front() != root;
    for (Operation *function : originals)
      if (seesAll && unpaired.count(getName(function, original)))
        reportMissing(root, function);
    markAllAnalysesPreserved();
  }

private:
  /// The original was given, not read from a file.
  LogicalResult
  initializeGiven(MLIRContext *context,
                  function_ref<LogicalResult(const Twine &)> refuse) {
    if (!against.empty())
      return refuse("option `against`: expected none, as the original was "
                    "given, found `" +
                    against.getValue() + "` [pto:option]");
    if (original->getContext() != context)
      return refuse("expected the original in the context of the result, found "
                    "it in another [pto:against]");
    return success();
  }

  /// What pairs functions. A pass may run on a part of what a file holds, so
  /// names are whole there. An original that was given stands for what it is
  /// compared with, wherever each of the two is kept and whatever it is called.
  std::string getName(Operation *function, Operation *root) {
    if (parsed)
      return getSymbolPath(function);
    if (function != root)
      return getSymbolPath(function, root);
    bool areFunctions = isa<FunctionOpInterface>(original) &&
                        isa<FunctionOpInterface>(getOperation());
    return areFunctions ? "" : getSymbolPath(function, root->getParentOp());
  }

  void reportExtra(Operation *function) {
    InFlightDiagnostic diagnostic =
        emitError(function->getLoc())
        << "expected only functions of the original, found `"
        << getSymbolPath(function) << "` [pto:other-functions]";
    diagnostic.attachNote(original->getLoc()) << "the original is here";
    signalPassFailure();
  }

  void reportMissing(Operation *root, Operation *missing) {
    InFlightDiagnostic diagnostic =
        emitError(root->getLoc())
        << "expected every function of the original, found no `"
        << getSymbolPath(missing) << "` [pto:other-functions]";
    diagnostic.attachNote(missing->getLoc()) << "the original has it here";
    signalPassFailure();
  }

  /// The module that was read; the copies that a pass manager makes of the pass
  /// for its threads share it.
  std::shared_ptr<OwningOpRef<ModuleOp>> parsed;
  /// What is compared with: that module, or what was given.
  Operation *original = nullptr;
};
} // namespace

std::unique_ptr<Pass>
mlir::pto::createValidateAgainstPass(Operation *original,
                                     PTOValidateAgainstOptions options) {
  return std::make_unique<ValidateAgainst>(original, std::move(options));
}
