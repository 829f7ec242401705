//===- capi-test.cpp - Drives the C accessors -----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   capi-test read FILE    prints what the accessors say of every operation
//   capi-test edit FILE    does to every operation what its `do` attribute
//   says,
//                          and prints the module
//   capi-test clash        loads the dialect where another pto is
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTODialect.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "pto-c/Dialect.h"

using namespace mlir;
using llvm::outs;

static void printMatmul(const PtoMatmul &matmul) {
  outs() << " acc " << matmul.acc << " region " << matmul.zeroRegion << " tile "
         << matmul.tileRows << "x" << matmul.tileCols << " at "
         << matmul.tileRow << "," << matmul.tileCol
         << (matmul.hasTile ? " given" : " whole") << " accumulator "
         << (matmul.accumulator.ptr == matmul.dst.ptr) << " predicates "
         << (matmul.startIf.ptr != nullptr) << (matmul.stopIf.ptr != nullptr)
         << " lhs " << unwrap(matmul.lhs).getType() << " rhs "
         << unwrap(matmul.rhs).getType();
}

static void printAlloc(const PtoAlloc &alloc) {
  outs() << " space " << alloc.space << " bank " << alloc.bank << " offset "
         << alloc.offset << " partition " << alloc.partition
         << (alloc.placed ? " placed" : " unplaced") << " "
         << unwrap(alloc.result).getType();
}

static void printValue(const char *name, MlirValue value) {
  if (value.ptr)
    outs() << " " << name << " " << unwrap(value).getType();
}

static void printTileOp(const PtoTileOp &op) {
  outs() << " function " << op.function << " rmode " << op.rmode << " mask "
         << op.mask << " sat " << op.sat << " trans " << op.transA << op.transB
         << " post " << op.hasPost << " " << op.preQuant << "," << op.relu
         << "," << op.group << " " << op.rowMaxEnable << op.groupMaxEnable
         << op.rowMaxInit << op.maxAbs;
  printValue("accumulator", op.accumulator);
  printValue("lhs", op.lhs);
  printValue("lhsScale", op.lhsScale);
  printValue("rhs", op.rhs);
  printValue("rhsScale", op.rhsScale);
  printValue("bias", op.bias);
  printValue("dst", op.dst);
  printValue("rowMax", op.rowMax);
  printValue("groupMax", op.groupMax);
  printValue("cScale", op.cScale);
  printValue("rowMaxIn", op.rowMaxIn);
  printValue("quant", op.quant);
  printValue("prelu", op.prelu);
}

static void printTileAlloc(const PtoTileAlloc &alloc) {
  auto type = cast<MemRefType>(unwrap(alloc.result).getType());
  outs() << " tile space " << alloc.space << " code " << alloc.sizeCode
         << " bytes " << alloc.bytes << (alloc.sized ? " sized" : " smallest")
         << " type " << ptoTypeGetTileDataType(wrap(type.getElementType()));
}

static void printInstruction(MlirOperation op) {
  uint32_t engine, afterCount;
  bool hasToken, inserted;
  if (!ptoEngineOpGet(op, &engine, &afterCount, &hasToken, &inserted))
    return;
  outs() << " engine " << engine << " token " << hasToken << " inserted "
         << inserted << " after";
  for (uint32_t i = 0; i < afterCount; ++i) {
    Operation *maker = unwrap(ptoEngineOpGetAfter(op, i)).getDefiningOp();
    outs() << " " << maker->getName()
           << (ptoEngineOpIsAfterInserted(op, i) ? "*" : "");
  }
}

static void printOperands(MlirOperation op) {
  unsigned count = unwrap(op)->getNumOperands();
  for (unsigned i = 0; i < count; ++i) {
    MlirType type = wrap(unwrap(op)->getOperand(i).getType());
    outs() << (i ? "," : " operands ") << ptoTypeGetSpace(type) << "/"
           << ptoOpOperandEffects(op, i);
  }
}

static void read(Operation *root) {
  root->walk<WalkOrder::PreOrder>([](Operation *inner) {
    MlirOperation op = wrap(inner);
    outs() << inner->getName() << " kind " << ptoOpGetKind(op);
    PtoMatmul matmul;
    if (ptoMatmulGet(op, &matmul))
      printMatmul(matmul);
    PtoAlloc alloc;
    if (ptoAllocGet(op, &alloc))
      printAlloc(alloc);
    PtoTileOp tileOp;
    if (ptoTileOpGet(op, &tileOp))
      printTileOp(tileOp);
    PtoTileAlloc tileAlloc;
    if (ptoTileAllocGet(op, &tileAlloc))
      printTileAlloc(tileAlloc);
    printInstruction(op);
    printOperands(op);
    outs() << (ptoOpIsView(op) ? " view\n" : "\n");
  });
}

/// Does one edit to `op`; `first` is the first operation with a token.
static void edit(Operation *inner, StringRef what, Operation *first) {
  MlirOperation op = wrap(inner);
  if (what == "set")
    ptoMatmulSetAcc(op, 3, 2);
  else if (what == "unset")
    ptoMatmulSetAcc(op, -1, -1);
  else if (what == "drop-predicates")
    ptoMatmulDropPredicates(op);
  else if (what == "place")
    op = ptoAllocPlace(op, 2, 1024, 64);
  else if (what == "token")
    op = ptoEngineOpAddToken(op, /*inserted=*/false);
  else if (what == "inserted-token")
    op = ptoEngineOpAddToken(op, /*inserted=*/true);
  else if (what == "drop")
    ptoEngineOpDropInserted(op);
  else if (what == "drop-token")
    op = ptoEngineOpDropTokenIfUnusedInserted(op);
  else if (what == "append" || what == "inserted-append") {
    MlirValue token = wrap(Value(first->getResult(0)));
    ptoEngineOpAppendAfter(op, 1, &token, what != "append");
  } else if (what == "memset-before") {
    ptoMemsetCreateBefore(op, wrap(inner->getOperand(0)),
                          wrap(inner->getOperand(1)), /*engine=*/1,
                          /*inserted=*/true);
  } else {
    llvm::report_fatal_error("unknown edit");
  }
  unwrap(op)->removeAttr("do");
}

static void edit(Operation *root) {
  SmallVector<std::pair<Operation *, StringRef>> edits;
  Operation *first = nullptr;
  root->walk([&](Operation *op) {
    if (auto what = op->getAttrOfType<StringAttr>("do"))
      edits.push_back({op, what.getValue()});
    if (!first && op->getName().getDialectNamespace() == "pto" &&
        op->getNumResults() == 1 &&
        ptoTypeGetSpace(wrap(op->getResult(0).getType())) == PtoSpaceNone)
      first = op;
  });
  for (auto [op, what] : edits)
    edit(op, what, first);
  root->print(outs());
  outs() << "\n";
}

namespace {

/// A dialect of another project.
class ForeignDialect : public Dialect {
public:
  explicit ForeignDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ForeignDialect>()) {
  }
  static constexpr StringLiteral getDialectNamespace() { return "pto"; }
};

} // namespace

static void clash() {
  std::string problem;
  DialectRegistry foreign;
  foreign.insert<ForeignDialect>();
  if (failed(pto::registerPTODialect(foreign, problem)))
    outs() << "register: " << problem << "\n";
  problem.clear();
  MLIRContext context(foreign);
  context.loadDialect<ForeignDialect>();
  if (failed(pto::loadPTODialect(context, problem)))
    outs() << "load: " << problem << "\n";
  DialectRegistry own;
  MLIRContext free;
  if (succeeded(pto::registerPTODialect(own, problem)) &&
      succeeded(pto::registerPTODialect(own, problem)) &&
      succeeded(pto::loadPTODialect(free, problem)) &&
      succeeded(pto::loadPTODialect(free, problem)))
    outs() << "twice ours: fine\n";
}

int main(int argc, char **argv) {
  StringRef mode = argc > 1 ? argv[1] : "";
  if (mode == "clash") {
    clash();
    return 0;
  }
  if (argc != 3 || (mode != "read" && mode != "edit")) {
    llvm::errs() << "usage: capi-test read|edit FILE, or capi-test clash\n";
    return 2;
  }
  MLIRContext context;
  context.loadDialect<pto::PTODialect, arith::ArithDialect, func::FuncDialect,
                      memref::MemRefDialect>();
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(argv[2], ParserConfig(&context));
  if (!module)
    return 1;
  mode == "read" ? read(*module) : edit(*module);
  return succeeded(verify(*module)) ? 0 : 1;
}
