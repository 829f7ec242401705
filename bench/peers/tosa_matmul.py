"""The TOSA peer: the product of examples/gemm-512 in Arm's tosa_reference_model.

One whole process reads two .npy files and a program, multiplies [512, 2048] by [2048, 512] in bf16 with f32
sums, and writes one .npy, as pto-run does. The program is a tosa.matmul, serialized by tosa-opt; both tools
come with the Python package tosa-tools. Its result is checked, then its CPU time is taken.
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
from dataclasses import asdict, dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES / "common"))

try:
    import numpy as np
    import pe_reference
except ImportError as missing:
    sys.exit(f"tosa_matmul.py: {missing.name} is missing: pip install -r test/requirements.txt")

PROGRAM = """\
func.func @main(%a: tensor<1x512x2048xbf16>, %b: tensor<1x2048x512xbf16>) -> tensor<1x512x512xf32> {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xbf16>} : () -> tensor<1xbf16>
  %c = tosa.matmul %a, %b, %zero, %zero : (tensor<1x512x2048xbf16>, tensor<1x2048x512xbf16>,
                                           tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x512x512xf32>
  return %c : tensor<1x512x512xf32>
}
"""


@dataclass
class Times:
    """Of one process, in seconds; `cpu` is user plus system time."""

    cpu: float
    wall: float


def find_tool(name, folder):
    """A tool in `folder`, or (None) beside this interpreter, as in a virtual environment, else on PATH."""
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
    spec = importlib.util.spec_from_file_location("gemm_reference", EXAMPLES / "gemm-512" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(folder, tosa_opt, inputs):
    """Writes program and operands; the left operand of TOSA is row-major, ours is K-major."""
    pe_reference.save(folder / "a.npy", inputs[0].T[np.newaxis])
    pe_reference.save(folder / "b.npy", inputs[1][np.newaxis])
    (folder / "matmul.mlir").write_text(PROGRAM)
    serialize = ["--tosa-serialize", "--tosa-flatbuffer-filename=matmul.tosa", "-o", os.devnull]
    subprocess.run([tosa_opt, "matmul.mlir", *serialize], cwd=folder, check=True)


def command(model):
    """The run of a prepared folder; tosa-opt chose the names of the tensors."""
    inputs = ["--ifm_name=TosaInput_0,TosaInput_1", "--ifm_file=a.npy,b.npy"]
    return [model, "--tosa_file=matmul.tosa", *inputs, "--ofm_name=TosaOutput_0", "--ofm_file=c.npy"]


def timed(arguments, folder):
    """Runs one process to its end in `folder`; wait4 gives the times of this child alone."""
    start = time.perf_counter()
    child = subprocess.Popen(arguments, cwd=folder, stdout=sys.stderr)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{Path(arguments[0]).name} exited with status {child.returncode}")
    return Times(usage.ru_utime + usage.ru_stime, wall)


def read_result(folder):
    return pe_reference.load(folder / "c.npy", np.float32)[0]


def require_close(found, inputs):
    """A fast interpreter that computes something else is no peer: f32 sums in any order stay in this bound."""
    a, b = inputs[0].T.astype(np.float64), inputs[1].astype(np.float64)
    bound = a.shape[1] * 2.0**-23 * (np.abs(a) @ np.abs(b))
    if found.shape != (512, 512) or not (np.abs(found - a @ b) <= bound).all():
        sys.exit("tosa_matmul.py: the result is not the product of the operands")


def measure(tools, repeat):
    tosa_opt, model = find_tool("tosa-opt", tools), find_tool("tosa_reference_model", tools)
    inputs = gemm_example().make_inputs()
    with tempfile.TemporaryDirectory(prefix="tosa-matmul-") as name:
        folder = Path(name)
        prepare(folder, tosa_opt, inputs)
        times = [timed(command(model), folder) for _ in range(repeat)]
        require_close(read_result(folder), inputs)
    return min(times, key=lambda one: one.cpu)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tools", type=Path, help="folder of tosa-opt and tosa_reference_model")
    parser.add_argument("--repeat", type=int, default=3, help="processes to time, default 3")
    arguments = parser.parse_args()
    if arguments.repeat < 1:
        parser.error("--repeat must be at least 1")
    print(json.dumps(asdict(measure(arguments.tools, arguments.repeat))))


if __name__ == "__main__":
    main()
