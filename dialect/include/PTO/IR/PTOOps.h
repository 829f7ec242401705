//===- PTOOps.h - Operations of the pto dialect -----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTOOPS_H
#define PTO_IR_PTOOPS_H

#include "PTO/IR/PTOAttributes.h"
#include "PTO/IR/PTODialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::pto {

/// What PSUM allocations allocate from, and where START may change any cell.
struct PsumResource : SideEffects::Resource::Base<PsumResource> {
  StringRef getName() final { return "PSUM"; }
};

/// What SBUF allocations allocate from.
struct SbufResource : SideEffects::Resource::Base<SbufResource> {
  StringRef getName() final { return "SBUF"; }
};

class EngineOpInterface;
class MatmulOpInterface;

namespace common {

/// The facts of one instruction: its tokens and its marks.
LogicalResult verifyEngineOp(EngineOpInterface op);

/// The facts of one matmul, whatever its variant.
LogicalResult verifyMatmul(MatmulOpInterface op);

using InherentAttributeVerifier = LogicalResult (*)(
    OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>);

/// Parses the attribute dictionary of the operation `name` into `attributes`.
/// Of `inherentNames` only those that no clause says may stand there.
ParseResult parseDictionary(OpAsmParser &parser, NamedAttrList &attributes,
                            StringRef name, ArrayRef<StringRef> inherentNames,
                            InherentAttributeVerifier verifyInherent);

/// Prints `attributes` without those that a clause says.
void printDictionary(OpAsmPrinter &printer, DictionaryAttr attributes,
                     ArrayRef<StringRef> inherentNames);

} // namespace common
} // namespace mlir::pto

#include "PTO/IR/PTOInterfaces.h.inc"

#define GET_OP_CLASSES
#include "PTO/IR/PTOOps.h.inc"

#endif // PTO_IR_PTOOPS_H
