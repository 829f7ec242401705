//===- PTO.cpp - C API of passes and interpreter --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pto-c/PTO.h"
#include "PTO/Execution/Run.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <mutex>
#include <optional>

using namespace mlir;

namespace {
/// Turns the diagnostics of one call into text, if there is a callback for
/// them.
class Diagnostics {
public:
  Diagnostics(MLIRContext *context, MlirStringCallback callback, void *userData)
      : callback(callback), userData(userData) {
    if (callback)
      handler.emplace(context,
                      [this](Diagnostic &diagnostic) { print(diagnostic); });
  }

private:
  static StringRef toText(DiagnosticSeverity severity) {
    switch (severity) {
    case DiagnosticSeverity::Error:
      return "error";
    case DiagnosticSeverity::Warning:
      return "warning";
    case DiagnosticSeverity::Remark:
      return "remark";
    case DiagnosticSeverity::Note:
      return "note";
    }
    return "";
  }

  static void print(llvm::raw_ostream &stream, const Diagnostic &diagnostic) {
    stream << toText(diagnostic.getSeverity()) << ": "
           << diagnostic.getLocation() << ": " << diagnostic.str() << "\n";
  }

  void print(const Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    print(stream, diagnostic);
    for (const Diagnostic &note : diagnostic.getNotes())
      print(stream << "  ", note);
    // Passes may speak from several threads.
    std::lock_guard<std::mutex> lock(mutex);
    callback(mlirStringRefCreate(text.data(), text.size()), userData);
  }

  MlirStringCallback callback;
  void *userData;
  std::mutex mutex;
  std::optional<ScopedDiagnosticHandler> handler;
};
} // namespace

const char *ptoVersion(void) { return PTO_VERSION; }

void ptoRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    if (PassInfo::lookup("pto-legalize-acc"))
      return;
    pto::registerPTOPasses();
    pto::registerPTOPipelines();
  });
}

/// Appends the pass called `name`; what is wrong goes to `sink`.
static LogicalResult addPass(OpPassManager &manager, StringRef name,
                             StringRef options,
                             function_ref<void(const Twine &)> sink) {
  ptoRegisterPasses();
  const PassInfo *info = PassInfo::lookup(name);
  if (!info || !name.starts_with("pto-")) {
    sink("there is no pass called " + name);
    return failure();
  }
  return info->addToPipeline(manager, options, [&](const Twine &problem) {
    sink(name + ": " + problem);
    return failure();
  });
}

MlirLogicalResult ptoPassManagerAddPass(MlirOpPassManager manager,
                                        MlirStringRef name,
                                        MlirStringRef options,
                                        MlirStringCallback diagnostics,
                                        void *userData) {
  return wrap(addPass(
      *unwrap(manager), unwrap(name), unwrap(options),
      [&](const Twine &problem) {
        std::string text = problem.str();
        if (diagnostics)
          diagnostics(mlirStringRefCreate(text.data(), text.size()), userData);
      }));
}

/// Runs one pass over `root`.
static MlirLogicalResult runPass(MlirOperation root, StringRef name,
                                 MlirStringRef options,
                                 MlirStringCallback callback, void *userData) {
  Operation *op = unwrap(root);
  Diagnostics diagnostics(op->getContext(), callback, userData);
  PassManager manager(op->getName());
  LogicalResult added =
      addPass(manager, name, unwrap(options),
              [&](const Twine &problem) { emitError(op->getLoc(), problem); });
  return wrap(success(succeeded(added) && succeeded(manager.run(op))));
}

MlirLogicalResult ptoLegalizeAcc(MlirOperation root, MlirStringRef options,
                                 MlirStringCallback diagnostics,
                                 void *userData) {
  return runPass(root, "pto-legalize-acc", options, diagnostics, userData);
}

MlirLogicalResult ptoVerifyAcc(MlirOperation root, MlirStringRef options,
                               MlirStringCallback diagnostics, void *userData) {
  return runPass(root, "pto-verify-acc", options, diagnostics, userData);
}

MlirLogicalResult ptoValidateAgainst(MlirOperation original, MlirOperation root,
                                     MlirStringRef options,
                                     MlirStringCallback callback,
                                     void *userData) {
  Operation *op = unwrap(root);
  Diagnostics diagnostics(op->getContext(), callback, userData);
  std::unique_ptr<Pass> pass = pto::createValidateAgainstPass(unwrap(original));
  LogicalResult parsed =
      pass->initializeOptions(unwrap(options), [&](const Twine &problem) {
        return emitError(op->getLoc(), "pto-validate-against: " + problem);
      });
  if (failed(parsed))
    return mlirLogicalResultFailure();
  PassManager manager(op->getName());
  manager.addPass(std::move(pass));
  return wrap(manager.run(op));
}

static pto::RunArray toArray(const PtoArray &input) {
  pto::RunArray array;
  array.number = input.number;
  array.sizes.assign(input.sizes, input.sizes + input.rank);
  const auto *bytes = static_cast<const uint8_t *>(input.data);
  array.bytes.assign(bytes, bytes + input.size);
  return array;
}

static PtoArray fromArray(const pto::RunArray &value) {
  return {static_cast<intptr_t>(value.number),
          value.isResult,
          mlirStringRefCreate(value.element.data(), value.element.size()),
          static_cast<intptr_t>(value.sizes.size()),
          value.sizes.data(),
          value.bytes.data(),
          value.bytes.size()};
}

int ptoRun(MlirOperation module, const PtoRun *run) {
  Operation *op = unwrap(module);
  Diagnostics diagnostics(op->getContext(), run->diagnostics, run->userData);
  SmallVector<StringRef> options;
  for (intptr_t i = 0; i < run->numOptions; ++i)
    options.push_back(unwrap(run->options[i]));
  SmallVector<pto::RunArray> inputs;
  for (intptr_t i = 0; i < run->numInputs; ++i)
    inputs.push_back(toArray(run->inputs[i]));
  pto::RunResult result = pto::run(op, options, inputs);
  if (run->output && !result.output.empty())
    run->output(mlirStringRefCreate(result.output.data(), result.output.size()),
                run->userData);
  if (run->values)
    for (const pto::RunArray &value : result.values) {
      PtoArray array = fromArray(value);
      run->values(&array, run->userData);
    }
  return result.status;
}
