"""Runs the tools of the build on hostile input, and says what must not happen.

A tool may refuse anything, with a diagnostic. It may not end by a signal, panic, hang, contradict itself
(`[pto:internal-...]`), fail in silence, or end with a status that it does not have. Crashes without a frame
of this project on the stack are upstream's, whose readers assume much: they are told, and fail no run.
"""

import hashlib
import os
import re
import resource
import subprocess
import time
from dataclasses import dataclass

SECONDS = 20
ADDRESS_SPACE = 10 << 30
MEMORY_LIMIT = 8 << 30  # that of pto-run


@dataclass(frozen=True)
class Finding:
    """What went wrong, with the command (without the input file) and the input."""

    what: str
    command: tuple
    data: bytes

    def is_ours(self):
        return "(upstream)" not in self.what


def limit():
    # AddressSanitizer takes more addresses than there is memory.
    if "ASAN_OPTIONS" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Tools:
    """Runs a tool on an input and says what is wrong with how it ended."""

    def __init__(self, build_dir, folder):
        self.opt = [str(build_dir / "bin" / "pto-opt"), "--allow-unregistered-dialect", "--mlir-disable-threading"]
        self.run = [str(build_dir / "bin" / "pto-run")]
        self.file = folder.resolve() / "input.mlir"

    def output(self, command, data):
        self.file.write_bytes(data)
        return subprocess.run(
            [*command, str(self.file)], stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limit, timeout=SECONDS,
            # Some options name files to write.
            cwd=self.file.parent,
        )  # fmt: skip

    def fault(self, command, data):
        """What must not happen and did; None where all is well."""
        return self.fault_and_output(command, data)[0]

    def fault_and_output(self, command, data):
        try:
            done = self.output(command, data)
        except subprocess.TimeoutExpired:
            return f"no end after {SECONDS} seconds", ""
        return self.judge(command, done), done.stdout.decode(errors="replace")

    def judge(self, command, done):
        stderr = done.stderr.decode(errors="replace")
        for line in stderr.splitlines():
            if line.startswith("memory allocation of") and int(line.split()[3]) <= MEMORY_LIMIT:
                return None  # within the limit of the interpreter, but not within ours
            if "panicked at" in line or "[pto:internal" in line or "LLVM ERROR" in line:
                return line[:300]
        if done.returncode not in ((0, 1) if command[0] == self.opt[0] else (0, 1, 2)):
            return f"ended with {done.returncode} {origin(stderr)}"
        if done.returncode != 0 and not stderr.strip():
            return f"status {done.returncode} without a word"
        return None


def origin(stderr):
    """Whose fault a crash is, and the innermost function known by name."""
    frames = [line.split(" 0x")[-1][17:] for line in stderr.splitlines() if line.lstrip().startswith("#")]
    named = [frame for frame in frames if "::" in frame and not frame.startswith("llvm::sys")]
    own = [frame for frame in named if re.search(r"\bpto(_\w+)?::", frame) and "runWithLargeStack" not in frame]
    whose = "(ours)" if own or not named else "(upstream)"
    return f"{whose}: {(own or named or ['?'])[0][:200]}"


def made_small(tools, finding):
    """Takes away lines as long as the tool still fails in the same way."""
    kind = finding.what.split(":")[0]
    lines = finding.data.split(b"\n")
    size = max(len(lines) // 2, 1)
    end = time.monotonic() + 60
    while size and time.monotonic() < end:
        start = 0
        while start < len(lines) and time.monotonic() < end:
            fewer = lines[:start] + lines[start + size :]
            fault = tools.fault(list(finding.command), b"\n".join(fewer))
            if fewer and fault and fault.split(":")[0] == kind:
                lines = fewer
            else:
                start += size
        size //= 2
    return b"\n".join(lines)


def keep(tools, finding, folder):
    """Writes a finding, made small, to `folder`; the file."""
    folder.mkdir(parents=True, exist_ok=True)
    is_text = finding.data[:1].isascii() and b"ML\xefR" not in finding.data[:8]
    data = made_small(tools, finding) if is_text else finding.data
    file = folder / f"{hashlib.sha256(data).hexdigest()[:12]}{'.mlir' if is_text else '.mlirbc'}"
    file.write_bytes(data)
    return file
