//===- main.cpp - A compiler with a dialect of its own, onto pto ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mini-compiler kernel.mlir
//
// Reads a kernel of the dialect `mini`, whose one operation multiplies matrices
// of any K, lowers it to pto, legalizes it with remarks, proves the flags right
// and the sums those of the program without flags, prints it, and runs it.
//
//===----------------------------------------------------------------------===//

#include "PTO/Execution/Run.h"
#include "PTO/IR/PTODialect.h"
#include "PTO/IR/PTOOps.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
//===----------------------------------------------------------------------===//
// The dialect: "mini.matmul"(%w, %x, %y), y[M, N] = w[K, M]^T . x[K, N]
//===----------------------------------------------------------------------===//

struct MatmulOp
    : Op<MatmulOp, OpTrait::NOperands<3>::Impl, OpTrait::ZeroResults> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MatmulOp)
  using Op::Op;
  static StringRef getOperationName() { return "mini.matmul"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct MiniDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MiniDialect)
  explicit MiniDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<MiniDialect>()) {
    addOperations<MatmulOp>();
  }
  static StringRef getDialectNamespace() { return "mini"; }
};

//===----------------------------------------------------------------------===//
// The lowering: K in steps of 128, one PSUM bank, no flags
//===----------------------------------------------------------------------===//

/// The rows [first, first + count) of `matrix`, brought to SBUF.
Value loadRows(OpBuilder &builder, Location loc, Value matrix, int64_t first,
               int64_t count) {
  auto type = cast<MemRefType>(matrix.getType());
  int64_t columns = type.getDimSize(1);
  auto pair = [&](int64_t row, int64_t column) -> SmallVector<OpFoldResult> {
    return {builder.getIndexAttr(row), builder.getIndexAttr(column)};
  };
  Value rows = memref::SubViewOp::create(builder, loc, matrix, pair(first, 0),
                                         pair(count, columns), pair(1, 1));
  auto space = pto::MemAttr::get(builder.getContext(), pto::MemorySpace::sbuf);
  auto sbufType = MemRefType::get({count, columns}, type.getElementType(),
                                  MemRefLayoutAttrInterface(), space);
  Value buffer =
      pto::SbufAllocOp::create(builder, loc, sbufType, nullptr, nullptr);
  pto::CopyOp::create(builder, loc, rows, buffer);
  return buffer;
}

struct LowerToPTO : PassWrapper<LowerToPTO, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToPTO)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pto::PTODialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    getOperation().walk([](MatmulOp op) {
      OpBuilder builder(op);
      Location loc = op.getLoc();
      Value w = op->getOperand(0), x = op->getOperand(1), y = op->getOperand(2);
      auto type = cast<MemRefType>(y.getType());
      auto psum = pto::MemAttr::get(op.getContext(), pto::MemorySpace::psum);
      auto sumType = MemRefType::get(type.getShape(), type.getElementType(),
                                     MemRefLayoutAttrInterface(), psum);
      Value sum = pto::PsumAllocOp::create(builder, loc, sumType,
                                           builder.getI64IntegerAttr(0),
                                           nullptr, nullptr);
      int64_t depth = cast<MemRefType>(w.getType()).getDimSize(0);
      for (int64_t k = 0; k < depth; k += 128) {
        int64_t count = std::min<int64_t>(128, depth - k);
        Value lhs = loadRows(builder, loc, w, k, count);
        Value rhs = loadRows(builder, loc, x, k, count);
        pto::TMatmulAccOp::create(builder, loc, sum, lhs, rhs, sum);
      }
      pto::CopyOp::create(builder, loc, sum, y);
      op.erase();
    });
  }
};

/// Prints each remark of the passes of pto.
struct RemarkPrinter : remark::detail::MLIRRemarkStreamerBase {
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    llvm::outs() << "// " << remark.getMsg() << "\n";
  }
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: mini-compiler FILE\n";
    return 2;
  }
  DialectRegistry registry;
  registry.insert<MiniDialect, func::FuncDialect, memref::MemRefDialect>();
  std::string problem;
  if (failed(pto::registerPTODialect(registry, problem))) {
    llvm::errs() << problem << "\n";
    return 2;
  }
  MLIRContext context(registry);
  if (failed(remark::enableOptimizationRemarks(
          context, std::make_unique<RemarkPrinter>(),
          std::make_unique<remark::RemarkEmittingPolicyAll>(),
          {/*all=*/{}, /*passed=*/"pto.*", {}, {}, {}})))
    return 2;
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 2;

  PassManager lowering(&context), legalization(&context);
  lowering.addNestedPass<func::FuncOp>(std::make_unique<LowerToPTO>());
  pto::PTOLegalizeAccOptions options;
  options.target = "trn2";
  legalization.addPass(pto::createLegalizeAccPass(options));
  if (failed(lowering.run(*module)))
    return 1;
  OwningOpRef<ModuleOp> meant = module->clone();
  if (failed(legalization.run(*module)) || failed(pto::verifyAcc(*module)) ||
      failed(pto::validateAgainst(*meant, *module)))
    return 1;
  module->print(llvm::outs());

  // Under every meaning of START: arguments are random, reads are compared.
  pto::RunResult result = pto::run(*module, {"--random-inputs"});
  llvm::outs() << "// ran with status " << result.status << ", "
               << result.values.size() << " arrays\n";
  return result.status;
}
