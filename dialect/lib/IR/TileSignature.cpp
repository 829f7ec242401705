//===- TileSignature.cpp - What has been verified before ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileSignature.h"
#include "PTO/IR/PTOOps.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace mlir;
using namespace mlir::pto;

TileSignature::TileSignature(TileOpInterface op) : hash(0), size(0) {
  ArrayRef<uint8_t> fields = op.getStoredFields();
  OperandRange operands = op->getOperands();
  size_t needed = (2 + operands.size()) * sizeof(void *) + fields.size();
  if (needed > capacity)
    return;
  uint8_t *end = bytes;
  auto append = [&](uintptr_t word) {
    std::memcpy(end, &word, sizeof(word));
    end += sizeof(word);
  };
  // The number of the dialect object stands for the context: addresses mean
  // something in there only, and are used again when it is gone.
  append(static_cast<PTODialect *>(op->getDialect())->number);
  append(reinterpret_cast<uintptr_t>(op->getName().getAsOpaquePointer()));
  for (Value operand : operands)
    append(reinterpret_cast<uintptr_t>(operand.getType().getAsOpaquePointer()));
  std::copy(fields.begin(), fields.end(), end);
  size = needed;
  hash = llvm::xxh3_64bits(ArrayRef(bytes, size));
}

/// The signatures that one thread remembers, in sets: a kernel has a handful,
/// and a few of the same set must not drive each other out. Nothing in it is
/// initialised but by zeros, which is a set of no signatures.
struct TileSignature::Memory {
  static constexpr size_t setCount = 16, setSize = 4;
  struct Set {
    TileSignature signatures[setSize];
    size_t next;
  };
  Set sets[setCount];

  Set &operator[](const TileSignature &signature) {
    return sets[signature.hash % setCount];
  }
};

TileSignature::Memory &TileSignature::getMemory() {
  thread_local Memory memory;
  return memory;
}

bool TileSignature::isKnown() const {
  return size != 0 && llvm::any_of(getMemory()[*this].signatures,
                                   [&](const TileSignature &known) {
                                     return known == *this;
                                   });
}

void TileSignature::remember() const {
  if (size == 0)
    return;
  Memory::Set &set = getMemory()[*this];
  set.signatures[set.next] = *this;
  set.next = (set.next + 1) % Memory::setSize;
}
