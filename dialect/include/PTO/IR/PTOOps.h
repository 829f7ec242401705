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

/// What tiles are allocated from.
struct TileResource : SideEffects::Resource::Base<TileResource> {
  StringRef getName() final { return "tile"; }
};

class EngineOpInterface;
class MatmulOpInterface;
class TileOpInterface;

/// The sizes of the operand groups in the generic form. The last six groups of
/// a matmul, which post-processing on tiles takes, may be left out together.
template <size_t groupCount>
LogicalResult
convertFromAttribute(std::array<int32_t, groupCount> &sizes,
                     Attribute attribute,
                     function_ref<InFlightDiagnostic()> emitError) {
  constexpr size_t optionalCount = 6;
  static_assert(groupCount > optionalCount);
  auto given = dyn_cast_or_null<DenseI32ArrayAttr>(attribute);
  size_t count = groupCount;
  if (given && given.size() == groupCount - optionalCount)
    count -= optionalCount;
  sizes.fill(0);
  return mlir::convertFromAttribute(
      MutableArrayRef<int32_t>(sizes.data(), count), attribute, emitError);
}

namespace common {

/// The facts of one instruction: its tokens and its marks.
LogicalResult verifyEngineOp(EngineOpInterface op);

/// The facts of one matmul, whatever its variant and its machine.
LogicalResult verifyMatmul(TileOpInterface op);

using InherentAttributeVerifier = LogicalResult (*)(
    OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>);

/// Parses the attribute dictionary of the operation `name` into `attributes`.
/// Of `inherentNames` only those that no clause says may stand there.
ParseResult parseDictionary(OpAsmParser &parser, NamedAttrList &attributes,
                            StringRef name, ArrayRef<StringRef> inherentNames,
                            InherentAttributeVerifier verifyInherent);

/// The attributes in `properties` and the sizes of the operand groups, which
/// come last: without the padding behind them.
template <typename Properties>
ArrayRef<uint8_t> getStoredFields(const Properties &properties) {
  const auto &sizes = properties.operandSegmentSizes;
  constexpr size_t end =
      offsetof(Properties, operandSegmentSizes) + sizeof(sizes);
  static_assert(sizeof(Properties) - end < alignof(Properties),
                "the sizes of the operand groups come last");
  return ArrayRef(reinterpret_cast<const uint8_t *>(&properties), end);
}

/// The operand group of `role` in an operation that knows the roles of its
/// groups.
template <typename ConcreteOp> constexpr unsigned getGroup(TileRole role) {
  unsigned group = 0;
  while (ConcreteOp::groupRoles[group] != role)
    ++group;
  return group;
}

template <typename ConcreteOp>
constexpr bool countsGroups =
    ConcreteOp::template hasTrait<OpTrait::AttrSizedOperandSegments>();

/// The operands before the group `group`.
template <typename ConcreteOp>
unsigned countOperandsBefore(ConcreteOp op, unsigned group) {
  ArrayRef<int32_t> sizes = op.getProperties().operandSegmentSizes;
  unsigned count = 0;
  for (int32_t size : sizes.take_front(group))
    count += size;
  return count;
}

// These change one group of operands in place. A MutableOperandRange would make
// the attribute of all group sizes anew, and look it up by name, each time.

/// Sets the optional operand `role`; null removes it.
template <TileRole role, typename ConcreteOp>
void setOptionalOperand(ConcreteOp op, Value value) {
  constexpr unsigned group = getGroup<ConcreteOp>(role);
  int32_t &size = op.getProperties().operandSegmentSizes[group];
  unsigned position = countOperandsBefore(op, group);
  if (value && size)
    op->setOperand(position, value);
  else if (value)
    op->insertOperands(position, value);
  else if (size)
    op->eraseOperand(position);
  size = value ? 1 : 0;
}

/// How many tokens `op` waits for. Looks at one group where getAfter() would
/// sum up those before it.
template <typename ConcreteOp> unsigned getAfterCount(ConcreteOp op) {
  if constexpr (countsGroups<ConcreteOp>)
    return op.getProperties()
        .operandSegmentSizes[getGroup<ConcreteOp>(TileRole::after)];
  else
    return op.getAfter().size();
}

/// Adds `tokens` at the end of `after`.
template <typename ConcreteOp>
void appendAfter(ConcreteOp op, ValueRange tokens) {
  if constexpr (countsGroups<ConcreteOp>) {
    constexpr unsigned group = getGroup<ConcreteOp>(TileRole::after);
    op->insertOperands(countOperandsBefore(op, group + 1), tokens);
    op.getProperties().operandSegmentSizes[group] += tokens.size();
  } else {
    op.getAfterMutable().append(tokens);
  }
}

/// Prints `attributes` without those that a clause says.
void printDictionary(OpAsmPrinter &printer, DictionaryAttr attributes,
                     ArrayRef<StringRef> inherentNames);

} // namespace common
} // namespace mlir::pto

#include "PTO/IR/PTOInterfaces.h.inc"
#include "PTO/IR/PTOTileInterfaces.h.inc"

#define GET_OP_CLASSES
#include "PTO/IR/PTOOps.h.inc"

#endif // PTO_IR_PTOOPS_H
