#!/usr/bin/env python3
"""Takes whole models through pto-pipeline and compares them with upstream's lowering.

Each model is a module of linalg on tensors with one function, @main. Once it is lowered to LLVM by upstream
passes alone and run by mlir-runner; for each target and form (loops, straight-line code) it goes through
pto-pipeline and pto-run, which compares every meaning of the flags as it goes. The results must agree: bit
for bit for integers and for small inputs, whose sums are exact; for others within the bound of bounds.py,
from the number of terms and the types, and so must each with the exact result.
Exit status: 0 all as expected, 1 a difference (each is printed).
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import bounds  # noqa: E402

TYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "i32": np.int32,
}
FORMS = {"loops": "", "unrolled": " unroll"}
TIMEOUT_SECONDS = 300


class Failed(Exception):
    """A tool failed, or two results differ; the text says which."""


class Model:
    """A file of linalg and the types of its function."""

    def __init__(self, name):
        self.name = name
        self.path = FOLDER / f"{name}.mlir"
        self.text = self.path.read_text()
        inputs, result = re.search(r"func\.func @main\((.*?)\) -> tensor<(\S+)> {", self.text, re.DOTALL).groups()
        self.inputs = re.findall(r"%\w+: tensor<([^>]+)>", inputs)
        self.result = result

    @staticmethod
    def shape(shaped):
        *sizes, element = shaped.split("x")
        return tuple(map(int, sizes)), element

    def make_inputs(self, kind, seed):
        """Arrays of -1, 0 and 1 (`small`), or normal deviates, scaled so that sums stay near 1."""
        generator = np.random.default_rng(seed)
        arrays = []
        for shaped in self.inputs:
            sizes, element = self.shape(shaped)
            if element.startswith("i"):
                array = generator.integers(-128, 128, sizes)
            elif kind == "small":
                array = generator.integers(-1, 2, sizes)
            else:
                array = generator.standard_normal(sizes) / np.sqrt(8)
            arrays.append(array.astype(TYPES[element]))
        return arrays


class Tools:
    def __init__(self, arguments):
        self.build, self.llvm = arguments.build_dir.resolve(), arguments.llvm_dir.resolve()

    @staticmethod
    def run(*command):
        """Runs a tool to its end, which must be a success."""
        command = [str(part) for part in command]
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS, check=False
        )
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-3000:]}")
        return done

    def upstream(self, model, inputs, folder):
        """The result of the model by upstream's passes and mlir-runner."""
        module = folder / "upstream.mlir"
        module.write_text(model.text.replace("@main(", "@model(") + wrapper(model, inputs))
        lowered = folder / "llvm.mlir"
        # LLVM has no fp8: those conversions are calls into APFloat.
        passes = [name for name in LOWERING if name != APFLOAT or "f8E" in model.text]
        pipeline = f"--pass-pipeline=builtin.module({','.join(passes)})"
        self.run(self.llvm / "bin/mlir-opt", module, pipeline, "-o", lowered)
        libraries = ["mlir_runner_utils", "mlir_c_runner_utils", "mlir_float16_utils", "mlir_apfloat_wrappers"]
        paths = ",".join(str(self.llvm / f"lib/lib{name}.so") for name in libraries)
        printed = self.run(
            self.llvm / "bin/mlir-runner", lowered, "-e", "main", "--entry-point-result=void", f"--shared-libs={paths}"
        )
        sizes, element = model.shape(model.result)
        words = re.findall(r"-?\d+", printed.stdout.split("data =", 1)[1])
        return np.array(words, np.int64).astype(np.int32).view(TYPES[element]).reshape(sizes)

    def pipeline(self, model, inputs, target, form, folder):
        """The result of the model by pto-pipeline and pto-run."""
        source, ready = model.path, folder / "ready.mlir"
        if "linalg.conv" in model.text:
            source = folder / "columns.mlir"
            library = f"--transform-preload-library=transform-library-paths={FOLDER / 'im2col.mlir'}"
            self.run(self.llvm / "bin/mlir-opt", model.path, library, "--transform-interpreter", "-o", source)
        self.run(self.build / "bin/pto-opt", source, f"--pto-pipeline=target={target}{FORMS[form]}", "-o", ready)
        if re.search(r"linalg\.(batch_)?matmul", ready.read_text()):
            raise Failed(f"{model.name} {target} {form}: a matmul was left in linalg")
        options = []
        for number, array in enumerate(inputs):
            file = folder / f"in{number}.npy"
            np.save(file, array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array)
            options.append(f"--input={number}={file}")
        results = folder / f"{target}-{form}"
        ran = self.run(self.build / "bin/pto-run", ready, f"--target={target}", *options, f"--output-dir={results}")
        if ran.stderr:
            # For example that only one meaning of the flags could be run.
            raise Failed(f"pto-run says: {ran.stderr[:1000]}")
        return np.load(results / "res0.npy")


APFLOAT = "convert-arith-to-apfloat"
LOWERING = [
    "func.func(convert-elementwise-to-linalg)",
    "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}",
    "convert-linalg-to-loops",
    "convert-math-to-libm",
    APFLOAT,
    "func.func(arith-expand{include-bf16=1})",
    "convert-scf-to-cf",
    "expand-strided-metadata",
    "lower-affine",
    "convert-arith-to-llvm",
    "convert-func-to-llvm",
    "finalize-memref-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
]


def wrapper(model, inputs):
    """A @main that calls @model on constants and prints the words of its result."""
    sizes, element = model.shape(model.result)
    shaped = "x".join(map(str, sizes))
    names = [f"%in{number}" for number in range(len(inputs))]
    lines = ["", "func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}"]
    lines.append("func.func @main() {")
    for name, array, ty in zip(names, inputs, model.inputs):
        lines.append(f'  {name} = arith.constant dense<"0x{array.tobytes().hex()}"> : tensor<{ty}>')
    types = ", ".join(f"tensor<{ty}>" for ty in model.inputs)
    lines.append(f"  %y = call @model({', '.join(names)}) : ({types}) -> tensor<{model.result}>")
    words = "%y"
    if element != "i32":
        words = "%words"
        lines.append(f"  %words = arith.bitcast %y : tensor<{model.result}> to tensor<{shaped}xi32>")
    lines += [
        f"  %buffer = bufferization.to_buffer {words} : tensor<{shaped}xi32> to memref<{shaped}xi32>",
        f"  %any = memref.cast %buffer : memref<{shaped}xi32> to memref<*xi32>",
        "  call @printMemrefI32(%any) : (memref<*xi32>) -> ()",
        "  return",
        "}",
    ]
    return "\n".join(lines) + "\n"


def compare(model, kind, inputs, expected, found):
    """A sentence about how well `found` agrees with `expected`."""
    if bounds.IS_ORDER_FREE.get(model.name) in (kind, "always"):
        differing = np.count_nonzero(expected.view(np.int32) != found.view(np.int32))
        if differing:
            raise Failed(f"{differing} of {expected.size} elements differ in their bits")
        return "bit-equal"
    exact = bounds.MODELS[model.name](*map(bounds.Approx.exact, inputs))
    used = 0.0
    for left, right, allowed in (
        (expected, exact.value, exact.error),
        (found, exact.value, exact.error),
        (found, expected, 2 * exact.error),
    ):
        difference = np.abs(left.astype(np.float64) - right.astype(np.float64))
        if not np.all(difference <= allowed):
            raise Failed(f"off by {np.max(difference / allowed):.3g} times the bound")
        used = max(used, np.max(difference / np.maximum(allowed, 1e-300)))
    relative = np.max(exact.error) / np.sqrt(np.mean(exact.value**2))
    return f"within {used:.2g} of the bound, which is {relative:.1e} of the result"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(bounds.MODELS)}; default: all")
    parser.add_argument("--build-dir", type=Path, default=FOLDER.parents[1] / "build")
    parser.add_argument("--llvm-dir", type=Path, default=Path("/usr/lib/llvm-22"))
    parser.add_argument("--target", action="append", help="default: trn2 and trn3")
    parser.add_argument("--form", action="append", choices=FORMS, help="default: both")
    parser.add_argument("--kind", action="append", choices=["small", "normal"], help="inputs; default: both")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    unknown = set(arguments.models) - set(bounds.MODELS)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    tools, failures, passed = Tools(arguments), 0, 0
    for name in arguments.models or bounds.MODELS:
        model = Model(name)
        for kind in arguments.kind or ["small", "normal"]:
            inputs = model.make_inputs(kind, arguments.seed)
            with tempfile.TemporaryDirectory(prefix="pto-models-") as temporary:
                folder = Path(temporary)
                expected = tools.upstream(model, inputs, folder)
                for target in arguments.target or ["trn2", "trn3"]:
                    for form in arguments.form or FORMS:
                        try:
                            found = tools.pipeline(model, inputs, target, form, folder)
                            verdict = compare(model, kind, inputs, expected, found)
                            passed += 1
                        except Failed as problem:
                            verdict, failures = f"FAILED: {problem}", failures + 1
                        print(f"{name} {kind} {target} {form}: {verdict}", flush=True)
    print(f"{passed} passed, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
