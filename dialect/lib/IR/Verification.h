//===- Verification.h - What the verifiers share ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules about one buffer, used by every operation that touches one. A message
// says what was expected and what was found, and ends in its tag. Where a limit
// is broken that no target has, the tag names the rule; where only the target
// of the module lacks it, the tag is `[pto:target-limit]`.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_IR_VERIFICATION_H
#define PTO_LIB_IR_VERIFICATION_H

#include "PTO/IR/Targets.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::pto {
class TileOpInterface;
} // namespace mlir::pto

namespace mlir::pto::common {

using EmitError = function_ref<InFlightDiagnostic()>;

/// `value` must be at most `limit` of every target (else `tag`) and of `target`
/// (else `[pto:target-limit]`). A dynamic value passes.
LogicalResult verifyAtMost(EmitError emitError, const TargetInfo &target,
                           StringRef what, int64_t value,
                           unsigned TargetInfo::*limit, StringRef tag);

/// The buffer called `what` must be in `expected`.
LogicalResult verifySpace(EmitError emitError, StringRef what, MemRefType type,
                          MemorySpace expected);

/// The buffer called `what` must be one that an instruction can touch: in hbm,
/// sbuf or psum, of a type and a shape that this memory holds.
LogicalResult verifyBuffer(EmitError emitError, const TargetInfo &target,
                           StringRef what, MemRefType type);

/// `type` must be one that can be allocated in `space`: static, without a
/// layout, and no larger than the memory.
LogicalResult verifyAllocatable(EmitError emitError, const TargetInfo &target,
                                MemRefType type, MemorySpace space);

/// Where a buffer is: numbers as written.
struct Placement {
  std::optional<int64_t> bank, offset, partition;
};

/// `type`, which passed `verifyAllocatable`, must fit in PSUM at `placement`.
LogicalResult verifyPsumPlacement(EmitError emitError, const TargetInfo &target,
                                  MemRefType type, const Placement &placement);

/// The facts of one matmul of the PE array, whose operand groups passed
/// verification.
LogicalResult verifyPeMatmul(TileOpInterface op);

} // namespace mlir::pto::common

#endif // PTO_LIB_IR_VERIFICATION_H
