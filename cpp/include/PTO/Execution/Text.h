//===- Text.h - Passes and interpreter on text ------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Rust calls of C++: text in, text out, a context of its own each time.
// The structs are those of rust/mlir/src/bridge.rs.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_EXECUTION_TEXT_H
#define PTO_EXECUTION_TEXT_H

#include "rust/cxx.h"

namespace pto_rust {

struct Buffer;
struct TextOutcome;

/// Parses `text`, runs the passes of `pipeline` on it, and prints it. The
/// status is 0 if all went well, 1 if a pass failed, 2 if the text or the
/// pipeline cannot be read.
TextOutcome transformText(rust::Str text, rust::Str pipeline);

/// Parses `text` and runs it as the command line `args` of pto-run says, on
/// `inputs`. The status is that of pto-run.
TextOutcome interpretText(rust::Str text, rust::Slice<const rust::String> args,
                          rust::Slice<const Buffer> inputs);

} // namespace pto_rust

#endif // PTO_EXECUTION_TEXT_H
