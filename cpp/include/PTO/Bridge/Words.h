//===- Words.h - Command words of the tile ISA ------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_BRIDGE_WORDS_H
#define PTO_BRIDGE_WORDS_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::pto {

/// Writes the command words of the tile operations in `module` to `output`.
/// What has none is an error there.
LogicalResult exportTileWords(Operation *module, raw_ostream &output);

/// The module, as text, of the operations whose command words are `words`.
/// Errors are emitted at the start of the file `name`.
FailureOr<std::string> importTileWords(MLIRContext *context, StringRef name,
                                       StringRef words);

} // namespace mlir::pto

#endif // PTO_BRIDGE_WORDS_H
