//===- PTOAttributes.cpp - Attributes and types of pto --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOAttributes.h"
#include "PTO/IR/PTODialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pto;

#include "PTO/IR/PTOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "PTO/IR/PTOAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "PTO/IR/PTOTypes.cpp.inc"

std::optional<MemorySpace> mlir::pto::getMemorySpace(BaseMemRefType type) {
  Attribute space = type.getMemorySpace();
  if (!space)
    return MemorySpace::hbm;
  if (auto mem = dyn_cast<MemAttr>(space))
    return mem.getValue();
  return std::nullopt;
}

void PTODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "PTO/IR/PTOAttributes.cpp.inc"
      >();
}

void PTODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "PTO/IR/PTOTypes.cpp.inc"
      >();
}
