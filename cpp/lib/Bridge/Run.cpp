//===- Run.cpp - The interpreter for C++ ----------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with exceptions, as Bridge.cpp is: errors of Rust arrive as
// rust::Error, and none leaves this file.
//
//===----------------------------------------------------------------------===//

#include "PTO/Bridge/Run.h"
#include "mlir/IR/Diagnostics.h"
#include "pto-mlir/src/bridge.rs.h"
#include "rust/cxx.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace bridge = pto_rust;

/// The exit status of an input that cannot be run.
static constexpr int unusableInput = 2;

static std::vector<rust::String> toRust(ArrayRef<char *> arguments) {
  std::vector<rust::String> strings;
  for (const char *argument : arguments)
    strings.push_back(rust::String::lossy(argument));
  return strings;
}

static rust::Slice<const rust::String>
slice(const std::vector<rust::String> &strings) {
  return {strings.data(), strings.size()};
}

static std::string toString(const rust::String &text) {
  return std::string(text.data(), text.size());
}

static Location toLocation(size_t address) {
  return Location::getFromOpaquePointer(reinterpret_cast<void *>(address));
}

static void print(const bridge::Message &message) {
  Location location = toLocation(message.location);
  DiagnosticSeverity severity = message.severity == bridge::Severity::Error
                                    ? DiagnosticSeverity::Error
                                : message.severity == bridge::Severity::Warning
                                    ? DiagnosticSeverity::Warning
                                    : DiagnosticSeverity::Remark;
  InFlightDiagnostic diagnostic =
      location.getContext()->getDiagEngine().emit(location, severity);
  diagnostic << toString(message.text);
  for (const bridge::Note &note : message.notes)
    diagnostic.attachNote(toLocation(note.location)) << toString(note.text);
}

mlir::pto::RunRequest mlir::pto::parseRunArguments(ArrayRef<char *> arguments) {
  std::vector<rust::String> strings = toRust(arguments);
  bridge::RunRequest request = bridge::parseRunArguments(slice(strings));
  return {toString(request.file), request.status, toString(request.text),
          request.is_error};
}

int mlir::pto::runModule(Operation *module, ArrayRef<char *> arguments) {
  std::vector<rust::String> strings = toRust(arguments);
  bridge::RunOutcome outcome;
  try {
    outcome =
        bridge::runModule(reinterpret_cast<size_t>(module), slice(strings));
  } catch (const rust::Error &error) {
    emitError(module->getLoc(), error.what());
    return unusableInput;
  }
  for (const bridge::Message &message : outcome.messages)
    print(message);
  llvm::outs() << toString(outcome.output);
  return outcome.status;
}
