//===- PTOAttributes.h - Attributes and types of pto ------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOATTRIBUTES_H
#define PTO_IR_PTOATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Types.h"

#include "PTO/IR/PTOEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "PTO/IR/PTOAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "PTO/IR/PTOTypes.h.inc"

namespace mlir::pto {

/// The memory space of `type`: hbm where none is named, nothing where it is
/// another dialect's.
std::optional<MemorySpace> getMemorySpace(BaseMemRefType type);

/// Whether `space` holds tile registers of the tile ISA.
inline bool isTileSpace(MemorySpace space) {
  return space >= MemorySpace::cube_m16;
}

/// Parses the word that names an engine.
ParseResult parseEngineWord(AsmParser &parser, Engine &engine);

} // namespace mlir::pto

#endif // PTO_IR_PTOATTRIBUTES_H
