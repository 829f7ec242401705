//===- PTODialect.cpp - The pto dialect -----------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/PTODialect.h"
#include "PTO/IR/PTOOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Transforms/InliningUtils.h"
#include <atomic>

using namespace mlir;
using namespace mlir::pto;

#include "PTO/IR/PTODialect.cpp.inc"

namespace {

/// Every operation may be inlined anywhere: none has a region, and flags, tiles
/// and tokens are inherent, so a clone says what the original said.
struct PTOInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

} // namespace

uint64_t PTODialect::getNextNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

void PTODialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "PTO/IR/PTOOps.cpp.inc"
      >();
  addInterfaces<PTOInlinerInterface>();
}

static constexpr const char nameClash[] =
    "another dialect called 'pto' is there already (from another project, or "
    "from another copy of this one): use one of the two";

/// Whether `loaded` is a dialect called pto that is not this one.
static bool isForeign(Dialect *loaded) {
  return loaded && loaded->getTypeID() != TypeID::get<PTODialect>();
}

LogicalResult mlir::pto::loadPTODialect(MLIRContext &context,
                                        std::string &problem) {
  if (isForeign(context.getLoadedDialect(PTODialect::getDialectNamespace()))) {
    problem = nameClash;
    return failure();
  }
  context.loadDialect<PTODialect>();
  return success();
}

LogicalResult mlir::pto::registerPTODialect(DialectRegistry &registry,
                                            std::string &problem) {
  // A registry does not tell whose dialect a name stands for: make it, to see.
  if (auto makeDialect =
          registry.getDialectAllocator(PTODialect::getDialectNamespace())) {
    MLIRContext scratch(MLIRContext::Threading::DISABLED);
    if (isForeign(makeDialect(&scratch))) {
      problem = nameClash;
      return failure();
    }
  }
  registry.insert<PTODialect>();
  return success();
}
