"""An editor that speaks the language server protocol: python3 client.py SERVER FILE.

Opens FILE, asks about each place marked by a comment `// ^ hover`, changes the text as the first
`// replace A by B` says, closes it and ends the server. Prints what it is told.
"""

import json
import os
import re
import select
import subprocess
import sys
import time

TIMEOUT = 120  # seconds for one message


class Server:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.number, self.rest, self.waiting = 0, b"", []

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def call(self, method, **params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        answer = self.wait(lambda message: message.get("id") == self.number and "method" not in message)
        assert "error" not in answer, answer
        return answer.get("result")

    def wait(self, is_wanted):
        """The first message that is wanted; the others are kept."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            for index, message in enumerate(self.waiting):
                if is_wanted(message):
                    return self.waiting.pop(index)
            self.waiting.append(self.read(deadline))

    def read(self, deadline):
        while True:
            head, mark, body = self.rest.partition(b"\r\n\r\n")
            if mark:
                length = int(re.search(rb"Content-Length: (\d+)", head)[1])
                if len(body) >= length:
                    self.rest = body[length:]
                    return json.loads(body[:length])
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self.process.stdout], [], [], left)[0], "no answer"
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            assert piece, "the server has ended"
            self.rest += piece

    def end(self):
        self.call("shutdown")
        self.send({"method": "exit"})
        print("exit status:", self.process.wait(TIMEOUT))


def diagnostics(server, version):
    message = server.wait(
        lambda message: message.get("method") == "textDocument/publishDiagnostics"
        and message["params"].get("version", version) == version)
    found = message["params"]["diagnostics"]
    print(f"version {version}: {len(found)} diagnostics")
    for one in found:
        start, end = one["range"]["start"], one["range"]["end"]
        place = f"{start['line'] + 1}:{start['character'] + 1}-{end['character'] + 1}"
        print(f"  {place} severity {one['severity']} {one.get('code', 'none')}: {one['message']}")
        for related in one.get("relatedInformation", []):
            print(f"    {related['location']['range']['start']['line'] + 1}: {related['message']}")


def hover(server, document, line, character):
    answer = server.call("textDocument/hover", textDocument=document,
                         position={"line": line, "character": character})
    print(f"hover {line + 1}:{character + 1}")
    for text in (answer["contents"]["value"] if answer else "nothing").splitlines():
        print(f"  | {text}" if text else "  |")


def main(path, file):
    with open(file) as source:
        text = source.read()
    server, document = Server(path), {"uri": "file:///" + os.path.basename(file)}
    server.call("initialize", processId=None, rootUri=None, capabilities={})
    server.notify("initialized")
    server.notify("textDocument/didOpen", textDocument={**document, "languageId": "mlir", "version": 1, "text": text})
    diagnostics(server, 1)
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if mark := re.match(r"\s*// *(\^) hover", line):
            hover(server, document, number - 1, mark.start(1))
    change = re.search(r"// replace `(.*)` by `(.*)`", text)
    text = text.replace(change[1], change[2], 1)
    server.notify("textDocument/didChange", textDocument={**document, "version": 2}, contentChanges=[{"text": text}])
    diagnostics(server, 2)
    server.notify("textDocument/didClose", textDocument=document)
    server.end()


main(*sys.argv[1:])
