//===- pto-c/Dialect.h - C accessors of the pto dialect -----------*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Typed accessors for readers that are not C++. They look an operation up by
// its TypeID and its inherent attributes by their place, never by name, so that
// one walk over a large function costs tens of nanoseconds an operation.
//
// Values, operations and types are those of the MLIR C API. A value that is
// absent has a null pointer.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_C_DIALECT_H
#define PTO_C_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(PTO, pto);

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// What an operation is.
typedef enum {
  PtoOpOther = 0,
  /// Matmuls of the PE array.
  PtoOpMatmul,
  PtoOpMatmulAcc,
  PtoOpPsumAlloc,
  PtoOpSbufAlloc,
  PtoOpMemset,
  PtoOpCopy,
  PtoOpExpectEq,
  PtoOpExpectClose,
  /// A matmul of the tile ISA, whatever its variant; see ptoTileOpGet.
  PtoOpTileMatmul,
  PtoOpTileAlloc
} PtoOpKind;

/// Where a value lives.
typedef enum {
  PtoSpaceHbm = 0,
  PtoSpaceSbuf,
  PtoSpacePsum,
  /// One of the tile registers of the tile ISA.
  PtoSpaceTile,
  /// A memory space of another dialect.
  PtoSpaceForeign,
  /// Not a memref.
  PtoSpaceNone
} PtoSpace;

/// The PtoOpKind of `op`.
MLIR_CAPI_EXPORTED uint32_t ptoOpGetKind(MlirOperation op);

/// Where a tile lives.
typedef enum {
  PtoTileSpaceNone = 0,
  PtoTileSpaceCubeM16,
  PtoTileSpaceCubeM32,
  PtoTileSpaceCubeN8,
  PtoTileSpaceShared
} PtoTileSpace;

/// The PtoSpace of `type`.
MLIR_CAPI_EXPORTED uint32_t ptoTypeGetSpace(MlirType type);

/// The PtoTileSpace of `type`; none where it is no memref in a tile.
MLIR_CAPI_EXPORTED uint32_t ptoTypeGetTileSpace(MlirType type);

/// The 5-bit data type code that elements of the type `element` have in a tile;
/// -1 where a tile cannot hold them. An i64 has the code of an unsigned 64-bit
/// integer.
MLIR_CAPI_EXPORTED int32_t ptoTypeGetTileDataType(MlirType element);

/// How the element type of data type code `code` is written in a memref; null
/// where the code is reserved.
MLIR_CAPI_EXPORTED const char *ptoTileDataTypeSpelling(uint32_t code);

//===----------------------------------------------------------------------===//
// Matmuls of the PE array
//===----------------------------------------------------------------------===//

/// One matmul of the PE array, whatever its variant.
typedef struct {
  MlirValue dst, accumulator, lhs, rhs, startIf, stopIf;
  /// The control byte; -1 for auto. An operation with a predicate and without
  /// flags has the explicit flags `none`.
  int32_t acc;
  /// The zero-region code; -1 where absent.
  int32_t zeroRegion;
  /// The tile; the whole array, (128, 128) at (0, 0), where absent.
  int32_t tileRows, tileCols, tileRow, tileCol;
  /// How many tokens it waits for.
  uint32_t afterCount;
  bool hasTile, hasToken;
} PtoMatmul;

/// Whether a matmul inside `op` says its tile of the PE array.
MLIR_CAPI_EXPORTED bool ptoOpHoldsTiledMatmul(MlirOperation op);

/// Fills in `matmul`. False where `op` is no matmul of the PE array.
MLIR_CAPI_EXPORTED bool ptoMatmulGet(MlirOperation op, PtoMatmul *matmul);

/// Sets the flags and the zero-region code of a matmul; -1 removes. `acc` is a
/// control byte, 0 to 7.
MLIR_CAPI_EXPORTED void ptoMatmulSetAcc(MlirOperation op, int32_t acc,
                                        int32_t zeroRegion);

/// The attribute of a control byte, 0 to 7. Making it costs a look-up in the
/// context, so who sets many keeps them.
MLIR_CAPI_EXPORTED MlirAttribute ptoAccAttrGet(MlirContext context,
                                               int32_t acc);

/// As ptoMatmulSetAcc, with attributes made before: one of ptoAccAttrGet, and
/// an i64. Null removes.
MLIR_CAPI_EXPORTED void ptoMatmulSetAccAttr(MlirOperation op, MlirAttribute acc,
                                            MlirAttribute zeroRegion);

/// Sets `start_if` of a matmul, or `stop_if` where `isStop`; null removes it.
MLIR_CAPI_EXPORTED void ptoMatmulSetPredicate(MlirOperation op, bool isStop,
                                              MlirValue condition);

/// Removes `start_if` and `stop_if` of a matmul.
MLIR_CAPI_EXPORTED void ptoMatmulDropPredicates(MlirOperation op);

//===----------------------------------------------------------------------===//
// Matmuls of the tile ISA
//===----------------------------------------------------------------------===//

/// One matmul of the tile ISA, whatever its variant. An operand that the
/// operation does not have is null.
typedef struct {
  /// What is summed; a scale is null where its side has none.
  MlirValue accumulator, lhs, lhsScale, rhs, rhsScale, bias;
  /// The destinations.
  MlirValue dst, rowMax, groupMax;
  /// The sources of post-processing. `quant` and `prelu` are an i64 or a tile.
  MlirValue cScale, rowMaxIn, quant, prelu;
  /// The 5-bit CUBE function code: bits 0 and 1 bias and accumulator, bit 2
  /// block scales, bit 4 the matrix-vector form.
  uint32_t function;
  /// The 3-bit code of the rounding control.
  uint32_t rmode;
  /// The processing elements that take part, element i being bit 3 - i.
  uint32_t mask;
  /// The numbers of `post`, 0 where it is absent.
  uint32_t preQuant, relu, group;
  bool sat, transA, transB;
  /// The flags of `post`.
  bool hasPost, rowMaxEnable, groupMaxEnable, rowMaxInit, maxAbs;
} PtoTileOp;

/// Fills in `tileOp`. False where `op` is no matmul of the tile ISA.
MLIR_CAPI_EXPORTED bool ptoTileOpGet(MlirOperation op, PtoTileOp *tileOp);

/// What an operand is to a matmul of the tile ISA.
typedef enum {
  /// A token, or a predicate of the PE array.
  PtoTileUseNone = 0,
  /// A source other than the accumulator.
  PtoTileUseSource,
  PtoTileUseAccumulator,
  PtoTileUseDestination
} PtoTileUse;

/// The PtoTileUse of operand number `operand` of `op`, a matmul of the tile
/// ISA.
MLIR_CAPI_EXPORTED uint32_t ptoTileOpGetUse(MlirOperation op, uint32_t operand);

/// Makes `op`, a matmul of the tile ISA that accumulates, anew as the one that
/// does not: without the accumulator and what scales it. The new operation is
/// returned, the old one is gone.
MLIR_CAPI_EXPORTED MlirOperation ptoTileOpDropAccumulator(MlirOperation op);

/// The bytes of the smallest tile that holds a memref of type `type`; 0 where
/// none does.
MLIR_CAPI_EXPORTED uint32_t ptoTypeGetTileBytes(MlirType type);

/// Allocates a tile as `tile` is, of the same type and capacity: right before
/// the operation that makes `tile`, or first in the block that it is an
/// argument of. The new tile is returned.
MLIR_CAPI_EXPORTED MlirValue ptoTileAllocCreateLike(MlirValue tile);

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

/// A psum_alloc or sbuf_alloc.
typedef struct {
  MlirValue result;
  /// PtoSpacePsum or PtoSpaceSbuf, then the place; bank is 0 in sbuf.
  int32_t space, bank, offset, partition;
  /// Whether the operation says where it is. If not, the place is all 0.
  bool placed;
} PtoAlloc;

/// Fills in `alloc`. False where `op` is neither.
MLIR_CAPI_EXPORTED bool ptoAllocGet(MlirOperation op, PtoAlloc *alloc);

/// Whether `op` can be placed in PSUM: a psum_alloc, or an allocation with one
/// result that a psum_alloc can stand for. If not, the dialect's verifier has
/// said why.
MLIR_CAPI_EXPORTED bool ptoAllocIsPlaceable(MlirOperation op);

/// Places an allocation for which ptoAllocIsPlaceable holds and returns it. One
/// of another dialect is replaced by a psum_alloc and gone.
MLIR_CAPI_EXPORTED MlirOperation ptoAllocPlace(MlirOperation op, int64_t bank,
                                               int64_t offset,
                                               int64_t partition);

/// A tile_alloc.
typedef struct {
  MlirValue result;
  /// A PtoTileSpace.
  uint32_t space;
  /// The size code, and the bytes it stands for.
  uint32_t sizeCode, bytes;
  /// Whether the operation says the size. If not, it is the smallest that fits.
  bool sized;
} PtoTileAlloc;

/// Fills in `alloc`. False where `op` is no tile_alloc.
MLIR_CAPI_EXPORTED bool ptoTileAllocGet(MlirOperation op, PtoTileAlloc *alloc);

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Describes the instruction `op`: its engine (0 pe, 1 vector, 2 scalar,
/// 3 gpsimd, 4 dma), how many tokens it waits for, whether it gives one, and
/// whether legalization added it. False where `op` is no instruction of pto.
MLIR_CAPI_EXPORTED bool ptoEngineOpGet(MlirOperation op, uint32_t *engine,
                                       uint32_t *afterCount, bool *hasToken,
                                       bool *inserted);

/// The token at position `i` of `after`.
MLIR_CAPI_EXPORTED MlirValue ptoEngineOpGetAfter(MlirOperation op, uint32_t i);

/// Whether legalization added the token at position `i` of `after`.
MLIR_CAPI_EXPORTED bool ptoEngineOpIsAfterInserted(MlirOperation op,
                                                   uint32_t i);

/// Gives the instruction a token. The operation is made anew in its place, with
/// its operands, attributes and location, and the old one is gone; the new one
/// is returned. One that has a token already is returned as it is. `inserted`
/// marks the token as added by legalization.
MLIR_CAPI_EXPORTED MlirOperation ptoEngineOpAddToken(MlirOperation op,
                                                     bool inserted);

/// Appends `n` tokens to `after`. `inserted` marks them.
MLIR_CAPI_EXPORTED void ptoEngineOpAppendAfter(MlirOperation op, uint32_t n,
                                               MlirValue const *tokens,
                                               bool inserted);

/// Removes the marked tokens from `after`.
MLIR_CAPI_EXPORTED void ptoEngineOpDropInserted(MlirOperation op);

/// Takes away the instruction's own token if it is marked and unused. As for
/// ptoEngineOpAddToken the operation may be made anew; it is returned.
MLIR_CAPI_EXPORTED MlirOperation
ptoEngineOpDropTokenIfUnusedInserted(MlirOperation op);

/// Makes `pto.memset value, target` before `before`, at its location, for the
/// engine that ptoEngineOpGet numbers so.
MLIR_CAPI_EXPORTED MlirOperation ptoMemsetCreateBefore(MlirOperation before,
                                                       MlirValue value,
                                                       MlirValue target,
                                                       uint32_t engine,
                                                       bool inserted);

//===----------------------------------------------------------------------===//
// Effects and views
//===----------------------------------------------------------------------===//

/// What `op` does to the memory behind operand number `operand`: bit 0 reads,
/// 1 writes, 2 allocates, 3 frees. An operation that does not say reads and
/// writes behind every memref.
MLIR_CAPI_EXPORTED uint32_t ptoOpOperandEffects(MlirOperation op,
                                                uint32_t operand);

/// Whether `op` only computes: it has no effects, nor has what it holds.
MLIR_CAPI_EXPORTED bool ptoOpIsEffectFree(MlirOperation op);

/// Bytes of one element of type `element` in sbuf and hbm; 1 where it has less
/// or its size is not known.
MLIR_CAPI_EXPORTED uint32_t ptoTypeGetBytes(MlirType element);

/// Whether `op` gives another view of its one memref operand: subview, cast,
/// collapse_shape, expand_shape, reinterpret_cast, transpose and the like.
MLIR_CAPI_EXPORTED bool ptoOpIsView(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // PTO_C_DIALECT_H
