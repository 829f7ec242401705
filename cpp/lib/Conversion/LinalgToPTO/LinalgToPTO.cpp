//===- LinalgToPTO.cpp - Contractions of linalg on the PE array -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Purpose. `convert-linalg-to-pto` is the front door: it takes contractions of
// linalg on buffers to matmuls of the PE array. Everything else of linalg
// stays.
//
// Before, on f32 buffers A[64, 256], B[256, 512] and C[64, 512]:
//
//   linalg.fill ins(%zero : f32) outs(%C : ...)
//   linalg.matmul ins(%A, %B : ...) outs(%C : ...)
//
// After, with `unroll` (views and types left out):
//
//   %w0 = pto.sbuf_alloc                          // 128x64, K-major
//   pto.copy %A[0:64, 0:128]^T, %w0 engine(dma)
//   %w1 = pto.sbuf_alloc
//   pto.copy %A[0:64, 128:256]^T, %w1 engine(dma)
//   %acc = pto.psum_alloc                         // 64x512
//   %x0 = pto.sbuf_alloc                          // 128x512
//   pto.copy %B[0:128, 0:512], %x0 engine(dma)
//   pto.tmatmul ins(%w0, %x0) outs(%acc)
//   %x1 = pto.sbuf_alloc
//   pto.copy %B[128:256, 0:512], %x1 engine(dma)
//   pto.tmatmul_acc ins(%acc, %w1, %x1) outs(%acc)
//   pto.copy %acc, %C                             // converts
//
// Terms. A contraction has loops of four kinds: *batch* (in all operands), *m*
// (lhs and output), *n* (rhs and output), *k* (lhs and rhs; the reduction). One
// loop each of m, n and k is *tiled*; all others take single steps around it.
//
// The problem. Any linalg operation may come in: named or generic, with any
// indexing maps, ragged sizes, strided and transposed buffers, an output that
// holds something. What goes out must give, for each element of the output,
//
//   C0 + sum over tiles of k, ascending, of (sum over one tile, ascending)
//
// with C0 the initial value, left out where it is a fill with zeros.
//
// The algorithm.
//
// 1. Read (Contraction.cpp): upstream's matcher says whether an operation is a
//    contraction, and of which loops; here is added what the PE array asks:
//    types, an exact body, static shapes, an output apart from the inputs. A
//    fill with zeros that makes the output, or a copy of one, is looked for.
//    Nothing changes yet.
// 2. Collapse loops that are neighbours in every operand that has them, with
//    upstream's rewrite: heads and channels, pixels, batches.
// 3. Write (Tiles.cpp): loops over m, n and k in tiles of 128, 512 and 128, as
//    scf.for around one tile, or all tiles in a row (`unroll`). A ragged edge
//    is a tile of its own size, so that every access to PSUM is static.
//    Operands are staged through SBUF, K on the partitions: a transposed
//    operand is a transposed view that the DMA reads. One accumulator a tile of
//    the output.
// 4. Erase the operation, and the fill if nothing else read it.
//
// Invariants.
//
//   I1  An operation that is refused, and everything around it, is unchanged.
//   I2  Each element of the output is written once, from one accumulator.
//   I3  No matmul reads what another tile of the same operation wrote: output
//       and inputs share no element.
//   I4  A fill or copy is erased only if the contraction overwrites all that it
//       wrote and nothing reads it before.
//   I5  Sums of one element are in ascending row-major order of k.
//
// Complexity. Linear in what is written, beside a look back of at most 64
// operations for the fill.
//
// Diagnosed: a contraction of dynamic shape or with an output that overlaps an
// input (warnings, as their author meant them for the PE array), and, as
// remarks, whatever else of linalg stays.
//
// Left out. Placing, order and flags: later passes. Tiles of parts of the PE
// array for small K or M. Keeping operands in SBUF across rows of tiles. Why
// not upstream's tiling interface: docs/decisions/0180.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "PTO/IR/PTODialect.h"
#include "PTO/IR/Targets.h"
#include "PTO/Transforms/Passes.h"
#include "Tiles.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::pto {
#define GEN_PASS_DEF_CONVERTLINALGTOPTO
#include "PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

using namespace mlir;
using namespace mlir::pto;
using namespace mlir::pto::conversion;

static remark::RemarkOpts getRemarkOptions(StringRef name, Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(name)
      .category("pto.convert-linalg-to-pto")
      .function(function ? function.getName() : StringRef());
}

/// Says why `op` stays.
static void report(linalg::LinalgOp op, const Refusal &refusal) {
  if (refusal.isWarning)
    emitWarning(op.getLoc()) << refusal.reason;
  else
    remark::missed(op.getLoc(), getRemarkOptions("LinalgStays", op))
        << (op->getName().getStringRef() + ": " + refusal.reason).str();
}

/// More matmuls than this are not written in a row.
constexpr uint64_t maxUnrolled = uint64_t(1) << 20;

/// Keeps the loops of a contraction that would become too many matmuls.
static void limitUnrolling(Contraction &contraction, Tiling &tiling) {
  if (!tiling.unroll)
    return;
  uint64_t matmuls = 1;
  for (auto [loop, extent] : llvm::enumerate(contraction.extents)) {
    uint64_t tile = 1;
    if (loop == contraction.m)
      tile = tiling.m;
    else if (loop == contraction.n)
      tile = tiling.n;
    else if (loop == contraction.k)
      tile = tiling.k;
    matmuls = llvm::SaturatingMultiply(
        matmuls, llvm::divideCeil(static_cast<uint64_t>(extent), tile));
  }
  if (matmuls <= maxUnrolled)
    return;
  tiling.unroll = false;
  contraction.op.emitWarning()
      << "expected at most " << maxUnrolled << " matmuls to unroll, found "
      << matmuls << "; the loops stay [pto:unroll-limit]";
}

namespace {
/// A contraction to be written out.
struct Task {
  Contraction contraction;
  InitialValue initial;
  Tiling tiling;
};
} // namespace

/// What a task is, for a remark.
static std::string describe(Task &task) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << task.contraction.op->getName() << " of ";
  llvm::interleave(task.contraction.extents, stream, "x");
  stream << " iterations"
         << (task.initial.zeroMaker ? ", its zeros in START" : "");
  return text;
}

namespace {
struct ConvertLinalgToPTO
    : mlir::pto::impl::ConvertLinalgToPTOBase<ConvertLinalgToPTO> {
  using ConvertLinalgToPTOBase::ConvertLinalgToPTOBase;

  LogicalResult initialize(MLIRContext *context) override {
    chosen = target.empty() ? nullptr : findTarget(target);
    if (!target.empty() && !chosen)
      return emitError(UnknownLoc::get(context))
             << getArgument()
             << ": expected a target with a matrix engine, one of `trn1`, "
                "`trn2`, `trn3` or `nogroup`, found `"
             << target << "` [pto:target]";
    const TargetInfo &any = chosen ? *chosen : getUnionOfTargets();
    auto check = [&](StringRef name, unsigned value, unsigned limit) {
      if (value <= limit)
        return success();
      return LogicalResult(emitError(UnknownLoc::get(context))
                           << getArgument() << ": expected " << name
                           << " from 1 to " << limit << ", found " << value
                           << " [pto:option]");
    };
    if (failed(check("tile-m", tileM, any.peColumns)) ||
        failed(check("tile-n", tileN, any.bankBytes / any.cellBytes)) ||
        failed(check("tile-k", tileK, any.peRows)))
      return failure();
    return success();
  }

  void runOnOperation() override {
    std::vector<Task> tasks = findTasks();
    if (tasks.empty())
      return markAllAnalysesPreserved();
    IRRewriter rewriter(&getContext());
    for (Task &task : tasks)
      run(rewriter, task);
  }

private:
  /// The target of the option; null leaves the choice to the module.
  const TargetInfo *chosen = nullptr;

  std::vector<Task> findTasks() {
    std::vector<Task> tasks;
    auto &aliases = getAnalysis<AliasAnalysis>();
    getOperation()->walk([&](linalg::LinalgOp op) {
      Refusal refusal;
      FailureOr<Contraction> contraction =
          matchContraction(op, aliases, refusal);
      if (failed(contraction))
        return report(op, refusal);
      InitialValue initial = findInitialValue(*contraction, aliases);
      Tiling tiling = getTiling(op);
      limitUnrolling(*contraction, tiling);
      tasks.push_back({*contraction, initial, tiling});
    });
    return tasks;
  }

  Tiling getTiling(Operation *op) const {
    const TargetInfo &target = chosen ? *chosen : getEffectiveTarget(op);
    auto choose = [](unsigned option, unsigned limit) -> int64_t {
      return option == 0 ? limit : option;
    };
    return {choose(tileM, target.peColumns),
            choose(tileN, target.bankBytes / target.cellBytes),
            choose(tileK, target.peRows), unroll};
  }

  void run(RewriterBase &rewriter, Task &task) {
    Contraction &contraction = task.contraction;
    remark::passed(contraction.op.getLoc(),
                   getRemarkOptions("LinalgConverted", contraction.op))
        << describe(task);
    // Where a loop has no iterations the output stays as it is, fill and all.
    if (!llvm::is_contained(contraction.extents, 0)) {
      Operation *zeroMaker = task.initial.zeroMaker;
      collapseLoops(rewriter, contraction);
      emitTiles(rewriter, contraction, task.tiling, /*isSeeded=*/!zeroMaker);
      if (zeroMaker && !task.initial.isReadElsewhere) {
        zeroMaker->erase();
        ++numFills;
      }
    }
    contraction.op.erase();
    ++numContractions;
  }
};
} // namespace
