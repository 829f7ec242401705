"""Accumulation groups that are right: the pto passes and the interpreter of the PE array.

    import numpy as np, pto

    legal = pto.legalize(text, target="trn2")          # flags, zero regions, memsets
    assert not pto.verify(legal)                       # proved right
    result = pto.run(legal, {"arg0": w, "arg1": x})    # under every meaning of START, bit for bit
    result.outputs["arg2"]

Modules go in and out as text of MLIR. Nothing of MLIR is visible to Python, so the package goes with any
other that holds an MLIR of its own.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, Iterable, Mapping, Union

import ml_dtypes
import numpy as np

from . import _core

__all__ = ["Diagnostic", "Error", "Note", "Result", "legalize", "run", "transform", "verify"]
__version__: str = _core.__version__

# Element types of MLIR that NumPy or ml_dtypes knows.
_DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E3M4": getattr(ml_dtypes, "float8_e3m4", np.uint8),
    "i1": np.bool_,
    "index": np.int64,
    **{f"i{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"si{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
}


@dataclasses.dataclass(frozen=True)
class Note:
    """Another place that a diagnostic speaks of."""

    location: str
    message: str


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What a pass or the interpreter has to say about one place, `line:column` of the text."""

    severity: str
    location: str
    message: str
    notes: tuple[Note, ...] = ()

    @property
    def tag(self) -> str | None:
        """The stable name of the finding, `pto:wrong-mode` for one."""
        tags = re.findall(r"\[(pto:[\w-]+)\]", self.message)
        return tags[-1] if tags else None

    def __str__(self) -> str:
        lines = [f"{self.location}: {self.severity}: {self.message}"]
        lines += [f"{note.location}: note: {note.message}" for note in self.notes]
        return "\n".join(lines)


class Error(Exception):
    """A module that cannot be read, a pass that failed, or a program that cannot be run."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run gave."""

    #: Memref arguments as the function left them, "arg0" and so on, and results, "res0" and so on.
    outputs: dict[str, np.ndarray]
    #: Findings of the run, empty if all was well: hazards, diverging reads, failed expectations.
    hazards: list[Diagnostic]
    #: Counts: instructions, cycles, multiply-adds and more.
    stats: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Whether nothing was wrong; warnings are not wrong."""
        return not any(hazard.severity == "error" for hazard in self.hazards)


def transform(module: str, pipeline: str) -> tuple[str, list[Diagnostic]]:
    """Runs passes, upstream's or ours, on a module: `"func.func(canonicalize), pto-legalize-acc"`.

    Returns the new text and what was said. Raises Error where a pass fails.
    """
    status, text, said = _core.transform(module, pipeline)
    diagnostics = _diagnostics(said)
    if status != 0:
        raise Error(diagnostics)
    return text, diagnostics


def legalize(module: str, *, target: str | None = None, **options: Any) -> str:
    """Derives flags, zero regions and memsets. Options are those of pto-legalize-acc: strict=True."""
    return transform(module, _pass("pto-legalize-acc", target, options))[0]


def verify(module: str, *, target: str | None = None, **options: Any) -> list[Diagnostic]:
    """What is wrong or doubtful about the flags of a module; empty where they are proved right.

    Options are those of pto-verify-acc: model="eager-zero". Raises Error where the module cannot be read.
    """
    status, _, said = _core.transform(module, _pass("pto-verify-acc", target, options))
    diagnostics = _diagnostics(said)
    if status == 2:
        raise Error(diagnostics)
    return diagnostics


def run(
    module: str,
    inputs: Mapping[Union[str, int], np.ndarray] | None = None,
    *,
    model: str | None = None,
    **options: Any,
) -> Result:
    """Runs a module on arrays, by the number of the argument: 0 or "arg0".

    Arrays have the shape and the element type of the argument; types that NumPy does not know are those of
    ml_dtypes, or unsigned integers of that size. Options are those of pto-run: `random_inputs=True`,
    `entry="kernel"`. Raises Error where the module cannot be run.
    """
    arguments = [f"--{name.replace('_', '-')}{_value(value)}" for name, value in options.items() if value is not False]
    if model is not None:
        arguments.append(f"--model={model}")
    arrays = [_argument(key, array) for key, array in (inputs or {}).items()]
    status, output, said, values = _core.interpret(module, ["pto-run", "-", "--stats=json", *arguments], arrays)
    diagnostics = _diagnostics(said)
    if status == 2:
        raise Error(diagnostics)
    return Result(
        outputs={f"{'res' if is_result else 'arg'}{number}": _array(*rest) for number, is_result, *rest in values},
        hazards=[diagnostic for diagnostic in diagnostics if diagnostic.severity != "remark"],
        stats=json.loads(output) if output else {},
    )


def _pass(name: str, target: str | None, options: Mapping[str, Any]) -> str:
    given = {**({} if target is None else {"target": target}), **options}
    texts = [f"{option.replace('_', '-')}{_value(value)}" for option, value in given.items() if value is not False]
    return f"{name}{{{' '.join(texts)}}}" if texts else name


def _value(value: Any) -> str:
    return "" if value is True else f"={value}"


def _argument(key: str | int, array: np.ndarray) -> tuple[int, list[int], bytes]:
    number = key if isinstance(key, int) else re.fullmatch(r"(?:arg)?(\d+)", key)
    if number is None:
        raise ValueError(f"expected the number of an argument, 0 or 'arg0', found {key!r}")
    array = np.ascontiguousarray(array)
    index = number if isinstance(number, int) else int(number.group(1))
    return index, list(array.shape), array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _array(element: str, sizes: list[int], data: bytes) -> np.ndarray:
    dtype = _DTYPES.get(element)
    if dtype is None:
        count = int(np.prod(sizes)) or 1
        dtype = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[len(data) // count]
    return np.frombuffer(data, dtype=dtype).reshape(sizes).copy()


def _diagnostics(messages: Iterable[tuple[str, str, str, list[tuple[str, str]]]]) -> list[Diagnostic]:
    return [
        Diagnostic(severity, location, text, tuple(Note(*note) for note in notes))
        for severity, location, text, notes in messages
    ]
