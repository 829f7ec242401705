//===- BufferVerifier.cpp - Rules about one buffer ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/TileIsa.h"
#include "Verification.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

LogicalResult common::verifyAtMost(EmitError emitError,
                                   const TargetInfo &target, StringRef what,
                                   int64_t value, unsigned TargetInfo::*limit,
                                   StringRef tag) {
  const TargetInfo &any = getUnionOfTargets();
  if (ShapedType::isDynamic(value) || value <= target.*limit)
    return success();
  bool isTargetLimit = value <= any.*limit;
  const TargetInfo &breached = isTargetLimit ? target : any;
  return emitError() << "expected " << what << " of at most " << breached.*limit
                     << " on " << breached.name << ", found " << value << " ["
                     << (isTargetLimit ? "pto:target-limit" : tag) << "]";
}

/// `space` as it is written in a memref.
static std::string spell(MemorySpace space) {
  return ("#pto.mem<" + stringifyMemorySpace(space) + ">").str();
}

LogicalResult common::verifySpace(EmitError emitError, StringRef what,
                                  MemRefType type, MemorySpace expected) {
  std::optional<MemorySpace> space = getMemorySpace(type);
  if (space == expected)
    return success();
  InFlightDiagnostic diag = emitError();
  diag << "expected " << what << " in " << spell(expected) << ", found ";
  if (!space)
    return diag << "the memory space " << type.getMemorySpace()
                << " [pto:space]";
  diag << spell(*space);
  if (isTileSpace(*space))
    return diag << ", a tile register of the tile ISA [pto:tile-space]";
  return diag << " [pto:space]";
}

/// Whether `type` is made of whole bytes in memory. tf32 is kept in four.
static bool isByteSized(Type type) {
  return isa<FloatTF32Type>(type) ||
         (type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0);
}

/// Bytes of one element in `space`, for element types that this memory holds.
static int64_t getElementBytes(const TargetInfo &target, Type type,
                               MemorySpace space) {
  if (space == MemorySpace::psum)
    return target.cellBytes;
  return isa<FloatTF32Type>(type) ? 4 : type.getIntOrFloatBitWidth() / 8;
}

static LogicalResult verifyElementType(common::EmitError emitError,
                                       const TargetInfo &target, StringRef what,
                                       MemRefType type, MemorySpace space) {
  Type element = type.getElementType();
  if (space != MemorySpace::psum) {
    // What tiles hold comes from hbm: there an element below a byte takes one.
    if (isByteSized(element) ||
        (space == MemorySpace::hbm && getTileType(element)))
      return success();
    return emitError() << "expected " << what
                       << " of integers or floats of whole bytes, found "
                       << element << " [pto:element-type]";
  }
  if (element.isBF16() && !target.hasBf16Psum)
    return emitError() << "expected " << what << " of f32 or i32 in psum on "
                       << target.name << ", found bf16 [pto:target-limit]";
  if (element.isF32() || element.isSignlessInteger(32) || element.isBF16())
    return success();
  return emitError() << "expected " << what
                     << " of f32, i32 or bf16 in psum, found " << element
                     << " [pto:element-type]";
}

/// Dimension 0 is the partition, in sbuf and in psum.
static LogicalResult verifyPartitions(common::EmitError emitError,
                                      const TargetInfo &target, StringRef what,
                                      MemRefType type) {
  if (type.getRank() == 0)
    return emitError() << "expected " << what
                       << " of at least one dimension, the partition, found "
                       << type << " [pto:rank]";
  std::string count = (what + " partitions").str();
  return common::verifyAtMost(emitError, target, count, type.getDimSize(0),
                              &TargetInfo::partitions, "pto:buffer-size");
}

LogicalResult common::verifyBuffer(EmitError emitError,
                                   const TargetInfo &target, StringRef what,
                                   MemRefType type) {
  std::optional<MemorySpace> space = getMemorySpace(type);
  if (!space)
    return emitError() << "expected " << what
                       << " in a memory of pto, found the memory space "
                       << type.getMemorySpace() << " [pto:space]";
  if (isTileSpace(*space))
    return emitError() << "expected " << what << " in hbm, sbuf or psum, found "
                       << spell(*space)
                       << ", a tile register of the tile ISA "
                          "[pto:tile-space]";
  if (*space != MemorySpace::hbm &&
      failed(verifyPartitions(emitError, target, what, type)))
    return failure();
  if (llvm::is_contained(type.getShape(), 0))
    return emitError() << "expected " << what << " with elements, found "
                       << type << " [pto:shape]";
  return verifyElementType(emitError, target, what, type, *space);
}

/// Bytes that `type` takes in one partition; nothing where they overflow.
static std::optional<int64_t> getPartitionBytes(const TargetInfo &target,
                                                MemRefType type,
                                                MemorySpace space) {
  int64_t bytes = getElementBytes(target, type.getElementType(), space);
  for (int64_t size : type.getShape().drop_front())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

LogicalResult common::verifyAllocatable(EmitError emitError,
                                        const TargetInfo &target,
                                        MemRefType type, MemorySpace space) {
  if (failed(verifySpace(emitError, "the buffer", type, space)))
    return failure();
  if (!type.hasStaticShape())
    return emitError() << "expected a buffer of static shape, found " << type
                       << " [pto:dynamic-shape]";
  if (!type.getLayout().isIdentity())
    return emitError() << "expected a buffer without a layout, found " << type
                       << " [pto:layout]";
  if (failed(verifyBuffer(emitError, target, "the buffer", type)))
    return failure();
  std::optional<int64_t> bytes = getPartitionBytes(target, type, space);
  if (!bytes)
    return emitError() << "expected a buffer that fits in a partition, found "
                       << type << " [pto:buffer-size]";
  if (space == MemorySpace::psum && *bytes > target.getPartitionBytes())
    return emitError() << "expected a buffer of at most "
                       << target.getPartitionBytes()
                       << " bytes a partition, found " << *bytes
                       << " [pto:buffer-size]";
  return success();
}

LogicalResult common::verifyPsumPlacement(EmitError emitError,
                                          const TargetInfo &target,
                                          MemRefType type,
                                          const Placement &placement) {
  if (!placement.bank) {
    if (!placement.offset && !placement.partition)
      return success();
    return emitError() << "expected a bank beside the "
                       << (placement.offset ? "offset" : "partition")
                       << ", found none [pto:placement]";
  }
  int64_t bank = *placement.bank;
  int64_t offset = placement.offset.value_or(0);
  int64_t partition = placement.partition.value_or(0);
  if (bank < 0 || bank >= target.banks)
    return emitError() << "expected a bank from 0 to " << target.banks - 1
                       << ", found " << bank << " [pto:placement]";
  if (offset < 0 || offset >= target.bankBytes ||
      offset % target.cellBytes != 0)
    return emitError() << "expected an offset that is a multiple of "
                       << target.cellBytes << " below " << target.bankBytes
                       << ", found " << offset << " [pto:placement]";
  int64_t count = type.getDimSize(0);
  if (!target.isLegalStartPartition(partition, count))
    return emitError() << "expected a first partition that " << count
                       << " partitions may begin at (more than "
                       << target.partitions / 2 << ": 0; more than "
                       << target.quadrantPartitions << ": 0 or "
                       << target.partitions / 2 << "; others: a multiple of "
                       << target.quadrantPartitions << "), found " << partition
                       << " [pto:start-partition]";
  int64_t first = bank * target.bankBytes + offset;
  int64_t bytes = *getPartitionBytes(target, type, MemorySpace::psum);
  if (first + bytes > target.getPartitionBytes())
    return emitError() << "expected a buffer that ends at byte "
                       << target.getPartitionBytes()
                       << " of its partitions or before, found one from "
                       << first << " to " << first + bytes
                       << " [pto:placement]";
  return success();
}
