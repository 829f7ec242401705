//===- Relay.cpp - A language server in front of another ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relay.h"
#include "Analysis.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>
#include <thread>

using namespace mlir;
namespace json = llvm::json;

namespace {
/// Where an editor asked for an explanation.
struct Question {
  std::string uri;
  int64_t line, character;
};

class Relay {
public:
  Relay(const DialectRegistry &registry, const pto::RelayFiles &files)
      : registry(registry), files(files) {}

  void run();

private:
  void fromEditor();
  void fromServer();
  void noteRequest(const json::Object &message);
  void noteDocument(StringRef uri, StringRef text);
  std::string getDocument(StringRef uri);
  void addProblems(json::Object &params);
  void addExplanation(json::Object &message, const Question &question);

  const DialectRegistry &registry;
  const pto::RelayFiles &files;
  /// Guards the members below: two threads pass messages on.
  std::mutex mutex;
  llvm::StringMap<std::string> documents;
  /// By the request's id as text.
  llvm::StringMap<Question> questions;
};
} // namespace

static void send(std::FILE *file, StringRef message) {
  std::fprintf(file, "Content-Length: %zu\r\n\r\n", message.size());
  std::fwrite(message.data(), 1, message.size(), file);
  std::fflush(file);
}

static std::string toText(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Passes on what `from` says until it ends. `change` may change a message; it
/// gets null for what is no object, which goes on as it is.
static void pass(std::FILE *from, std::FILE *to,
                 llvm::function_ref<bool(json::Object &)> change) {
  llvm::lsp::JSONTransportInputOverFile input(from);
  std::string text;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (failed(input.readStandardMessage(text)))
      continue;
    llvm::Expected<json::Value> value = json::parse(text);
    if (!value) {
      llvm::consumeError(value.takeError());
      send(to, text);
      continue;
    }
    json::Object *message = value->getAsObject();
    bool isChanged = message && change(*message);
    send(to, isChanged ? toText(*value) : text);
  }
}

void Relay::run() {
  std::thread editor([this] { fromEditor(); });
  fromServer();
  // The editor's side may wait for a message that does not come any more.
  editor.detach();
}

void Relay::fromEditor() {
  pass(files.fromEditor, files.toServer, [this](json::Object &message) {
    noteRequest(message);
    return false;
  });
  std::fclose(files.toServer);
}

void Relay::noteRequest(const json::Object &message) {
  std::optional<StringRef> method = message.getString("method");
  const json::Object *params = message.getObject("params");
  const json::Object *document =
      params ? params->getObject("textDocument") : nullptr;
  std::optional<StringRef> uri =
      document ? document->getString("uri") : std::nullopt;
  if (!method || !uri)
    return;
  if (*method == "textDocument/didOpen") {
    if (std::optional<StringRef> text = document->getString("text"))
      noteDocument(*uri, *text);
  } else if (*method == "textDocument/didChange") {
    // Upstream asks for whole documents; the last change is the newest.
    const json::Array *changes = params->getArray("contentChanges");
    const json::Object *last =
        changes && !changes->empty() ? changes->back().getAsObject() : nullptr;
    if (last && last->getString("text") && !last->get("range"))
      noteDocument(*uri, *last->getString("text"));
  } else if (*method == "textDocument/didClose") {
    std::lock_guard<std::mutex> lock(mutex);
    documents.erase(*uri);
  } else if (*method == "textDocument/hover") {
    const json::Object *position = params->getObject("position");
    const json::Value *id = message.get("id");
    if (!position || !id)
      return;
    Question question{uri->str(), position->getInteger("line").value_or(0),
                      position->getInteger("character").value_or(0)};
    std::lock_guard<std::mutex> lock(mutex);
    questions[toText(*id)] = std::move(question);
  }
}

void Relay::noteDocument(StringRef uri, StringRef text) {
  std::lock_guard<std::mutex> lock(mutex);
  documents[uri] = text.str();
}

std::string Relay::getDocument(StringRef uri) {
  std::lock_guard<std::mutex> lock(mutex);
  return documents.lookup(uri);
}

void Relay::fromServer() {
  pass(files.fromServer, files.toEditor, [this](json::Object &message) {
    if (message.getString("method") ==
        StringRef("textDocument/publishDiagnostics")) {
      if (json::Object *params = message.getObject("params"))
        addProblems(*params);
      return true;
    }
    const json::Value *id = message.get("id");
    if (!id || message.get("method"))
      return false;
    std::optional<Question> question;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto found = questions.find(toText(*id));
      if (found == questions.end())
        return false;
      question = std::move(found->second);
      questions.erase(found);
    }
    addExplanation(message, *question);
    return true;
  });
}

void Relay::addProblems(json::Object &params) {
  std::optional<StringRef> uri = params.getString("uri");
  json::Array *diagnostics = params.getArray("diagnostics");
  if (!uri || !diagnostics)
    return;
  std::string text = getDocument(*uri);
  for (json::Value &problem : pto::findProblems(registry, text, *uri))
    diagnostics->push_back(std::move(problem));
}

void Relay::addExplanation(json::Object &message, const Question &question) {
  if (message.get("error") || question.line < 0 || question.character < 0)
    return;
  std::string text = pto::explainAt(registry, getDocument(question.uri),
                                    question.line, question.character);
  if (text.empty())
    return;
  if (json::Object *result = message.getObject("result")) {
    json::Object *contents = result->getObject("contents");
    std::optional<StringRef> before =
        contents ? contents->getString("value") : std::nullopt;
    if (before)
      (*contents)["value"] = text + "\n\n---\n\n" + before->str();
    return;
  }
  message["result"] = json::Object{
      {"contents", json::Object{{"kind", "markdown"}, {"value", text}}}};
}

void mlir::pto::relay(const DialectRegistry &registry,
                      const RelayFiles &files) {
  Relay(registry, files).run();
}
