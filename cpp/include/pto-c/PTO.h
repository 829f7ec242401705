//===- pto-c/PTO.h - Passes and interpreter of the pto dialect ----*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that hold MLIR through its C API, in any language. Operations
// and pass managers are those of that API. The dialect is in pto-c/Dialect.h:
// load it by mlirDialectHandleLoadDialect(mlirGetDialectHandle__pto__(),
// context).
//
// Diagnostics of a call go to its `diagnostics` callback as text, a line each
// with severity and location, notes indented by two blanks; to the context's
// own handlers instead where the callback is null. No call ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_C_PTO_H
#define PTO_C_PTO_H

#include "mlir-c/Pass.h"
#include "pto-c/Dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of this library, "major.minor.patch".
MLIR_CAPI_EXPORTED const char *ptoVersion(void);

/// Registers the passes, so that pipelines in text may name them. May be called
/// more than once.
MLIR_CAPI_EXPORTED void ptoRegisterPasses(void);

/// Appends the pass called `name`, pto-legalize-acc for one, with `options` as
/// they stand between the braces of a pipeline. Fails where there is no such
/// pass or option, with one sentence in `diagnostics`.
MLIR_CAPI_EXPORTED MlirLogicalResult ptoPassManagerAddPass(
    MlirOpPassManager manager, MlirStringRef name, MlirStringRef options,
    MlirStringCallback diagnostics, void *userData);

/// Derives the accumulation groups of every function in `root`. A function with
/// an error is as it was. `options` are those of pto-legalize-acc.
MLIR_CAPI_EXPORTED MlirLogicalResult
ptoLegalizeAcc(MlirOperation root, MlirStringRef options,
               MlirStringCallback diagnostics, void *userData);

/// Succeeds if the flags of every function in `root` are right. `options` are
/// those of pto-verify-acc.
MLIR_CAPI_EXPORTED MlirLogicalResult
ptoVerifyAcc(MlirOperation root, MlirStringRef options,
             MlirStringCallback diagnostics, void *userData);

/// Succeeds if every value that `root` reads from PSUM is the one that
/// `original` means, bit for bit, for all inputs: two functions, or two modules
/// whose functions are paired by their symbols, in one context. Nothing is
/// changed. `options` are those of pto-validate-against without `against`.
MLIR_CAPI_EXPORTED MlirLogicalResult ptoValidateAgainst(
    MlirOperation original, MlirOperation root, MlirStringRef options,
    MlirStringCallback diagnostics, void *userData);

/// The value of one argument or result of a run: a memref, or a scalar of rank
/// 0.
typedef struct {
  /// Its number among the arguments, or among the results.
  intptr_t number;
  bool isResult;
  /// The element type as MLIR spells it. Not looked at in an argument.
  MlirStringRef element;
  /// `rank` sizes. An argument may leave them out where its type has them.
  intptr_t rank;
  const uint64_t *sizes;
  /// `size` bytes: the elements, little endian, row-major, without gaps.
  const void *data;
  size_t size;
} PtoArray;

typedef void (*PtoArrayCallback)(const PtoArray *array, void *userData);

/// What a run is given, and where what it gives goes. A zeroed one runs `main`,
/// or the only function, with undefined arguments.
typedef struct {
  /// Options as on the command line of pto-run, without program and file.
  intptr_t numOptions;
  const MlirStringRef *options;
  /// Arguments.
  intptr_t numInputs;
  const PtoArray *inputs;
  /// Called for each memref argument as the function left it, then for each
  /// result, if the run came to its end. What it is given lives until it
  /// returns.
  PtoArrayCallback values;
  /// What the options ask to print, and diagnostics.
  MlirStringCallback output;
  MlirStringCallback diagnostics;
  void *userData;
} PtoRun;

/// Runs the module `module`. The result is 0 if all was fine, 1 if an
/// expectation, a comparison or a hazard failed, 2 if the module cannot be run.
MLIR_CAPI_EXPORTED int ptoRun(MlirOperation module, const PtoRun *run);

#ifdef __cplusplus
}
#endif

#endif // PTO_C_PTO_H
