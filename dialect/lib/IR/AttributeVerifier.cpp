//===- AttributeVerifier.cpp - Attributes of pto on other ops -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `pto.*` attributes on modules, functions and function arguments. Whatever is
// not in the dialect's table of them is an error: a misspelt attribute would
// otherwise be silently without effect.
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTOOps.h"
#include "Verification.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pto;

/// Marks what legalization added: operations of other dialects that compute a
/// predicate, and the cell of SBUF that orders blocks.
static constexpr StringLiteral kInsertedAttrName = "pto.inserted";

static LogicalResult failKind(Operation *op, NamedAttribute attribute,
                              const char *expected) {
  return op->emitError() << "expected " << attribute.getName().getValue()
                         << " to be " << expected << ", found "
                         << attribute.getValue() << " [pto:attribute]";
}

static LogicalResult failPlace(Operation *op, NamedAttribute attribute,
                               const char *expected) {
  return op->emitError() << "expected " << attribute.getName().getValue()
                         << " on " << expected << ", found it on '"
                         << op->getName() << "' [pto:attribute]";
}

static LogicalResult failUnknown(Operation *op, NamedAttribute attribute,
                                 const char *place) {
  return op->emitError() << "expected an attribute of pto for " << place
                         << ", found " << attribute.getName().getValue()
                         << " [pto:attribute]";
}

static LogicalResult verifyPsumBanks(Operation *op, NamedAttribute attribute) {
  auto banks = dyn_cast<DenseI32ArrayAttr>(attribute.getValue());
  if (!banks)
    return failKind(op, attribute, "an array<i32> of banks");
  int64_t count = getEffectiveTarget(op).banks;
  for (int32_t bank : banks.asArrayRef())
    if (bank < 0 || bank >= count)
      return op->emitError() << "expected banks from 0 to " << count - 1
                             << " in " << attribute.getName().getValue()
                             << ", found " << bank << " [pto:attribute]";
  return success();
}

LogicalResult PTODialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kTargetAttrName) {
    if (!isa<ModuleOp>(op))
      return failPlace(op, attribute, "a module");
    if (!isa<TargetAttr>(attribute.getValue()))
      return failKind(op, attribute, "a #pto.target");
    return success();
  }
  if (name == kInsertedAttrName) {
    bool isOwn = op->getDialect() == this && !isa<SbufAllocOp>(op);
    if (isOwn || op->getNumResults() != 1)
      return failPlace(op, attribute, "an operation that computes a value");
    if (!isa<UnitAttr>(attribute.getValue()))
      return failKind(op, attribute, "a unit attribute");
    return success();
  }
  bool isMark =
      name == kAccProvisionalAttrName || name == kAccLegalizedAttrName;
  if (!isMark && name != kPsumBanksAttrName)
    return failUnknown(op, attribute, "operations");
  if (!isa<FunctionOpInterface>(op))
    return failPlace(op, attribute, "a function");
  if (!isMark)
    return verifyPsumBanks(op, attribute);
  if (!isa<UnitAttr>(attribute.getValue()))
    return failKind(op, attribute, "a unit attribute");
  return success();
}

/// The number of the argument attribute `name`; nothing where it is absent or
/// of another kind, which is diagnosed when that attribute is verified.
static std::optional<int64_t> getNumber(FunctionOpInterface function,
                                        unsigned argument, StringRef name) {
  auto number = function.getArgAttrOfType<IntegerAttr>(argument, name);
  if (!number || !number.getType().isSignlessInteger(64))
    return std::nullopt;
  return number.getInt();
}

/// Verifies where the argument `argument` lies, as for a `pto.psum_alloc`.
static LogicalResult verifyArgumentPlacement(FunctionOpInterface function,
                                             unsigned argument,
                                             MemRefType type) {
  auto emitError = [&] {
    return function->emitError() << "argument " << argument << ": ";
  };
  const TargetInfo &target = getEffectiveTarget(function);
  if (failed(common::verifyAllocatable(emitError, target, type,
                                       MemorySpace::psum)))
    return failure();
  common::Placement placement{
      getNumber(function, argument, PTODialect::kBankAttrName),
      getNumber(function, argument, PTODialect::kOffsetAttrName),
      getNumber(function, argument, PTODialect::kPartitionAttrName)};
  return common::verifyPsumPlacement(emitError, target, type, placement);
}

LogicalResult PTODialect::verifyRegionArgAttribute(Operation *op,
                                                   unsigned regionIndex,
                                                   unsigned argument,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool isPlacement = name == kBankAttrName || name == kOffsetAttrName ||
                     name == kPartitionAttrName;
  bool isNoAlias = name == kNoAliasAttrName;
  if (!isPlacement && !isNoAlias && name != kFreshAttrName)
    return failUnknown(op, attribute, "arguments");
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || argument >= function.getNumArguments())
    return failPlace(op, attribute, "an argument of a function");
  auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[argument]);
  if (!type || (!isNoAlias && getMemorySpace(type) != MemorySpace::psum))
    return op->emitError() << "expected " << attribute.getName().getValue()
                           << " on a memref" << (isNoAlias ? "" : " in psum")
                           << ", found it on argument " << argument
                           << " of type "
                           << function.getArgumentTypes()[argument]
                           << " [pto:attribute]";
  if (!isPlacement) {
    if (!isa<UnitAttr>(attribute.getValue()))
      return failKind(op, attribute, "a unit attribute");
    return success();
  }
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!number || !number.getType().isSignlessInteger(64))
    return failKind(op, attribute, "an i64");
  return verifyArgumentPlacement(function, argument, type);
}

LogicalResult
PTODialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                        unsigned result,
                                        NamedAttribute attribute) {
  return failUnknown(op, attribute, "results, which have none");
}
