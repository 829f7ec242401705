//===- Words.cpp - Command words of the tile ISA --------------------------===//
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

#include "PTO/Bridge/Words.h"
#include "PTO/Bridge/Bridge.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
namespace bridge = pto_rust;

LogicalResult mlir::pto::exportTileWords(Operation *module,
                                         raw_ostream &output) {
  PassResult result;
  bridge::Words words;
  try {
    words = bridge::exportWords(reinterpret_cast<size_t>(module));
  } catch (const rust::Error &error) {
    return emitError(module->getLoc(), error.what());
  }
  result.outcome.failed = !words.messages.empty();
  result.outcome.messages = std::move(words.messages);
  printMessages(result, module, "pto.tile-words");
  output << StringRef(words.text.data(), words.text.size());
  return failure(result.outcome.failed);
}

FailureOr<std::string> mlir::pto::importTileWords(MLIRContext *context,
                                                  StringRef name,
                                                  StringRef words) {
  Location start = FileLineColLoc::get(context, name, 1, 1);
  try {
    rust::String text =
        bridge::importWords(rust::Str(words.data(), words.size()));
    return std::string(text.data(), text.size());
  } catch (const std::exception &error) {
    return emitError(start, error.what());
  }
}
