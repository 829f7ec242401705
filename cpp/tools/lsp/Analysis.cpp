//===- Analysis.cpp - What an editor is told of a document ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's server keeps what it parses to itself, so a document is parsed
// once more here, and the passes look at that.
//
//===----------------------------------------------------------------------===//

#include "Analysis.h"
#include "PTO/Bridge/Bridge.h"
#include "PTO/Transforms/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace json = llvm::json;
namespace bridge = pto_rust;

namespace {
/// One module of a document.
struct Part {
  StringRef text;
  /// Its first line in the document.
  unsigned firstLine = 0;
};

/// A part, parsed.
struct Parsed {
  explicit Parsed(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {}

  MLIRContext context;
  llvm::SourceMgr sources;
  AsmParserState state;
  OwningOpRef<ModuleOp> module;
};

/// The name under which documents are parsed. A location may name another
/// file, as a printed location does: that is no place in the document.
constexpr llvm::StringLiteral documentName = "document";

/// A place in a document, from 0.
struct Position {
  unsigned line, character;
};
} // namespace

static SmallVector<Part> split(StringRef text) {
  SmallVector<Part> parts;
  Part part{text, 0};
  unsigned line = 0;
  for (const char *at = text.begin(); at != text.end(); ++line) {
    StringRef rest(at, text.end() - at);
    StringRef current = rest.take_until([](char c) { return c == '\n'; });
    if (current.starts_with("// -----")) {
      part.text = StringRef(part.text.begin(), at - part.text.begin());
      parts.push_back(part);
      part = {rest, line};
    }
    at = current.end() == text.end() ? text.end() : current.end() + 1;
  }
  parts.push_back(part);
  return parts;
}

/// Parses `text`; null if there is something wrong with it.
static std::unique_ptr<Parsed> parse(const DialectRegistry &registry,
                                     StringRef text) {
  auto parsed = std::make_unique<Parsed>(registry);
  // Upstream's server tells of these.
  ScopedDiagnosticHandler ignore(&parsed->context,
                                 [](Diagnostic &) { return success(); });
  parsed->sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, documentName), llvm::SMLoc());
  parsed->module = ModuleOp::create(UnknownLoc::get(&parsed->context));
  ParserConfig config(&parsed->context);
  if (failed(parseAsmSourceFile(parsed->sources, parsed->module->getBody(),
                                config, &parsed->state)))
    return nullptr;
  return parsed;
}

static std::optional<Position> getPosition(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file || file.getFilename() != documentName || file.getLine() == 0)
    return std::nullopt;
  return Position{file.getLine() - 1, std::max(file.getColumn(), 1u) - 1};
}

/// The name or word at a place of `part`, as a range of the document.
static json::Object getRange(const Part &part, Position position) {
  StringRef line = part.text;
  for (unsigned skipped = 0; skipped < position.line; ++skipped)
    line = line.split('\n').second;
  line = line.split('\n').first;
  auto isOfWord = [](char c) {
    return llvm::isAlnum(c) || StringRef("._%@$#").contains(c);
  };
  size_t length = line.substr(position.character).take_while(isOfWord).size();
  auto at = [&](size_t character) {
    return json::Object{{"line", int64_t(part.firstLine) + position.line},
                        {"character", int64_t(position.character + character)}};
  };
  return json::Object{{"start", at(0)},
                      {"end", at(std::max<size_t>(length, 1))}};
}

/// The tag in brackets at the end of a message.
static StringRef getTag(StringRef message) {
  return message.ends_with("]") ? message.drop_back().rsplit('[').second
                                : StringRef();
}

/// Whether a finding is no fault of what is being typed: passes that are still
/// to come derive flags and give places.
static bool isUnfinished(StringRef tag) {
  return tag == "pto:auto-flags" || tag == "pto:unplaced";
}

static json::Object toJson(const Diagnostic &diagnostic, const Part &part,
                           StringRef uri, Position position) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  std::string message = diagnostic.str();
  json::Array related;
  for (const Diagnostic &note : diagnostic.getNotes())
    if (std::optional<Position> place = getPosition(note.getLocation()))
      related.push_back(json::Object{
          {"location",
           json::Object{{"uri", uri.str()}, {"range", getRange(part, *place)}}},
          {"message", note.str()}});
  json::Object result{{"range", getRange(part, position)},
                      {"severity", isError ? 1 : 2},
                      {"source", "pto"},
                      {"code", getTag(message).str()},
                      {"message", message}};
  if (!related.empty())
    result["relatedInformation"] = std::move(related);
  return result;
}

json::Array mlir::pto::findProblems(const DialectRegistry &registry,
                                    StringRef text, StringRef uri) {
  json::Array problems;
  for (const Part &part : split(text)) {
    std::unique_ptr<Parsed> parsed = parse(registry, part.text);
    if (!parsed)
      continue;
    ScopedDiagnosticHandler handler(
        &parsed->context, [&](Diagnostic &diagnostic) {
          std::optional<Position> position =
              getPosition(diagnostic.getLocation());
          if (position && !isUnfinished(getTag(diagnostic.str())))
            problems.push_back(toJson(diagnostic, part, uri, *position));
          return success();
        });
    // What it finds is in the diagnostics.
    (void)verifyAcc(*parsed->module);
  }
  return problems;
}

/// The innermost operation around a place.
static Operation *findOperation(const Parsed &parsed, llvm::SMLoc place) {
  const AsmParserState::OperationDefinition *innermost = nullptr;
  for (const AsmParserState::OperationDefinition &found :
       parsed.state.getOpDefs()) {
    const char *at = place.getPointer();
    if (found.scopeLoc.Start.getPointer() <= at &&
        at < found.scopeLoc.End.getPointer() &&
        (!innermost || innermost->scopeLoc.Start.getPointer() <=
                           found.scopeLoc.Start.getPointer()))
      innermost = &found;
  }
  return innermost ? innermost->op : nullptr;
}

/// Everything there is to tell of `op`.
static std::string explain(Operation *op, unsigned firstLine) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function)
    return {};
  pto::PassResult result =
      pto::runOnFunction(bridge::Pass::Explain, function,
                         pto::getTargetName(function), bridge::Options{});
  std::string text;
  for (const bridge::Message &message : result.outcome.messages) {
    if (message.location !=
        reinterpret_cast<size_t>(op->getLoc().getAsOpaquePointer()))
      continue;
    text = std::string(message.text);
    for (const bridge::Note &note : message.notes) {
      auto place = Location::getFromOpaquePointer(
          reinterpret_cast<void *>(note.location));
      if (std::optional<Position> position = getPosition(place))
        text += " (" + std::string(note.text) + ": line " +
                std::to_string(firstLine + position->line + 1) + ")";
    }
  }
  return text;
}

std::string mlir::pto::explainAt(const DialectRegistry &registry,
                                 StringRef text, unsigned line,
                                 unsigned character) {
  SmallVector<Part> parts = split(text);
  auto later =
      llvm::find_if(parts, [&](Part &part) { return part.firstLine > line; });
  const Part &part = *std::prev(later);
  std::unique_ptr<Parsed> parsed = parse(registry, part.text);
  if (!parsed)
    return {};
  llvm::SMLoc place = parsed->sources.FindLocForLineAndColumn(
      parsed->sources.getMainFileID(), line - part.firstLine + 1,
      character + 1);
  if (!place.isValid())
    return {};
  Operation *op = findOperation(*parsed, place);
  return op ? explain(op, part.firstLine) : std::string();
}
