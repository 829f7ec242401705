//===- BareFlags.h - Passes of a plugin as command line flags ---*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_PLUGIN_BAREFLAGS_H
#define PTO_PLUGIN_BAREFLAGS_H

namespace mlir::pto {

/// Makes `--pto-legalize-acc`, `--pto-legalize-acc='target=trn3'` and the like
/// flags of the host, in any mix with its own pass flags.
void registerBareFlags();

} // namespace mlir::pto

#endif // PTO_PLUGIN_BAREFLAGS_H
