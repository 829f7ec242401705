//===- TileVerifier.h - Rules of the tile ISA's matmuls ---------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that one operation on tiles knows about itself, in the order of the
// ISA's preflight: the first rule broken is the one reported. Written once, on
// the roles of operands: a variant is a CUBE function code and the roles it
// has.
//
// M and N are the rows and columns of the destination, K the columns of the
// left operand as it is read; every other operand is held against these. What
// depends on contents, on readiness or on the room that is left is not judged
// here, nor is a capacity that no tile_alloc of an operand says.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_LIB_IR_TILEVERIFIER_H
#define PTO_LIB_IR_TILEVERIFIER_H

#include "PTO/IR/PTOOps.h"
#include "TileSchema.h"
#include "TileSignature.h"

namespace mlir::pto {

/// What `post` says, or says by its absence.
struct Post {
  int64_t preQuant = 0, relu = 0, group = 0;
  bool rowMax = false, groupMax = false, rowMaxInit = false, maxAbs = false;
};

/// The rules about one operation.
class TileVerifier {
public:
  explicit TileVerifier(TileOpInterface tileOp)
      : op(tileOp), operands(getTileOperands(tileOp)),
        function(tileOp.getFunctionCode()), isMatrixVector(tileOp.getGemv()),
        rounding(tileOp.getRmode().value_or(RMode::Default)),
        mask(tileOp.getMask().value_or(kAllElements)) {
    if (std::optional<PostAttr> attribute = tileOp.getPost())
      post = {attribute->getPreQuant(), attribute->getRelu(),
              attribute->getGroup(),    attribute->getRowMax(),
              attribute->getGroupMax(), attribute->getRowMaxInit(),
              attribute->getMaxAbs()};
  }

  /// All rules.
  LogicalResult verify();

  /// The rules of `op` that look at which tiles the operands are, not only at
  /// what they are. The others hold.
  static LogicalResult verifyValues(TileOpInterface op);

private:
  // Each field and each tile by itself.
  LogicalResult readTiles();
  LogicalResult verifyCodes();
  LogicalResult verifyEnables();
  // Fields and operands together.
  LogicalResult verifyTypePair();
  LogicalResult verifyScalePresence(TileRole scale, TileRole side);
  LogicalResult verifySharing();
  LogicalResult verifyPresence(TileRole role, bool isExpected,
                               const Twine &circumstance, const TileRule &rule);
  LogicalResult verifyParameter(TileRole role, StringRef field, int64_t code,
                                TileParameter parameter);
  LogicalResult verifyStreams();
  LogicalResult verifyControl();
  LogicalResult verifyDimensions();
  LogicalResult verifyElements();
  LogicalResult verifyTransposes();
  // Operands.
  LogicalResult verifyShared();
  LogicalResult verifyColumnScale();
  LogicalResult verifyPostSources();
  LogicalResult verifySources();
  LogicalResult verifySource(TileRole role, const TileRule *rule = nullptr);
  static LogicalResult verifyAccumulatorCapacity(TileOpInterface op,
                                                 const TileOperands &operands);
  static LogicalResult verifyAliases(TileOpInterface op,
                                     const TileOperands &operands);
  LogicalResult verifyDestinations();

  MemorySpace getMLayout() const;
  bool isScaled() const { return function & 4; }
  bool isShared() const { return frame[TileRole::rhs].isShared(); }
  static InFlightDiagnostic error(TileOpInterface op) {
    return op->emitOpError() << "expected ";
  }
  InFlightDiagnostic error() { return error(op); }

  TileOpInterface op;
  TileOperands operands;
  uint32_t function;
  bool isMatrixVector;
  RMode rounding;
  uint64_t mask;
  Post post;
  // Found out on the way.
  const PreQuantMode *mode = nullptr;
  TileParameter activation = TileParameter::none;
  TileFrame frame;
};

} // namespace mlir::pto

#endif // PTO_LIB_IR_TILEVERIFIER_H
