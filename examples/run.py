"""Runs every example from the text to the numbers and says whether all of them are right.

Kernels of the tile ISA are executed as they are. For each other kernel and target: a stock mlir-opt with the plugin orders column tiles and derives the flags,
pto-run executes the result under every model, and each written argument is compared bit for bit with the
numpy reference of the kernel. Some runs must fail, each with the diagnostic that explains why.
Exit status: 0 all as expected, 1 a difference (each is printed), 2 a tool is missing.
"""

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLES / "common"))

import numpy as np  # noqa: E402
import pe_reference  # noqa: E402

# `all` runs three meanings and compares every read; each is also run by name, for its own outputs.
# The extent is how many partitions a START reaches: those of its column group, or of its destination.
MODELS = (
    ("all", "group"),
    ("all", "dst"),
    ("reference", "group"),
    ("written-bit", "group"),
    ("eager-zero", "group"),
    ("eager-zero", "dst"),
    ("sticky-pending", "group"),
)
TIMEOUT_SECONDS = 600


class Failed(Exception):
    """A run that did not do what was expected; the text says what was expected and what was found."""


class Kernel:
    """A folder of examples/: its texts, and the inputs and results of its reference.py, made once."""

    def __init__(self, name):
        self.name = name
        self.folder = EXAMPLES / name
        spec = importlib.util.spec_from_file_location(f"reference_of_{name}", self.folder / "reference.py")
        self.reference = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.reference)

    @cached_property
    def inputs(self):
        return self.reference.make_inputs()

    @cached_property
    def expected(self):
        return self.reference.reference(self.inputs)

    def save_inputs(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        paths = {number: folder / f"input{number}.npy" for number in self.inputs}
        for number, path in paths.items():
            pe_reference.save(path, self.inputs[number])
        return paths


@dataclass(frozen=True)
class Tools:
    """The programs under test, and the folder for the files they exchange."""

    mlir_opt: Path
    plugin: Path
    pto_run: Path
    work: Path

    def legalize(self, source, target, options):
        """A file of pto IR -> (exit status, the text with flags, diagnostics)."""
        return invoke(
            self.mlir_opt,
            f"--load-dialect-plugin={self.plugin}",
            f"--load-pass-plugin={self.plugin}",
            "--pto-order-column-tiles",
            f"--pto-legalize-acc=target={target} {options}",
            source,
        )

    def run(self, program, target, options, inputs, outputs):
        """Executes the text of a program; arguments are written as files to `outputs`."""
        outputs.mkdir(parents=True, exist_ok=True)
        files = [f"--input={number}={path}" for number, path in inputs.items()]
        command = [self.pto_run, f"--target={target}", *options, *files, f"--output-dir={outputs}", "-"]
        return invoke(*command, standard_input=program)


def invoke(*command, standard_input=None):
    done = subprocess.run(
        [str(part) for part in command],
        input=standard_input,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True)
class Right:
    """A kernel whose outputs equal its reference under `models`; mlir-opt says `warning` or nothing."""

    name: str
    target: str
    models: tuple[tuple[str, str], ...] = MODELS
    warning: str | None = None
    flags = "sound"

    def run(self, kernel, tools):
        text = self.legalize(kernel, tools)
        folder = tools.work / f"{self.name}.{self.target}"
        inputs = kernel.save_inputs(folder)
        for model, extent in self.models:
            options, outputs = (f"--model={model}", f"--extent={extent}"), folder / f"{model}.{extent}"
            status, _, diagnostics = tools.run(text, self.target, options, inputs, outputs)
            if status != 0 or diagnostics:
                raise Failed(f"pto-run {' '.join(options)}: expected silence, found {status}\n{diagnostics}")
            compare(outputs, kernel.expected)
        return flag_counts(text)

    def legalize(self, kernel, tools):
        status, text, diagnostics = tools.legalize(kernel.folder / "kernel.mlir", self.target, "")
        if status != 0:
            raise Failed(f"mlir-opt: expected status 0, found {status}\n{diagnostics}")
        if self.warning and f"[{self.warning}]" not in diagnostics:
            raise Failed(f"mlir-opt: expected [{self.warning}], found {diagnostics!r}")
        if not self.warning and diagnostics:
            raise Failed(f"mlir-opt: expected no diagnostic, found\n{diagnostics}")
        return text


@dataclass(frozen=True)
class Refused:
    """A program that mlir-opt must refuse with `tag`."""

    name: str
    source: str
    tag: str
    options: str = ""
    target: str = "trn2"

    @property
    def flags(self):
        return "by hand" if self.source != "kernel.mlir" else self.options or "sound"

    def run(self, kernel, tools):
        status, _, diagnostics = tools.legalize(kernel.folder / self.source, self.target, self.options)
        return require_error("mlir-opt", status, diagnostics, self.tag)


@dataclass(frozen=True)
class Caught:
    """A program with wrong flags, the naive profile's or its own, that pto-run must reject with `tag`."""

    name: str
    source: str
    tag: str
    target = "trn2"

    @property
    def flags(self):
        return "naive" if self.source == "kernel.mlir" else "by hand"

    def run(self, kernel, tools):
        source = kernel.folder / self.source
        text = source.read_text()
        if self.flags == "naive":
            status, text, diagnostics = tools.legalize(source, self.target, "profile=naive")
            if status != 0:
                raise Failed(f"mlir-opt: expected status 0, found {status}\n{diagnostics}")
        folder = tools.work / f"{self.name}.{self.flags.replace(' ', '-')}"
        status, _, diagnostics = tools.run(text, self.target, (), kernel.save_inputs(folder), folder)
        return require_error("pto-run", status, diagnostics, self.tag)


@dataclass(frozen=True)
class OnTiles:
    """A kernel of the tile ISA, which has no flags: its outputs equal its reference."""

    name: str
    target = "tile"
    flags = "none"

    def run(self, kernel, tools):
        text = (kernel.folder / "kernel.mlir").read_text()
        folder = tools.work / self.name
        inputs = kernel.save_inputs(folder)
        status, _, diagnostics = tools.run(text, self.target, ("--model=reference",), inputs, folder)
        if status != 0 or diagnostics:
            raise Failed(f"pto-run: expected silence, found {status}\n{diagnostics}")
        compare(folder, kernel.expected)
        matmuls = re.findall(r"^ *pto\.tmatmul", text, re.MULTILINE)
        return f"{len(matmuls)} matmuls"


@dataclass(frozen=True)
class Faulted:
    """A kernel of the tile ISA with a mistake, `right` replaced by `wrong`, that must fault with `tag`."""

    name: str
    right: str
    wrong: str
    tag: str
    target = "tile"
    flags = "none"

    def run(self, kernel, tools):
        text = (kernel.folder / "kernel.mlir").read_text()
        if text.count(self.right) != 1:
            raise Failed(f"kernel.mlir: expected {self.right!r} once, found it {text.count(self.right)} times")
        folder = tools.work / f"{self.name}.{self.tag.replace(':', '-')}"
        program = text.replace(self.right, self.wrong)
        status, _, diagnostics = tools.run(program, self.target, (), kernel.save_inputs(folder), folder)
        return require_error("pto-run", status, diagnostics, self.tag)


RUNS = (
    *(Right("gemm-512", target) for target in ("trn1", "trn2", "trn3")),
    *(Right("attention-scores", target) for target in ("trn2", "trn3")),
    Refused("attention-scores", "kernel.mlir", "pto:target-limit", target="trn1"),  # no tile at 96
    *(Right("packed-interleaved", target) for target in ("trn1", "trn2", "trn3")),
    *(Right("packed-sequential", target) for target in ("trn1", "trn2", "trn3")),
    Refused("packed-sequential", "by-hand.mlir", "pto:unsound-flags"),
    Caught("packed-sequential", "by-hand.mlir", "pto:start-clobbers"),
    *(Right("packed-reuse", target) for target in ("trn1", "trn2", "trn3")),
    Caught("packed-reuse", "kernel.mlir", "pto:diverging-read"),
    *(Right("ragged", target) for target in ("trn1", "trn2", "trn3")),
    Right("bias", "trn3"),
    # Without ACCU the sum depends on what a copy does to the pending bit: not under sticky-pending.
    Right("bias", "trn2", MODELS[:-1], warning="pto:seeded-accumulate"),
    Refused("bias", "kernel.mlir", "pto:seeded-accumulate", "strict"),
    OnTiles("tile-matmul"),
    Faulted("tile-matmul", "outs(%pong", "outs(%ping", "pto:tile-alias"),
)


def compare(folder, expected):
    """Raises at the first difference between the written arguments and the reference."""
    for number, array in expected.items():
        found = pe_reference.load(folder / f"arg{number}.npy", array.dtype)
        equal = pe_reference.same_bits(found, array)
        if not equal.all():
            place = tuple(int(index) for index in np.argwhere(~equal)[0])
            raise Failed(
                f"argument {number}: {np.count_nonzero(~equal)} of {array.size} elements differ, first at"
                f" {list(place)}: expected {array[place]}, found {found[place]}"
            )


def require_error(tool, status, diagnostics, tag):
    if status != 1 or f"[{tag}]" not in diagnostics:
        raise Failed(f"{tool}: expected status 1 and [{tag}], found status {status} and\n{diagnostics}")
    return f"{tool} says [{tag}]"


def flag_counts(text):
    """What the legalizer decided, for example `4 start, 56 none, 4 stop`, and the memsets if any."""
    matmuls = [line for line in text.splitlines() if re.match(r"\s*(%\w+ = )?pto\.tmatmul", line)]
    found = (re.search(r" acc<([a-z|]+)>", line) for line in matmuls)
    counts = Counter(flags.group(1) if flags else "auto" for flags in found)
    counts["memset"] = len(re.findall(r"\bpto\.memset\b", text))
    order = ("start", "start|stop", "accumulate", "none", "stop", "stop|accumulate", "auto", "memset")
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])


def find_tools(arguments, work):
    mlir_opt = arguments.mlir_opt or shutil.which("mlir-opt-22") or shutil.which("mlir-opt") or "mlir-opt"
    build = arguments.build_dir
    tools = Tools(Path(mlir_opt), build / "lib" / "PTOPlugin.so", build / "bin" / "pto-run", work)
    for path in (tools.mlir_opt, tools.plugin, tools.pto_run):
        if not path.exists():
            print(f"run.py: {path} does not exist: build the project first (./x build)", file=sys.stderr)
            sys.exit(2)
    return tools


def parse_arguments():
    names = sorted({run.name for run in RUNS})
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=f"default: all of {', '.join(names)}")
    parser.add_argument("--build-dir", type=Path, default=EXAMPLES.parent / "build")
    parser.add_argument("--mlir-opt", help="stock, of LLVM 22; default: mlir-opt-22 or mlir-opt on PATH")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave all inputs and outputs in DIR")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.kernels) - set(names))
    if unknown:
        parser.error(f"no such kernel: {', '.join(unknown)} (there are {', '.join(names)})")
    return arguments


def main():
    arguments = parse_arguments()
    runs = [run for run in RUNS if not arguments.kernels or run.name in arguments.kernels]
    kernels = {name: Kernel(name) for name in sorted({run.name for run in runs})}
    failures = 0
    with tempfile.TemporaryDirectory(prefix="pto-examples-") as temporary:
        tools = find_tools(arguments, arguments.keep or Path(temporary))
        print(f"{'kernel':20} {'target':8} {'flags':8} result")
        for run in runs:
            try:
                result = f"ok     {run.run(kernels[run.name], tools)}"
            except (Failed, OSError, ValueError, subprocess.TimeoutExpired) as problem:
                failures += 1
                result = f"WRONG  {problem}"
            print(f"{run.name:20} {run.target:8} {run.flags:8} {result}", flush=True)
    print(f"{len(runs) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
