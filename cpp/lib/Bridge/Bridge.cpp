//===- Bridge.cpp - Calls into the Rust core ------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one file that is compiled with exceptions: errors of Rust arrive as
// rust::Error, and none leaves this file.
//
//===----------------------------------------------------------------------===//

#include "PTO/Bridge/Bridge.h"
#include "PTO/IR/PTOAttributes.h"
#include "PTO/IR/PTODialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "rust/cxx.h"

using namespace mlir;
namespace bridge = pto_rust;

std::string mlir::pto::getTargetName(Operation *function, StringRef option) {
  if (!option.empty())
    return option.str();
  for (Operation *op = function; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>("pto.target"))
      return stringifyTargetKind(target.getValue()).str();
  return {};
}

std::string mlir::pto::validateOptions(bridge::Pass pass,
                                       const bridge::Options &options) {
  try {
    bridge::checkOptions(pass, options);
    return {};
  } catch (const rust::Error &error) {
    return error.what();
  }
}

mlir::pto::PassResult mlir::pto::runOnFunction(bridge::Pass pass,
                                               Operation *function,
                                               StringRef target,
                                               const bridge::Options &options) {
  PassResult result;
  try {
    result.outcome =
        bridge::runPass(pass, reinterpret_cast<size_t>(function),
                        rust::Str(target.data(), target.size()), options);
  } catch (const rust::Error &error) {
    result.outcome.failed = true;
    result.fault = error.what();
  }
  return result;
}

mlir::pto::PassResult mlir::pto::compareFunctions(Operation *original,
                                                  Operation *function,
                                                  StringRef target,
                                                  bool sticky) {
  PassResult result;
  try {
    result.outcome = bridge::compareFunctions(
        reinterpret_cast<size_t>(original), reinterpret_cast<size_t>(function),
        rust::Str(target.data(), target.size()), sticky);
  } catch (const rust::Error &error) {
    result.outcome.failed = true;
    result.fault = error.what();
  }
  return result;
}

static StringRef toStringRef(const rust::String &text) {
  return StringRef(text.data(), text.size());
}

static Location toLocation(size_t address) {
  return Location::getFromOpaquePointer(reinterpret_cast<void *>(address));
}

/// Remarks may be kept until the context goes, and they keep references to
/// names: so those are made attributes.
static StringRef intern(MLIRContext *context, StringRef text) {
  return StringAttr::get(context, text).getValue();
}

/// Remarks have no notes with places of their own, so the text names the place.
static std::string toText(const bridge::Note &note) {
  std::string text = toStringRef(note.text).str();
  llvm::raw_string_ostream stream(text);
  Location location = toLocation(note.location);
  if (auto file = dyn_cast<FileLineColLoc>(location))
    stream << " (" << file.getFilename().getValue() << ":" << file.getLine()
           << ":" << file.getColumn() << ")";
  else
    stream << " (" << location << ")";
  return text;
}

bool mlir::pto::wantsRemarks(Operation *root, StringRef category) {
  MLIRContext *context = root->getContext();
  if (!context->getRemarkEngine())
    return false;
  // Only a remark that is begun tells whether its category is wanted. It is
  // replaced before it ends, so nobody sees it.
  auto options = remark::RemarkOpts::name("").category(category);
  auto remark = remark::passed(root->getLoc(), options);
  bool isWanted = static_cast<bool>(remark);
  remark = remark::detail::InFlightRemark();
  return isWanted;
}

static void printRemark(const bridge::Message &message, Operation *function,
                        StringRef category) {
  MLIRContext *context = function->getContext();
  auto symbol =
      function->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  auto options =
      remark::RemarkOpts::name(intern(context, toStringRef(message.name)))
          .category(intern(context, category))
          .function(symbol ? symbol.getValue() : StringRef());
  auto remark = remark::passed(toLocation(message.location), options);
  remark << toStringRef(message.text);
  for (const bridge::Note &note : message.notes)
    remark << remark::detail::Remark::Arg("Note", toText(note));
}

void mlir::pto::printMessages(const PassResult &result, Operation *function,
                              StringRef category) {
  if (!result.fault.empty())
    emitError(function->getLoc(), result.fault);
  for (const bridge::Message &message : result.outcome.messages) {
    if (message.severity == bridge::Severity::Remark) {
      printRemark(message, function, category);
      continue;
    }
    bool isError = message.severity == bridge::Severity::Error;
    Location location = toLocation(message.location);
    InFlightDiagnostic diagnostic =
        isError ? emitError(location) : emitWarning(location);
    diagnostic << toStringRef(message.text);
    for (const bridge::Note &note : message.notes)
      diagnostic.attachNote(toLocation(note.location))
          << toStringRef(note.text);
  }
}
