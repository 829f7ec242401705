"""Changes the flags of one matmul at a time, and asks both judges: the lint and the interpreter.

--pto-verify-acc reasons about cells and never computes; pto-run computes and knows no pass. For every single
change of the derived flags they must agree on whether the program is still right, and where both say so the
values must be those of the reference. So neither can accept by accident what the other rejects.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import run  # noqa: E402

FLAGS = {
    "trn2": ("none", "start", "stop", "start|stop"),
    "trn3": ("none", "start", "stop", "start|stop", "accumulate", "stop|accumulate"),
}
CASES = (
    ("packed-sequential", "trn2"),
    ("packed-reuse", "trn2"),
    ("ragged", "trn2"),
    ("bias", "trn3"),
)
MATMUL = re.compile(r"^ *(%\w+ = )?pto\.tmatmul.*", re.MULTILINE)


def changed_flags(text, target):
    """(what was changed, the program) for every matmul and every other legal value of its flags."""
    for number, matmul in enumerate(MATMUL.finditer(text)):
        for flags in FLAGS[target]:
            line = re.sub(r"acc<[^>]*>", f"acc<{flags}>", matmul.group())
            if line != matmul.group():
                yield f"matmul {number} {flags}", text[: matmul.start()] + line + text[matmul.end() :]


def lint_accepts(tools, program, target):
    plugin = (f"--load-dialect-plugin={tools.plugin}", f"--load-pass-plugin={tools.plugin}")
    command = (tools.mlir_opt, *plugin, f"--pto-verify-acc=target={target}", "-")
    status, _, diagnostics = run.invoke(*command, standard_input=program)
    return verdict(status, diagnostics)


def interpreter_accepts(tools, kernel, program, target, inputs):
    """Runs under both extents of START; accepted values must be right ones."""
    accepted = True
    for extent in ("group", "dst"):
        outputs = tools.work / "outputs"
        status, _, diagnostics = tools.run(program, target, (f"--extent={extent}",), inputs, outputs)
        accepted &= verdict(status, diagnostics)
        if status == 0:
            run.compare(outputs, kernel.expected)
    return accepted


def verdict(status, diagnostics):
    """Right or wrong; anything but a diagnosed 0 or 1 is a defect of the tool itself."""
    if status not in (0, 1) or (status == 1 and "error: " not in diagnostics):
        raise run.Failed(f"expected a verdict, found status {status}\n{diagnostics}")
    return status == 0


def check_case(tools, name, target):
    """Prints how many changes were still right, how many wrong; raises where the judges differ."""
    kernel = run.Kernel(name)
    inputs = kernel.save_inputs(tools.work)
    _, text, _ = tools.legalize(kernel.folder / "kernel.mlir", target, "")
    right = wrong = 0
    for change, program in changed_flags(text, target):
        lint = lint_accepts(tools, program, target)
        interpreter = interpreter_accepts(tools, kernel, program, target, inputs)
        if lint != interpreter:
            raise run.Failed(f"{name} {change}: lint accepts: {lint}, interpreter: {interpreter}")
        right, wrong = right + lint, wrong + (not lint)
    print(f"{name} {target}: {right} harmless changes, {wrong} wrong ones, the judges agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--mlir-opt", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pto-wrong-flags-") as work:
        tools = run.find_tools(arguments, Path(work))
        for name, target in CASES:
            check_case(tools, name, target)


if __name__ == "__main__":
    main()
