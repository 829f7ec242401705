//===- Passes.cpp - Passes of the pto dialect -----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes are written in Rust; here is what makes them passes of MLIR:
// options, the functions they run on, failure, what is preserved.
//
//===----------------------------------------------------------------------===//

#include "PTO/Transforms/Passes.h"
#include "PTO/Bridge/Bridge.h"
#include "PTO/IR/PTODialect.h"
#include "Peeling.h"
#include "Roots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace mlir::pto {
#define GEN_PASS_DEF_PTOORDERCOLUMNTILES
#define GEN_PASS_DEF_PTOMARKFIRST
#define GEN_PASS_DEF_PTORESETACC
#define GEN_PASS_DEF_PTOLEGALIZEACC
#define GEN_PASS_DEF_PTOVERIFYACC
#define GEN_PASS_DEF_PTOALLOCPSUM
#define GEN_PASS_DEF_PTOSCHEDULE
#define GEN_PASS_DEF_PTOPRINTPSUM
#define GEN_PASS_DEF_PTODUMPDEPS
#include "PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

using namespace mlir;
using namespace mlir::pto;
namespace bridge = pto_rust;

SmallVector<Operation *> mlir::pto::getFunctions(Operation *root) {
  SmallVector<Operation *> functions;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<FunctionOpInterface>(op))
      return WalkResult::advance();
    functions.push_back(op);
    return WalkResult::skip();
  });
  return functions;
}

/// Marks all arguments of `function` that are memrefs with `pto.noalias`; which
/// ones had no such mark.
static SmallVector<unsigned> markArgumentsApart(Operation *function) {
  auto op = cast<FunctionOpInterface>(function);
  SmallVector<unsigned> marked;
  for (auto [index, type] : llvm::enumerate(op.getArgumentTypes())) {
    if (!isa<MemRefType>(type) ||
        op.getArgAttr(index, PTODialect::kNoAliasAttrName))
      continue;
    op.setArgAttr(index, PTODialect::kNoAliasAttrName,
                  UnitAttr::get(op->getContext()));
    marked.push_back(index);
  }
  return marked;
}

static StringRef toStringRef(const rust::String &text) {
  return StringRef(text.data(), text.size());
}

namespace {
/// What all passes share. `Base` is made from Passes.td; `Derived` says which
/// pass it is and translates options and statistics.
template <typename Derived, typename Base> struct RustPass : Base {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    std::string problem =
        validateOptions(Derived::kind, derived().getOptions());
    if (problem.empty())
      return success();
    return emitError(UnknownLoc::get(context))
           << this->getArgument() << ": " << problem;
  }

  void runOnOperation() override {
    Operation *root = this->getOperation();
    bridge::Options options = derived().getOptions();
    std::string category = ("pto." + this->getArgument().drop_front(4)).str();
    options.remarks = wantsRemarks(root, category);
    SmallVector<Operation *> functions = getFunctions(root);
    std::vector<PassResult> results(functions.size());
    parallelFor(root->getContext(), 0, functions.size(), [&](size_t index) {
      Operation *function = functions[index];
      results[index] = derived().run(
          function, getTargetName(function, this->target), options);
    });
    // Printed in the order of the functions, whatever thread they ran on.
    bool changed = false;
    for (auto [function, result] : llvm::zip_equal(functions, results)) {
      printMessages(result, function, category);
      derived().count(result.outcome);
      changed |= result.outcome.changed;
      if (result.outcome.failed)
        this->signalPassFailure();
    }
    derived().show(results);
    if (!changed)
      this->markAllAnalysesPreserved();
  }

  PassResult run(Operation *function, StringRef target,
                 const bridge::Options &options) {
    return runOnFunction(Derived::kind, function, target, options);
  }

  bridge::Options getOptions() {
    bridge::Options options{};
    options.target = this->target.getValue();
    return options;
  }

  void count(const bridge::Outcome &outcome) {}

  /// For analyses: hands on what they found, function by function.
  void show(ArrayRef<PassResult> results) {}

private:
  Derived &derived() { return static_cast<Derived &>(*this); }
};

struct OrderColumnTiles
    : RustPass<OrderColumnTiles,
               mlir::pto::impl::PTOOrderColumnTilesBase<OrderColumnTiles>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::OrderColumnTiles;

  bridge::Options getOptions() {
    bridge::Options options = RustPass::getOptions();
    options.restart_at_origin = restartAtOrigin;
    options.ignore_other_engines = ignoreOtherEngines;
    return options;
  }

  void count(const bridge::Outcome &outcome) { numEdges += outcome.edges; }
};

struct MarkFirst
    : RustPass<MarkFirst, mlir::pto::impl::PTOMarkFirstBase<MarkFirst>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::MarkFirst;

  void count(const bridge::Outcome &outcome) { numFlags += outcome.flags; }
};

struct ResetAcc
    : RustPass<ResetAcc, mlir::pto::impl::PTOResetAccBase<ResetAcc>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::ResetAcc;

  void count(const bridge::Outcome &outcome) {
    numFlags += outcome.flags;
    numErased += outcome.erased;
  }
};

struct LegalizeAcc
    : RustPass<LegalizeAcc, mlir::pto::impl::PTOLegalizeAccBase<LegalizeAcc>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::LegalizeAcc;

  bridge::Options getOptions() {
    bridge::Options options = RustPass::getOptions();
    options.profile = profile.getValue();
    options.strict = strict;
    options.stop = stop.getValue();
    options.loops = loops.getValue();
    options.collisions = collisions.getValue();
    options.validate = validate;
    options.report_dir = reportDir.getValue();
    return options;
  }

  /// With `loops=peel` the pass sees the function after peeling. Where it
  /// fails, or has nothing to derive, the function is what it was.
  PassResult run(Operation *function, StringRef target,
                 const bridge::Options &options) {
    if (loops != "peel")
      return RustPass::run(function, target, options);
    OwningOpRef<Operation *> before = function->clone();
    Peeling peeling = peelAccumulationLoops(function);
    PassResult result = RustPass::run(function, target, options);
    bool isKept = !result.outcome.failed && result.outcome.changed;
    if (peeling.isPeeled && !isKept)
      for (auto [region, old] :
           llvm::zip_equal(function->getRegions(), (*before)->getRegions()))
        region.takeBody(old);
    if (isKept && options.remarks)
      for (auto [location, reason] : peeling.left)
        result.outcome.messages.push_back(notPeeled(location, reason));
    return result;
  }

  /// The remark about a loop that stays whole, though `loops=peel` asks for
  /// another thing.
  static bridge::Message notPeeled(Location location, StringRef reason) {
    bridge::Message remark{};
    remark.severity = bridge::Severity::Remark;
    remark.name = "pto.acc-not-peeled";
    remark.location = reinterpret_cast<size_t>(location.getAsOpaquePointer());
    remark.text = ("this loop is not peeled: " + reason +
                   "; what it adds up begins as with loops=predicate")
                      .str();
    return remark;
  }

  void count(const bridge::Outcome &outcome) {
    numFlags += outcome.flags;
    numMemsets += outcome.memsets;
    numEdges += outcome.edges;
    numErased += outcome.erased;
    numHeads += outcome.heads;
    numTiles += outcome.tiles;
    numCopies += outcome.copies;
  }
};

struct VerifyAcc
    : RustPass<VerifyAcc, mlir::pto::impl::PTOVerifyAccBase<VerifyAcc>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::VerifyAcc;

  bridge::Options getOptions() {
    bridge::Options options = RustPass::getOptions();
    options.model = model.getValue();
    options.extent = extent.getValue();
    options.sticky = sticky;
    options.werror = werror;
    return options;
  }
};

struct AllocPsum
    : RustPass<AllocPsum, mlir::pto::impl::PTOAllocPsumBase<AllocPsum>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::AllocPsum;

  bridge::Options getOptions() {
    bridge::Options options = RustPass::getOptions();
    options.rotate = rotate;
    options.pack = pack;
    options.banks = banks.getValue();
    return options;
  }

  void count(const bridge::Outcome &outcome) { numPlaced += outcome.placed; }
};

struct Schedule
    : RustPass<Schedule, mlir::pto::impl::PTOScheduleBase<Schedule>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::Schedule;

  bridge::Options getOptions() {
    bridge::Options options = RustPass::getOptions();
    options.shuffle_seed = shuffleSeed;
    return options;
  }

  /// A flag of a stock host runs its pass until nothing changes any more: what
  /// was shuffled stays as it is.
  void runOnOperation() override {
    if (shuffleSeed < 0)
      return RustPass::runOnOperation();
    if (shuffled && *shuffled == OperationFingerPrint(getOperation()))
      return markAllAnalysesPreserved();
    RustPass::runOnOperation();
    shuffled.emplace(getOperation());
  }

  /// The promise is kept in the program, for later passes and for times of
  /// runs. Where the pass fails, the function is what it was.
  PassResult run(Operation *function, StringRef target,
                 const bridge::Options &options) {
    if (!noaliasArguments)
      return RustPass::run(function, target, options);
    SmallVector<unsigned> marked = markArgumentsApart(function);
    PassResult result = RustPass::run(function, target, options);
    if (result.outcome.failed)
      for (unsigned argument : marked)
        cast<FunctionOpInterface>(function).removeArgAttr(
            argument, PTODialect::kNoAliasAttrName);
    result.outcome.changed |= !marked.empty();
    return result;
  }

  void count(const bridge::Outcome &outcome) {
    numReordered += outcome.reordered;
  }

private:
  /// What this pass left when it shuffled last.
  std::optional<OperationFingerPrint> shuffled;
};

struct PrintPsum
    : RustPass<PrintPsum, mlir::pto::impl::PTOPrintPsumBase<PrintPsum>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::PrintPsum;

  void show(ArrayRef<PassResult> results) {
    for (const PassResult &result : results)
      llvm::errs() << toStringRef(result.outcome.text);
  }
};

struct DumpDeps
    : RustPass<DumpDeps, mlir::pto::impl::PTODumpDepsBase<DumpDeps>> {
  using RustPass::RustPass;
  static constexpr bridge::Pass kind = bridge::Pass::DumpDeps;

  /// A value that is no list of options is the name of the file.
  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override {
    std::string text = options.str();
    if (!options.empty() && !options.contains('='))
      text = "file=" + text;
    return RustPass::initializeOptions(text, errorHandler);
  }

  /// All functions are one graph in one file.
  void show(ArrayRef<PassResult> results) {
    Operation *root = getOperation();
    if (root->getParentOp()) {
      root->emitError("pto-dump-deps: expected to run on the whole module, for "
                      "which it writes one file, found that it runs on a part "
                      "of it [pto:dump-deps]");
      return signalPassFailure();
    }
    std::error_code problem;
    llvm::raw_fd_ostream stream(file.getValue(), problem,
                                llvm::sys::fs::OF_Text);
    if (!problem) {
      stream << "digraph pto {\nnode [shape=box style=filled "
                "fontname=monospace];\n";
      for (const PassResult &result : results)
        stream << toStringRef(result.outcome.text);
      stream << "}\n";
      stream.flush();
      problem = stream.error();
      stream.clear_error();
    }
    if (problem) {
      root->emitError("pto-dump-deps: ")
          << file.getValue() << ": " << problem.message() << " [pto:dump-deps]";
      signalPassFailure();
    }
  }
};
} // namespace
