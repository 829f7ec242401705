"""Legalizes kernel.mlir in a stock mlir-opt, shows the flags, and runs it; then runs it with flags by hand.

Exit status: 0 when the derived flags run right under every model and those by hand are rejected, 1 when not,
2 when a tool is missing.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL = Path(__file__).resolve().with_name("kernel.mlir")
ROOT = KERNEL.parents[2]
sys.path.insert(0, str(ROOT / "examples" / "common"))

from pe_reference import load, same_bits, save  # noqa: E402
from reference import make_inputs, reference  # noqa: E402

MODELS = ("reference", "written-bit", "eager-zero", "sticky-pending", "all")
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


def run_models(program, pto_run, folder):
    """Runs the program on random inputs under each model; True when every output has numpy's bits."""
    inputs = make_inputs()
    expected = reference(inputs)
    arguments = []
    for number, array in inputs.items():
        save(folder / f"in{number}.npy", array)
        arguments.append(f"--input={number}={folder / f'in{number}.npy'}")
    fine = True
    for model in MODELS:
        done = invoke(
            pto_run, f"--model={model}", *arguments, f"--output-dir={folder}", "-", standard_input=program
        )
        equal = done.returncode == 0 and all(
            same_bits(load(folder / f"arg{number}.npy", array.dtype), array).all()
            for number, array in expected.items()
        )
        fine &= equal
        print(f"  --model={model:15} {'agrees with numpy, bit for bit' if equal else 'WRONG'}")
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
    plugins = (f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}")
    print(f"mlir-opt {' '.join(plugins)} --pto-legalize-acc {KERNEL.relative_to(ROOT)}")
    legalized = invoke(mlir_opt, *plugins, "--pto-legalize-acc", KERNEL)
    if legalized.returncode != 0:
        sys.exit(legalized.stderr)
    show("before: no flags", source, source)
    show("after: one START, because it marks the whole bank", source, legalized.stdout)
    print("\npto-run on the result, each time from poisoned PSUM:")
    with tempfile.TemporaryDirectory(prefix="pto-demo-") as folder:
        right = run_models(legalized.stdout, pto_run, Path(folder))

    hand = by_hand(source)
    show("the flags that look right, a START on each chain:", source, hand)
    print("\npto-run on that:")
    done = invoke(pto_run, "--random-inputs", "-", standard_input=hand)
    print(done.stderr, end="")
    rejected = done.returncode == 1 and "[pto:start-clobbers]" in done.stderr
    print(f"  {'rejected' if rejected else 'WRONG: not rejected'}")
    return 0 if right and rejected else 1


if __name__ == "__main__":
    sys.exit(main())
