//===- Relay.h - A language server in front of another ----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's server has no place for what a dialect wants to say: hovering
// prints the operation, diagnostics are those of parser and verifier. So the
// messages between editor and server go through here. Everything is passed on
// as it is, but
//
// * the answer to textDocument/hover, which gets a paragraph;
// * textDocument/publishDiagnostics, which gets what pto-verify-acc finds.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_TOOLS_LSP_RELAY_H
#define PTO_TOOLS_LSP_RELAY_H

#include "mlir/IR/DialectRegistry.h"
#include <cstdio>

namespace mlir::pto {

/// The four ends of a relay.
struct RelayFiles {
  std::FILE *fromEditor, *toEditor, *fromServer, *toServer;
};

/// Passes messages on until the server ends its output.
void relay(const DialectRegistry &registry, const RelayFiles &files);

} // namespace mlir::pto

#endif // PTO_TOOLS_LSP_RELAY_H
