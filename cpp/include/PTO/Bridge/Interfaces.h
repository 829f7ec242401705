//===- Interfaces.h - Upstream interfaces for Rust ----------------*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the reader in Rust asks of upstream's interfaces and the C API of MLIR
// does not tell: calls, loops, effects, arguments of functions.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_BRIDGE_INTERFACES_H
#define PTO_BRIDGE_INTERFACES_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Whether `op` is a call: CallOpInterface.
bool ptoOpIsCall(MlirOperation op);

/// Whether `function` says in `pto.psum_banks` which banks of PSUM it touches.
/// If so they are the bits of `mask`.
bool ptoFunctionGetPsumBanks(MlirOperation function, uint32_t *mask);

/// Whether the callee of `call` says in `pto.psum_banks` which banks of PSUM it
/// touches. If so they are the bits of `mask`.
bool ptoCallGetPsumBanks(MlirOperation call, uint32_t *mask);

/// Whether the trip count of the loop `op` is a constant. If so it is `trips`.
bool ptoLoopGetTripCount(MlirOperation op, uint64_t *trips);

/// One bound of a loop: a value, a constant, both, or neither.
typedef struct {
  MlirValue value;
  int64_t constant;
  bool isConstant;
} PtoBound;

/// A loop with one induction variable.
typedef struct {
  MlirValue variable;
  PtoBound lower, upper, step;
  /// Number of leading operands that make the bounds; the rest are initial
  /// values.
  uint32_t boundOperands;
  /// Whether the induction variable is compared as an unsigned number.
  bool isUnsigned;
} PtoLoop;

/// Fills in `loop`. False where `op` is no loop with one induction variable.
bool ptoLoopGet(MlirOperation op, PtoLoop *loop);

/// An operation like `op`, of two operands and no regions, on `left` and
/// `right`: put before the operation `before`. It has the attributes of `op`.
MlirOperation ptoOpCreateLike(MlirOperation op, MlirValue left, MlirValue right,
                              MlirLocation location, MlirOperation before);

/// Takes a constant off `value`, where it is a sum with one (`arith.addi`, or
/// `affine.apply` of one operand): the other summand goes to `base`.
bool ptoValueGetSum(MlirValue value, MlirValue *base, int64_t *constant);

/// What the argument attributes of a function say of one argument.
typedef struct {
  int32_t bank, offset, partition;
  /// Whether they place it. If not, the place is all 0.
  bool placed;
  /// Whether it holds nothing on entry.
  bool fresh;
  /// Whether no other argument, global or result of a call is the same memory:
  /// `pto.noalias`, or the attribute of that name of the llvm dialect.
  bool noalias;
} PtoArgument;

/// Fills in `argument` for the argument of `function` at position `index`.
void ptoFunctionGetArgument(MlirOperation function, uint32_t index,
                            PtoArgument *argument);

#ifdef __cplusplus
}
#endif

#endif // PTO_BRIDGE_INTERFACES_H
