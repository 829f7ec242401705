//===- TileSignature.cpp - What has been verified before ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileSignature.h"
#include <atomic>

using namespace mlir::pto;

uint64_t DialectNumber::getNext() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

// Each signature has one slot, where the last of those that share it is kept.
static constexpr size_t slotCount = 64;

TileSignature &TileSignature::getSlot() const {
  // No dialect object has the number 0, so an empty slot is no signature.
  thread_local std::array<TileSignature, slotCount> slots;
  uint64_t hash = fields ^ mask ^ reinterpret_cast<uintptr_t>(post);
  constexpr uint64_t factor = 0x9e3779b97f4a7c15;
  for (const void *type : types)
    hash = (hash ^ reinterpret_cast<uintptr_t>(type)) * factor;
  return slots[hash >> 58];
}
