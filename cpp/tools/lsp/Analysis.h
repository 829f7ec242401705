//===- Analysis.h - What an editor is told of a document --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_TOOLS_LSP_ANALYSIS_H
#define PTO_TOOLS_LSP_ANALYSIS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace mlir::pto {

/// What pto-verify-acc says of `text`, as diagnostics of the language server
/// protocol for the document `uri`. Empty where it cannot be parsed or is not
/// valid: that is what upstream's server tells. A document of several modules,
/// separated by `// -----`, is looked at module by module.
llvm::json::Array findProblems(const DialectRegistry &registry, StringRef text,
                               StringRef uri);

/// What is to be told of the matmul at `line` and `character` of `text`, both
/// from 0, as Markdown; empty if there is none.
std::string explainAt(const DialectRegistry &registry, StringRef text,
                      unsigned line, unsigned character);

} // namespace mlir::pto

#endif // PTO_TOOLS_LSP_ANALYSIS_H
