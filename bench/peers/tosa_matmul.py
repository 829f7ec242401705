"""The TOSA peer: the product of examples/gemm-512 in Arm's tosa_reference_model.

Both interpreters run one whole process on the same bf16 operands: read two .npy files and a program, multiply
[512, 2048] by [2048, 512] with f32 sums, write one .npy. The program is a tosa.matmul, serialized by tosa-opt;
both tools come with the Python package tosa-tools. Its result is checked, then its CPU time is taken.
Prints one JSON object: the best CPU and wall time of a process in seconds. Exit status 2: tools missing.
"""

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy as np
except ImportError:
    sys.exit("tosa_matmul.py: numpy is missing: pip install -r test/requirements.txt")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAM = """\
func.func @main(%a: tensor<1x512x2048xbf16>, %b: tensor<1x2048x512xbf16>) -> tensor<1x512x512xf32> {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xbf16>} : () -> tensor<1xbf16>
  %c = tosa.matmul %a, %b, %zero, %zero : (tensor<1x512x2048xbf16>, tensor<1x2048x512xbf16>,
                                           tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x512x512xf32>
  return %c : tensor<1x512x512xf32>
}
"""


def find_tool(name, folder):
    """A tool in `--tools`, else beside this interpreter (a virtual environment), else on PATH."""
    folders = [folder] if folder else [Path(sys.executable).parent, *os.get_exec_path()]
    found = shutil.which(name, path=os.pathsep.join(str(entry) for entry in folders))
    if found is None:
        print(
            f"tosa_matmul.py: {name} is missing: pip install tosa-tools into a virtual environment of its own"
            " (it pins numpy) and pass --tools=ENVIRONMENT/bin",
            file=sys.stderr,
        )
        sys.exit(2)
    return found


def gemm_example():
    """The reference module of examples/gemm-512: its inputs are the operands of both interpreters."""
    sys.path.insert(0, str(EXAMPLES / "common"))
    spec = importlib.util.spec_from_file_location("gemm_reference", EXAMPLES / "gemm-512" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(folder, tosa_opt, inputs):
    """Writes program and operands; the left operand of TOSA is row-major, ours is K-major."""
    np.save(folder / "a.npy", np.ascontiguousarray(inputs[0].T)[np.newaxis])
    np.save(folder / "b.npy", inputs[1][np.newaxis])
    (folder / "matmul.mlir").write_text(PROGRAM)
    serialize = ["--tosa-serialize", "--tosa-flatbuffer-filename=matmul.tosa", "-o", os.devnull]
    subprocess.run([tosa_opt, "matmul.mlir", *serialize], cwd=folder, check=True)


def run_model(folder, model):
    """One process: (CPU seconds, wall seconds); wait4 gives the times of this child alone."""
    command = [model, "--tosa_file=matmul.tosa", "--ifm_name=TosaInput_0,TosaInput_1"]
    command += ["--ifm_file=a.npy,b.npy", "--ofm_name=TosaOutput_0", "--ofm_file=c.npy"]
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=folder)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"tosa_matmul.py: tosa_reference_model exited with status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, wall


def require_close(found, inputs):
    a, b = inputs[0].T.astype(np.float64), inputs[1].astype(np.float64)
    bound = a.shape[1] * 2.0**-23 * (np.abs(a) @ np.abs(b))
    if found.shape != (1, 512, 512) or not (np.abs(found[0] - a @ b) <= bound).all():
        sys.exit("tosa_matmul.py: the result of tosa_reference_model is not this product")


def measure(tools, repeat):
    tosa_opt, model = find_tool("tosa-opt", tools), find_tool("tosa_reference_model", tools)
    inputs = gemm_example().make_inputs()
    with tempfile.TemporaryDirectory(prefix="tosa-matmul-") as name:
        folder = Path(name)
        prepare(folder, tosa_opt, inputs)
        times = [run_model(folder, model) for _ in range(repeat)]
        require_close(np.load(folder / "c.npy"), inputs)
    return {
        "peer": "tosa_reference_model",
        "shape": {"m": 512, "n": 512, "k": 2048},
        "cpu_seconds": min(cpu for cpu, _ in times),
        "wall_seconds": min(wall for _, wall in times),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tools", type=Path, help="folder of tosa-opt and tosa_reference_model")
    parser.add_argument("--repeat", type=int, default=3, help="processes to time, default 3")
    arguments = parser.parse_args()
    if arguments.repeat < 1:
        parser.error("--repeat must be at least 1")
    print(json.dumps(measure(arguments.tools, arguments.repeat)))


if __name__ == "__main__":
    main()
