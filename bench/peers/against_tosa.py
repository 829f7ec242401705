"""The bar against the TOSA peer: CPU time of a whole pto-run over that of a whole tosa_reference_model.

Both multiply the operands of examples/gemm-512 (see tosa_matmul.py): pto-run executes its 64 instructions in
the reference meaning and two machine models and compares every read. The processes take turns, and the best
of each counts. Prints one bar as a JSON line, as bench/run.py reads them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import tosa_matmul

BAR = 0.25
ROUNDS = 5
REQUIREMENTS = Path(__file__).with_name("requirements-tosa.txt")
KERNEL = tosa_matmul.EXAMPLES / "gemm-512" / "kernel.mlir"


def tosa_tools(build_dir):
    """The folder with the tools of tosa-tools, installed at first use into an environment under the build."""
    environment = build_dir / "venv-tosa"
    tools = environment / "bin"
    if not (tools / "tosa_reference_model").exists():
        venv.create(environment, with_pip=True)
        install = [tools / "pip", "install", "--quiet", "--requirement", REQUIREMENTS]
        if subprocess.run([str(part) for part in install], stdout=sys.stderr).returncode != 0:
            print("against_tosa.py: could not install tosa-tools, the TOSA peer", file=sys.stderr)
            sys.exit(2)
    return tools


def prepare_pto(folder, build_dir, inputs):
    """Writes the operands and the flagged kernel; gives the command that runs it."""
    flagged = folder / "gemm.mlir"
    legalize = [build_dir / "bin" / "pto-opt", "--pto-legalize-acc", KERNEL, "-o", flagged]
    subprocess.run([str(part) for part in legalize], check=True)
    command = [str(build_dir / "bin" / "pto-run"), "gemm.mlir", "--output-dir=out"]
    for number, array in inputs.items():
        tosa_matmul.pe_reference.save(folder / f"arg{number}.npy", array)
        command.append(f"--input={number}=arg{number}.npy")
    return command


def compare(build_dir, folder):
    """Best CPU seconds of a process: (pto-run, tosa_reference_model), both results checked."""
    tools = tosa_tools(build_dir)
    inputs = tosa_matmul.gemm_example().make_inputs()
    tosa_matmul.prepare(folder, tosa_matmul.find_tool("tosa-opt", tools), inputs)
    ours = prepare_pto(folder, build_dir, inputs)
    peer = tosa_matmul.command(tosa_matmul.find_tool("tosa_reference_model", tools))
    rounds = [(tosa_matmul.timed(ours, folder), tosa_matmul.timed(peer, folder)) for _ in range(ROUNDS)]
    tosa_matmul.require_close(tosa_matmul.read_result(folder), inputs)
    tosa_matmul.require_close(tosa_matmul.pe_reference.load(folder / "out" / "arg2.npy", "f4"), inputs)
    return tuple(min(times.cpu for times in side) for side in zip(*rounds, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--work-dir", type=Path, help="folder for operands and results; default: temporary")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="against-tosa-", dir=arguments.work_dir) as folder:
        ours, peer = compare(arguments.build_dir.resolve(), Path(folder))
    bar = {
        "name": "pto-run / tosa_reference_model, CPU, gemm-512",
        "figure": ours / peer,
        "bar": BAR,
        "at_least": False,
        "detail": f"{ours * 1e3:.0f} ms / {peer * 1e3:.0f} ms",
    }
    print(json.dumps(bar))


if __name__ == "__main__":
    main()
