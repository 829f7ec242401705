//===- PTOPlugin.cpp - The dialect and its passes as a plugin -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One shared object is both plugins of an mlir-opt:
//
//   mlir-opt --load-dialect-plugin=PTOPlugin.so --load-pass-plugin=PTOPlugin.so
//
// Loading it as a pass plugin alone is enough, as it then loads itself as a
// dialect plugin too. Loading it more than once does nothing more. A host that
// cannot take it gets one sentence and ends, where MLIR would abort.
//
//===----------------------------------------------------------------------===//

#include "BareFlags.h"
#include "PTO/IR/PTODialect.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace mlir;

/// Ends the host with one sentence: it cannot go on, and MLIR's own abort would
/// say less.
[[noreturn]] static void refuse(const llvm::Twine &sentence) {
  llvm::errs() << "error: PTOPlugin: " << sentence << "\n";
  std::_Exit(1);
}

/// The file that holds the code at `address`.
static std::string getFileOf(const void *address) {
  Dl_info info;
  bool found = dladdr(address, &info) && info.dli_fname;
  return found ? info.dli_fname : "an unknown file";
}

/// Refuses a host whose MLIR is another than the one this plugin is linked
/// with: two of them in one process have two of every registry. `caller` is an
/// address in the code that loads the plugin.
static void checkHost(const void *caller) {
  std::string host = getFileOf(caller);
  std::string own = getFileOf(reinterpret_cast<void *>(&PassPlugin::load));
  if (host != own)
    refuse("built for the MLIR " LLVM_VERSION_STRING " in " + own +
           ", but loaded by the one in " + host);
}

/// Registers the dialect once for each registry.
static void registerDialect(DialectRegistry *registry) {
  std::string problem;
  if (failed(pto::registerPTODialect(*registry, problem)))
    refuse(problem);
}

/// Makes the host load this file as a dialect plugin as well, if it can: with
/// the passes alone it could not parse their input.
static void loadAsDialectPlugin() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto option = options.find("load-dialect-plugin");
  if (option == options.end())
    return;
  std::string path = getFileOf(reinterpret_cast<void *>(&loadAsDialectPlugin));
  option->second->addOccurrence(/*pos=*/0, "load-dialect-plugin", path);
}

/// Registers the passes and their command line flags, once.
static void registerPasses() {
  static bool isRegistered = false;
  if (isRegistered)
    return;
  isRegistered = true;
  if (PassInfo::lookup("pto-legalize-acc"))
    refuse(
        "this tool has the passes of pto already; run it without the plugin");
  pto::registerPTOPasses();
  pto::registerPTOPipelines();
  loadAsDialectPlugin();
  pto::registerBareFlags();
}

extern "C" DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  checkHost(__builtin_return_address(0));
  return {MLIR_PLUGIN_API_VERSION, "PTOPlugin", LLVM_VERSION_STRING,
          registerDialect};
}

extern "C" PassPluginLibraryInfo mlirGetPassPluginInfo() {
  checkHost(__builtin_return_address(0));
  return {MLIR_PLUGIN_API_VERSION, "PTOPlugin", LLVM_VERSION_STRING,
          registerPasses};
}
