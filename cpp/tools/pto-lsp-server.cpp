//===- pto-lsp-server.cpp - mlir-lsp-server with the pto dialect ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's server, in a process of its own, behind a relay that adds what
// upstream has no place for: see lsp/Relay.h. It reads standard input and
// writes standard output itself, which is why it is a process and no thread.
//
//===----------------------------------------------------------------------===//

#include "Tools.h"
#include "lsp/Relay.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

static int fail(const char *what) {
  llvm::errs() << "pto-lsp-server: cannot " << what << ": " << strerror(errno)
               << "\n";
  return 1;
}

/// Whether the arguments ask for something else than a server that speaks the
/// protocol on standard input and output: help, the version, or the format of
/// upstream's tests. Upstream's server does that alone.
static bool isProtocol(int argc, char **argv) {
  for (StringRef argument : ArrayRef(argv + 1, argc - 1)) {
    StringRef name = argument.ltrim('-');
    if (name.starts_with("help") || name == "version" || name == "h" ||
        name.starts_with("lit-test") || name.starts_with("input-style"))
      return false;
  }
  return true;
}

/// Runs upstream's server between the pipes, and this process between it and
/// the editor.
static int serve(int argc, char **argv, DialectRegistry &registry) {
  int toServer[2], fromServer[2];
  if (pipe(toServer) || pipe(fromServer))
    return fail("make a pipe");
  pid_t server = fork();
  if (server < 0)
    return fail("start the server");
  if (server == 0) {
    dup2(toServer[0], STDIN_FILENO);
    dup2(fromServer[1], STDOUT_FILENO);
    for (int file : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
      close(file);
    bool isFine = succeeded(MlirLspServerMain(argc, argv, registry));
    return isFine ? 0 : 1;
  }
  close(toServer[0]);
  close(fromServer[1]);
  // An end that is gone is seen by its end of file.
  signal(SIGPIPE, SIG_IGN);
  pto::RelayFiles files{stdin, stdout, fdopen(fromServer[0], "r"),
                        fdopen(toServer[1], "w")};
  if (!files.fromServer || !files.toServer)
    return fail("open a pipe");
  pto::relay(registry, files);
  int status = 0;
  waitpid(server, &status, 0);
  std::fflush(stdout);
  // The thread that reads from the editor may still wait.
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  pto::registerToolDialects(registry);
  if (!isProtocol(argc, argv))
    return failed(MlirLspServerMain(argc, argv, registry));
  return serve(argc, argv, registry);
}
