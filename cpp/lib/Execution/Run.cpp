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

#include "PTO/Execution/Run.h"
#include "PTO/Bridge/Bridge.h"
#include "mlir/IR/Diagnostics.h"
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

/// What `call` gave; its diagnostics are printed, at `module` if it was at
/// fault.
template <typename Call>
static bridge::RunOutcome guarded(Operation *module, Call call) {
  bridge::RunOutcome outcome;
  try {
    outcome = call(reinterpret_cast<size_t>(module));
  } catch (const rust::Error &error) {
    emitError(module->getLoc(), error.what());
    outcome.status = unusableInput;
  }
  for (const bridge::Message &message : outcome.messages)
    print(message);
  return outcome;
}

int mlir::pto::runModule(Operation *module, ArrayRef<char *> arguments) {
  std::vector<rust::String> strings = toRust(arguments);
  bridge::RunOutcome outcome = guarded(module, [&](size_t address) {
    return bridge::runModule(address, slice(strings));
  });
  llvm::outs() << toString(outcome.output);
  return outcome.status;
}

static bridge::Buffer toRust(const pto::RunArray &array) {
  bridge::Buffer buffer;
  buffer.number = array.number;
  buffer.is_result = array.isResult;
  llvm::copy(array.sizes, std::back_inserter(buffer.sizes));
  buffer.bytes.reserve(array.bytes.size());
  llvm::copy(array.bytes, std::back_inserter(buffer.bytes));
  return buffer;
}

static pto::RunArray fromRust(const bridge::Buffer &buffer) {
  return {buffer.number,
          buffer.is_result,
          toString(buffer.element),
          {buffer.sizes.begin(), buffer.sizes.end()},
          {buffer.bytes.begin(), buffer.bytes.end()}};
}

bridge::RunOutcome
mlir::pto::interpret(Operation *module, rust::Slice<const rust::String> args,
                     rust::Slice<const bridge::Buffer> inputs) {
  return guarded(module, [&](size_t address) {
    return bridge::runModuleOn(address, args, inputs);
  });
}

mlir::pto::RunResult mlir::pto::run(Operation *module,
                                    ArrayRef<StringRef> options,
                                    ArrayRef<RunArray> inputs) {
  // A command line names the program and the file.
  std::vector<rust::String> strings = {"pto-run", "-"};
  for (StringRef option : options)
    strings.push_back(rust::String::lossy(option.data(), option.size()));
  std::vector<bridge::Buffer> buffers;
  llvm::transform(inputs, std::back_inserter(buffers),
                  [](const RunArray &array) { return toRust(array); });
  bridge::RunOutcome outcome =
      interpret(module, slice(strings), {buffers.data(), buffers.size()});
  RunResult result{outcome.status, toString(outcome.output), {}};
  llvm::transform(outcome.values, std::back_inserter(result.values), fromRust);
  return result;
}
