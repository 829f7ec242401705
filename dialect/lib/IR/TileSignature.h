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

namespace mlir::pto {

/// Everything that the rules about attributes and types look at: which
/// operation it is, the types of its operands, its attributes and the sizes of
/// its operand groups. All but the sizes are unique in their context, so that
/// equal signatures are equal bytes.
class TileSignature {
public:
  explicit TileSignature(TileOpInterface op);

  /// Whether an operation of this signature was found right on this thread,
  /// and not too many others since.
  bool isKnown() const;

  /// Says that one was.
  void remember() const;

private:
  struct Memory;
  static Memory &getMemory();

  /// No signature. It leaves the bytes as they are.
  TileSignature() = default;

  bool operator==(const TileSignature &other) const {
    return hash == other.hash && size == other.size &&
           std::equal(bytes, bytes + size, other.bytes);
  }

  // An operation that does not fit has a size of 0 and is never known. Only
  // `after` has more operands than this has room for.
  static constexpr size_t capacity = 480;
  uint64_t hash;
  size_t size;
  uint8_t bytes[capacity];
};

} // namespace mlir::pto

#endif // PTO_LIB_IR_TILESIGNATURE_H
