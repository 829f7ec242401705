//===- Text.cpp - Passes and interpreter on text --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/Execution/Text.h"
#include "PTO/Bridge/Bridge.h"
#include "PTO/IR/PTODialect.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/ProgramStack.h"
#include "llvm/Support/SourceMgr.h"
#include <mutex>

using namespace mlir;
namespace bridge = pto_rust;

static StringRef toStringRef(rust::Str text) {
  return StringRef(text.data(), text.size());
}

static rust::String toRust(const llvm::Twine &text) {
  std::string string = text.str();
  return rust::String::lossy(string.data(), string.size());
}

static rust::String toRust(Location location) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = dyn_cast<FileLineColLoc>(location))
    stream << file.getLine() << ":" << file.getColumn();
  else
    stream << location;
  return toRust(text);
}

static bridge::Severity toRust(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return bridge::Severity::Error;
  case DiagnosticSeverity::Warning:
    return bridge::Severity::Warning;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return bridge::Severity::Remark;
  }
  return bridge::Severity::Error;
}

static bridge::TextMessage toRust(const Diagnostic &diagnostic) {
  bridge::TextMessage message;
  message.severity = toRust(diagnostic.getSeverity());
  message.location = toRust(diagnostic.getLocation());
  message.text = toRust(diagnostic.str());
  for (const Diagnostic &note : diagnostic.getNotes())
    message.notes.push_back({toRust(note.getLocation()), toRust(note.str())});
  return message;
}

namespace {
/// A context with every dialect, whose diagnostics go to an outcome.
class Session {
public:
  Session() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      outcome.messages.push_back(toRust(diagnostic));
      return success();
    });
  }

  /// Parses `text` and does `work` with it, with room for deep nesting.
  bridge::TextOutcome run(StringRef text,
                          llvm::function_ref<void(ModuleOp)> work) {
    constexpr unsigned stackBytes = 1u << 30;
    llvm::runOnNewStack(stackBytes, [&] {
      OwningOpRef<ModuleOp> module =
          parseSourceString<ModuleOp>(text, ParserConfig(&context));
      if (module)
        work(*module);
      else
        outcome.status = unusableInput;
    });
    return std::move(outcome);
  }

  static constexpr int unusableInput = 2;
  bridge::TextOutcome outcome;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registry.insert<pto::PTODialect>();
    return registry;
  }

  MLIRContext context;
};
} // namespace

/// Makes the passes known, once in a process.
static void registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerAllPasses();
    if (!PassInfo::lookup("pto-legalize-acc"))
      pto::registerPTOPasses();
  });
}

bridge::TextOutcome bridge::transformText(rust::Str text, rust::Str pipeline) {
  registerPasses();
  Session session;
  return session.run(toStringRef(text), [&](ModuleOp module) {
    PassManager manager(module->getName());
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (failed(parsePassPipeline(toStringRef(pipeline), manager, stream))) {
      emitError(module->getLoc(), StringRef(problem).trim());
      session.outcome.status = Session::unusableInput;
      return;
    }
    session.outcome.status = failed(manager.run(module));
    std::string result;
    llvm::raw_string_ostream printed(result);
    module->print(printed);
    session.outcome.text = toRust(result);
  });
}

bridge::TextOutcome
bridge::interpretText(rust::Str text, rust::Slice<const rust::String> args,
                      rust::Slice<const bridge::Buffer> inputs) {
  Session session;
  return session.run(toStringRef(text), [&](ModuleOp module) {
    bridge::RunOutcome outcome = pto::interpret(module, args, inputs);
    session.outcome.status = outcome.status;
    session.outcome.text = std::move(outcome.output);
    session.outcome.values = std::move(outcome.values);
  });
}
