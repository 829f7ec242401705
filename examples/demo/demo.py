"""Legalizes kernel.mlir in a stock mlir-opt, shows the flags, and runs it; then runs it with flags by hand.

Exit status: 0 when the derived flags run right under every model and those by hand are rejected, 1 when not,
2 when a tool is missing.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

KERNEL = Path(__file__).resolve().with_name("kernel.mlir")
ROOT = KERNEL.parents[2]
MODELS = ("reference", "written-bit", "eager-zero", "sticky-pending")
BY_HAND = ("start", "stop", "start", "none", "stop")


def invoke(*command, standard_input=None):
    command = [str(part) for part in command]
    return subprocess.run(command, input=standard_input, capture_output=True, text=True, timeout=120)


def matmuls(text):
    """(operation without types, flags) of every matmul of a program, in order."""
    found = re.findall(r"^ *(?:%\w+ = )?(pto\.tmatmul.*? outs\([^)]*\))(.*)$", text, re.MULTILINE)
    return [(re.sub(r" :[^)]*", "", operation), flags_of(clauses)) for operation, clauses in found]


def flags_of(clauses):
    found = re.search(r"acc<[^>]*>( zero_region\(\d+\))?", clauses)
    return found.group() if found else ""


def show(title, names, program):
    """Prints the matmuls of a program; `names` are those of the source, which mlir-opt renumbers."""
    print(f"\n{title}")
    for (operation, _), (_, flags) in zip(matmuls(names), matmuls(program), strict=True):
        print(f"  {operation:44} {flags}".rstrip())


def run_models(program, pto_run):
    """Runs the program under each model; True when all of them agree with the expectations in it."""
    fine = True
    for model in MODELS:
        done = invoke(pto_run, f"--model={model}", "-", standard_input=program)
        fine &= done.returncode == 0
        print(f"  --model={model:15} {'values as expected' if done.returncode == 0 else 'WRONG'}")
        print(done.stderr, end="")
    return fine


def by_hand(text):
    """The kernel with a START on the first and a STOP on the last matmul of each chain."""
    flags = iter(BY_HAND)
    lines = (
        f"{line} acc<{next(flags)}> zero_region(0)" if line.lstrip().startswith("pto.tmatmul") else line
        for line in text.splitlines()
    )
    return "\n".join(lines) + "\n"


def find_tools():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--mlir-opt", help="stock, of LLVM 22; default: mlir-opt-22 or mlir-opt on PATH")
    arguments = parser.parse_args()
    mlir_opt = arguments.mlir_opt or shutil.which("mlir-opt-22") or shutil.which("mlir-opt") or "mlir-opt"
    plugin = arguments.build_dir / "lib" / "PTOPlugin.so"
    tools = (Path(mlir_opt), plugin, arguments.build_dir / "bin" / "pto-run")
    for path in tools:
        if not path.exists():
            print(f"demo.py: {path} does not exist: build the project first (./x build)", file=sys.stderr)
            sys.exit(2)
    return tools


def main():
    mlir_opt, plugin, pto_run = find_tools()
    source = KERNEL.read_text()
    load = (f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}")
    print(f"mlir-opt {' '.join(load)} --pto-legalize-acc {KERNEL.relative_to(ROOT)}")
    legalized = invoke(mlir_opt, *load, "--pto-legalize-acc", KERNEL)
    if legalized.returncode != 0:
        sys.exit(legalized.stderr)
    show("before: no flags", source, source)
    show("after: one START, because it marks the whole bank", source, legalized.stdout)
    print("\npto-run on the result, each time from poisoned PSUM:")
    right = run_models(legalized.stdout, pto_run)

    hand = by_hand(source)
    show("the flags that look right, a START on each chain:", source, hand)
    print("\npto-run on that:")
    done = invoke(pto_run, "-", standard_input=hand)
    print(done.stderr, end="")
    rejected = done.returncode == 1 and "[pto:start-clobbers]" in done.stderr
    print(f"  {'rejected' if rejected else 'WRONG: not rejected'}")
    return 0 if right and rejected else 1


if __name__ == "__main__":
    sys.exit(main())
