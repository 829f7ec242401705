//===- TileSignature.h - What has been verified before ----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is thousands of operations in a handful of shapes, and all but two
// rules of a tile operation are about its attributes and the types of its
// operands. Attributes and types are unique in their context, so operations of
// one signature have one verdict, and those that passed lately are remembered.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_IR_TILESIGNATURE_H
#define PTO_LIB_IR_TILESIGNATURE_H

#include "PTO/IR/TileIsa.h"
#include "mlir/IR/DialectInterface.h"

namespace mlir::pto {

/// The number of a dialect object among those of the process, from 1.
struct DialectNumber : DialectInterface::Base<DialectNumber> {
  explicit DialectNumber(Dialect *dialect) : Base(dialect), number(getNext()) {}

  const uint64_t number;

private:
  static uint64_t getNext();
};

/// Everything that the rules about attributes and types look at.
struct TileSignature {
  /// The number of the dialect object, which stands for the context: addresses
  /// of types mean something in there only.
  uint64_t dialect = 0;
  /// Function, rounding and the unit attributes.
  uint64_t fields = 0;
  uint64_t mask = 0;
  /// The #pto.post, or null.
  const void *post = nullptr;
  /// The type of the operand in each role, or null.
  std::array<const void *, kTileRoleCount> types{};

  bool operator==(const TileSignature &other) const {
    return dialect == other.dialect && fields == other.fields &&
           mask == other.mask && post == other.post && types == other.types;
  }

  /// Whether an operation of this signature was found right on this thread,
  /// and not too many others since.
  bool isKnown() const { return getSlot() == *this; }

  /// Says that one was.
  void remember() const { getSlot() = *this; }

private:
  TileSignature &getSlot() const;
};

} // namespace mlir::pto

#endif // PTO_LIB_IR_TILESIGNATURE_H
