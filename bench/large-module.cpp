//===- large-module.cpp - A large module, built and legalized in memory ---===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds one function of as many matmuls as asked, as a compiler would that
// embeds the passes: chains of five over eight banks, each drained when it is
// done. Then runs pto-legalize-acc on it and tells time and peak memory.
//
//   pto-large-module COUNT [--json]
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTODialect.h"
#include "PTO/IR/PTOOps.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/resource.h>

using namespace mlir;

/// The kernel of a chain of two; the builder below copies its operations.
static constexpr llvm::StringLiteral seed = R"(
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!acc = memref<128x512xf32, #pto.mem<psum>>
func.func @large(%w: !w, %x: !x, %out: memref<128x512xf32>) {
  return
}
func.func private @chain(%w: !w, %x: !x, %out: memref<128x512xf32>) {
  %a = pto.psum_alloc bank(0) : !acc
  pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
  pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %out : !acc, memref<128x512xf32>
  return
}
)";

static constexpr unsigned chainLength = 5;
static constexpr unsigned banks = 8;
static constexpr double limitGiB = 16;

static double peakGiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / double(1 << 20);
}

/// Fills @large with `count` matmuls.
static void build(ModuleOp module, size_t count) {
  auto large = module.lookupSymbol<func::FuncOp>("large");
  auto chain = module.lookupSymbol<func::FuncOp>("chain");
  Block &body = large.front();
  OpBuilder builder(body.getTerminator());
  IRMapping arguments;
  arguments.map(chain.getArguments(), large.getArguments());
  SmallVector<Operation *> parts;
  for (Operation &op : chain.front().without_terminator())
    parts.push_back(&op);
  Operation *alloc = parts[0], *head = parts[1], *member = parts[2];
  Operation *drain = parts[3];
  unsigned bank = 0;
  for (size_t left = count; left != 0; bank = (bank + 1) % banks) {
    IRMapping mapping = arguments;
    Operation *placed = builder.clone(*alloc, mapping);
    cast<pto::PsumAllocOp>(placed).setBank(bank);
    size_t length = std::min<size_t>(left, chainLength);
    builder.clone(*head, mapping);
    for (size_t i = 1; i < length; ++i)
      builder.clone(*member, mapping);
    builder.clone(*drain, mapping);
    left -= length;
  }
  chain.erase();
}

int main(int argc, char **argv) {
  size_t count = 0;
  bool json = argc == 3 && StringRef(argv[2]) == "--json";
  if (argc < 2 || argc > 3 || (argc == 3 && !json) ||
      StringRef(argv[1]).getAsInteger(10, count) || count == 0) {
    llvm::errs() << "usage: pto-large-module COUNT [--json]\n";
    return 2;
  }
  DialectRegistry registry;
  registry.insert<pto::PTODialect, func::FuncDialect, memref::MemRefDialect,
                  arith::ArithDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(seed, &context);
  if (!module)
    return 1;
  build(*module, count);
  double built = peakGiB();
  pto::registerPTOPasses();
  PassManager passes(&context);
  passes.enableVerifier(false);
  if (failed(parsePassPipeline("pto-legalize-acc", passes)))
    return 1;
  auto start = std::chrono::steady_clock::now();
  if (failed(passes.run(*module)))
    return 1;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  // A matmul without flags would mean that nothing was derived.
  bool isLegal = true;
  module->walk([&](pto::TMatmulOp op) { isLegal &= op.getAcc().has_value(); });
  module->walk(
      [&](pto::TMatmulAccOp op) { isLegal &= op.getAcc().has_value(); });
  if (!isLegal) {
    llvm::errs() << "pto-large-module: a matmul has no flags\n";
    return 1;
  }
  if (json)
    llvm::outs() << "{\"name\": \"peak memory of " << count
                 << " matmuls in process, GiB\", \"figure\": "
                 << llvm::format("%.2f", peakGiB()) << ", \"bar\": " << limitGiB
                 << ", \"detail\": \""
                 << llvm::format("%.2f GiB when built, legalized in %.1f s",
                                 built, seconds.count())
                 << "\"}\n";
  else
    llvm::outs() << count << " matmuls: "
                 << llvm::format("%.2f GiB when built, peak %.2f GiB, "
                                 "legalized in %.2f s\n",
                                 built, peakGiB(), seconds.count());
  // The module is not taken down operation by operation: the process ends.
  module.release();
  return 0;
}
