//===- foreign-dialect.cpp - A dialect of another project -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect plugin whose dialect happens to be called `pto` too.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Dialect.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

namespace {
struct ForeignDialect : mlir::Dialect {
  explicit ForeignDialect(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                mlir::TypeID::get<ForeignDialect>()) {}
  static llvm::StringRef getDialectNamespace() { return "pto"; }

  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignDialect)
};
} // namespace

extern "C" mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ForeignDialect", "1",
          [](mlir::DialectRegistry *registry) {
            registry->insert<ForeignDialect>();
          }};
}
