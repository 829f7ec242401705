#!/usr/bin/env python3
"""Matmul cases for a check of the Rust PE and its .npy files against numpy.

    pe_cases.py write DIR    makes DIR/<case>/{w,x,acc}.npy and DIR/cases.txt
    pe_cases.py check DIR    compares what the Rust side wrote in DIR/<case>: native.npy and portable.npy, the
                             cells computed in two ways, and copies of the operands, {w,x}-copy.npy

A line of cases.txt is `case w-type x-type cell-type`; acc.npy is there where the cells are added to. The
expected numbers come from examples/common/pe_reference.py, which follows the definition of the PE.
"""

import sys
from itertools import product
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "common"))

import numpy as np  # noqa: E402
import pe_reference  # noqa: E402

NARROW = {
    "bf16": pe_reference.BF16,
    "f16": np.dtype(np.float16),
    "f8E5M2": pe_reference.F8E5M2,
    "f8E4M3FN": pe_reference.F8E4M3FN,
    "f8E3M4": pe_reference.F8E3M4,
}
WORDS = {"f32": np.dtype(np.float32), "tf32": np.dtype(np.float32)}
INTEGERS = {"i8": np.dtype(np.int8), "u8": np.dtype(np.uint8)}
DTYPES = NARROW | WORDS | INTEGERS
CELLS = {"f32": np.dtype(np.float32), "bf16": pe_reference.BF16, "i32": np.dtype(np.int32)}


def operand(name, shape, spread, random):
    """Random values of type `name`; `spread` is the range of their exponents, or None for any bits."""
    dtype = DTYPES[name]
    if dtype.kind in "iu" or spread is None:
        array = random.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    else:
        exponents = random.integers(-spread, spread + 1, shape)
        array = np.ldexp(random.uniform(-1, 1, shape), exponents).astype(dtype)
    if name == "tf32":
        array = (array.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return array


def cases():
    """Yields (case, w type, x type, cell type, w, x, acc)."""
    random = np.random.default_rng(20)
    pairs = [*product(NARROW, NARROW), *product(WORDS, WORDS), *product(INTEGERS, INTEGERS)]
    for w_name, x_name in pairs:
        cell_names = ["i32"] if w_name in INTEGERS else ["f32", "bf16"]
        for cell_name, spread, is_added in product(cell_names, (2, 60, None), (False, True)):
            k, m, n = random.integers(1, (129, 25, 41))
            w = operand(w_name, (k, m), spread, random)
            x = operand(x_name, (k, n), spread, random)
            acc = operand("f32", (m, n), 10, random).astype(CELLS[cell_name]) if is_added else None
            if random.random() < 0.5:
                x = np.asfortranarray(x)
            case = f"{w_name}-{x_name}-{cell_name}-{spread}-{'add' if is_added else 'overwrite'}"
            yield case, w_name, x_name, cell_name, w, x, acc


def expected_cells(cell_name, w, x, acc):
    if cell_name != "bf16":
        return pe_reference.matmul(acc, w, x)
    wide = None if acc is None else acc.astype(np.float32)
    return pe_reference.matmul(wide, w, x).astype(pe_reference.BF16)


def save(path, array):
    """As pe_reference.save, but a Fortran-ordered array stays one."""
    if array.flags.f_contiguous and array.dtype != pe_reference.F8E5M2:
        np.save(path, array, allow_pickle=False)
    else:
        pe_reference.save(path, array)


def write(folder):
    lines = []
    for case, w_name, x_name, cell_name, w, x, acc in cases():
        (folder / case).mkdir(parents=True)
        for name, array in (("w", w), ("x", x), ("acc", acc)):
            if array is not None:
                save(folder / case / f"{name}.npy", array)
        lines.append(f"{case} {w_name} {x_name} {cell_name}\n")
    (folder / "cases.txt").write_text("".join(lines))


def check(folder):
    failures = 0
    for case, _, _, cell_name, w, x, acc in cases():
        cells = expected_cells(cell_name, w, x, acc)
        arrays = {"native": cells, "portable": cells, "w-copy": w, "x-copy": x}
        for name, expected in arrays.items():
            found = pe_reference.load(folder / case / f"{name}.npy", expected.dtype)
            wrong = np.argwhere(~pe_reference.same_bits(found, expected))
            if len(wrong):
                at = tuple(wrong[0])
                print(f"{case}: {name}{at} is {found[at]}, expected {expected[at]}", file=sys.stderr)
                failures += 1
    return 1 if failures else 0


def main():
    command, folder = sys.argv[1], Path(sys.argv[2])
    with np.errstate(all="ignore"):
        return check(folder) if command == "check" else write(folder)


if __name__ == "__main__":
    sys.exit(main())
