//===- Pipeline.cpp - From linalg to flags in one pipeline ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `pto-pipeline`: the passes in the order in which a compiler runs them. Each
// leaves alone what is done already, so a program may enter at any point.
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTODialect.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::pto {
#define GEN_PASS_DEF_PTOBUFFERIZE
#include "PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

using namespace mlir;
using namespace mlir::pto;

/// Whether an operation in `root` takes or makes a tensor.
static bool hasTensors(Operation *root) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  auto result = root->walk([&](Operation *op) {
    bool found = llvm::any_of(op->getOperandTypes(), isTensor) ||
                 llvm::any_of(op->getResultTypes(), isTensor);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {
struct Bufferize : mlir::pto::impl::PTOBufferizeBase<Bufferize> {
  using PTOBufferizeBase::PTOBufferizeBase;

  void runOnOperation() override {
    if (!isa<ModuleOp>(getOperation()) || !hasTensors(getOperation()))
      return markAllAnalysesPreserved();
    bufferization::OneShotBufferizePassOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.functionBoundaryTypeConversion =
        bufferization::LayoutMapOption::IdentityLayoutMap;
    SmallVector<std::pair<FunctionOpInterface, unsigned>> tensors =
        getTensorArguments();
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(bufferization::createOneShotBufferizePass(options));
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
    for (auto [function, argument] : tensors)
      function.setArgAttr(argument, PTODialect::kNoAliasAttrName,
                          UnitAttr::get(&getContext()));
  }

private:
  /// The arguments of functions that are tensors. Bufferization keeps functions
  /// and the numbers of arguments. It writes to a buffer only where no other
  /// tensor with that buffer is read later, and callers copy where they must.
  SmallVector<std::pair<FunctionOpInterface, unsigned>> getTensorArguments() {
    SmallVector<std::pair<FunctionOpInterface, unsigned>> tensors;
    getOperation()->walk([&](FunctionOpInterface function) {
      for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
        if (isa<RankedTensorType>(type) &&
            !function.getArgAttr(index, PTODialect::kNoAliasAttrName))
          tensors.emplace_back(function, index);
    });
    return tensors;
  }
};

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Target: trn1, trn2, trn3 or nogroup, or an alias of one. "
                     "Default: the attribute pto.target around the function, "
                     "else trn2"),
      llvm::cl::init("")};
  Option<bool> unroll{
      *this, "unroll",
      llvm::cl::desc("Straight-line code instead of loops over tiles"),
      llvm::cl::init(false)};
  Option<bool> noSchedule{
      *this, "no-schedule",
      llvm::cl::desc("Keep the order of instructions: leave out pto-schedule"),
      llvm::cl::init(false)};
  Option<bool> noaliasArguments{
      *this, "noalias-arguments",
      llvm::cl::desc("No caller passes one memory as two arguments, or a "
                     "global: for functions on buffers, as those on tensors "
                     "promise it"),
      llvm::cl::init(false)};
  Option<bool> noVerify{
      *this, "no-verify",
      llvm::cl::desc("Leave out the last step, pto-verify-acc"),
      llvm::cl::init(false)};
  Option<bool> strict{
      *this, "strict",
      llvm::cl::desc("What would be a warning about the meaning of flags is an "
                     "error"),
      llvm::cl::init(false)};
  Option<bool> validate{
      *this, "validate",
      llvm::cl::desc("Prove the legalized program equal to the one before"),
      llvm::cl::init(false)};
};
} // namespace

static void buildPipeline(OpPassManager &manager,
                          const PipelineOptions &options) {
  manager.addPass(createPTOBufferize());
  ConvertLinalgToPTOOptions convert;
  convert.target = options.target;
  convert.unroll = options.unroll;
  manager.addPass(createConvertLinalgToPTO(convert));
  PTOAllocPsumOptions place;
  place.target = options.target;
  place.rotate = true;
  manager.addPass(createPTOAllocPsum(place));
  PTOOrderColumnTilesOptions order;
  order.target = options.target;
  manager.addPass(createPTOOrderColumnTiles(order));
  if (!options.noSchedule) {
    PTOScheduleOptions schedule;
    schedule.target = options.target;
    schedule.noaliasArguments = options.noaliasArguments;
    manager.addPass(createPTOSchedule(schedule));
  }
  PTOLegalizeAccOptions legalize;
  legalize.target = options.target;
  legalize.strict = options.strict;
  legalize.validate = options.validate;
  manager.addPass(createPTOLegalizeAcc(legalize));
  if (options.noVerify)
    return;
  PTOVerifyAccOptions verify;
  verify.target = options.target;
  manager.addPass(createPTOVerifyAcc(verify));
}

void mlir::pto::registerPTOPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "pto-pipeline",
      "From linalg on tensors or buffers, or from any later point, to placed, "
      "scheduled programs with accumulation flags, verified",
      buildPipeline);
}
