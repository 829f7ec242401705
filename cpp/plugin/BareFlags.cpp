//===- BareFlags.cpp - Passes of a plugin as command line flags -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt makes one flag of every pass it knows when it starts, which is
// before it loads plugins: a pass of a plugin can be named in --pass-pipeline
// only, and that excludes all other pass flags.
//
// So each pass of ours gets a flag of its own here, an ordinary option of
// LLVM's command line. When the parser meets it, it hands an occurrence of the
// host's own flag --composite-fixed-point-pass to the host, whose pipeline is
// our pass. So the host keeps the order of all pass flags. That pass runs its
// pipeline until nothing changes any more, which for ours is the second time:
// they are idempotent, and silent on what they made.
//
//===----------------------------------------------------------------------===//

#include "BareFlags.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include <deque>
#include <string>

using namespace mlir;
namespace cl = llvm::cl;

static constexpr llvm::StringLiteral carrierName = "composite-fixed-point-pass";

/// The option of the host that takes the place of ours.
static cl::Option *getCarrier() {
  auto &options = cl::getRegisteredOptions();
  auto carrier = options.find(carrierName);
  return carrier == options.end() ? nullptr : carrier->second;
}

/// Hands the pass called `name` with the option string `passOptions` to the
/// host.
static void forward(llvm::StringRef name, llvm::StringRef passOptions) {
  // The host keeps references to what it is handed, as if it were in argv.
  static std::deque<std::string> values;
  std::string pass = name.str();
  if (!passOptions.empty())
    pass += "{" + passOptions.str() + "}";
  values.push_back("name=" + name.str() + " max-iterations=2 pipeline=" + pass);
  if (cl::Option *carrier = getCarrier())
    carrier->addOccurrence(/*pos=*/0, carrierName, values.back());
}

/// The pass or pipeline called `name`; null if there is none.
static const PassRegistryEntry *lookup(llvm::StringRef name) {
  if (const PassInfo *pass = PassInfo::lookup(name))
    return pass;
  return PassPipelineInfo::lookup(name);
}

void mlir::pto::registerBareFlags() {
  if (!getCarrier())
    return;
  for (llvm::StringRef name :
       {"pto-pipeline", "pto-bufferize", "convert-linalg-to-pto",
        "pto-alloc-psum", "pto-order-column-tiles", "pto-schedule",
        "pto-mark-first", "pto-reset-acc", "pto-legalize-acc", "pto-verify-acc",
        "pto-validate-against", "pto-print-psum", "pto-dump-deps"}) {
    const PassRegistryEntry *info = lookup(name);
    if (!info || cl::getRegisteredOptions().count(name))
      continue;
    // LLVM's command line keeps a reference for as long as the process lives.
    auto *option = new cl::opt<std::string>(
        name, cl::desc(info->getPassDescription()), cl::ValueOptional,
        cl::value_desc("options"), cl::ZeroOrMore);
    option->setCallback(
        [name](const std::string &options) { forward(name, options); });
  }
}
