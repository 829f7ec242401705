"""Checks examples/common/pe_reference.py against scalar loops that share no arithmetic with it.

The loops work in Python floats (binary64) and round after every operation with `ctypes.c_float`. That is
exact: a product of two f32 has 48 significant bits, and rounding a binary64 sum of two f32 once more to f32
gives the f32 sum (53 >= 2 * 24 + 2). numpy is used only to hold the operands and to name their types.
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES / "common"))

import pe_reference  # noqa: E402

# Each meets the others in the products: zeros of both signs, subnormals, infinities, a NaN, extremes.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 3e-39, -1e-45, 2.5e38, -3e38, float("inf"), float("-inf"), float("nan")]
FLOATS = (np.dtype(np.float32), np.dtype(np.float16), *pe_reference.SMALL_FLOATS)
INTEGERS = (np.dtype(np.int8), np.dtype(np.uint8))


def rounded(value):
    return ctypes.c_float(value).value


def loop_float(acc, w, x):
    """The definition for one instruction, cell by cell."""
    rows, (k_size, columns) = w.shape[1], x.shape
    out = np.empty((rows, columns), np.float32)
    for i in range(rows):
        for j in range(columns):
            partial = 0.0
            for k in range(k_size):
                partial = rounded(partial + rounded(float(w[k, i]) * float(x[k, j])))
            out[i, j] = partial if acc is None else rounded(float(acc[i, j]) + partial)
    return out


def loop_integer(acc, w, x):
    """Exact sums of any size, wrapped to 32 bits at the end."""
    rows, (k_size, columns) = w.shape[1], x.shape
    out = np.empty((rows, columns), np.int32)
    for i in range(rows):
        for j in range(columns):
            total = sum(int(w[k, i]) * int(x[k, j]) for k in range(k_size))
            out[i, j] = ctypes.c_int32(total + (0 if acc is None else int(acc[i, j]))).value
    return out


def require_equal(what, found, expected):
    if not pe_reference.same_bits(found, expected).all():
        sys.exit(f"{what}: expected\n{expected}\nfound\n{found}")


def check_float(dtype, rng):
    for k_size in (1, 3, 44, 128):
        w, x = (rng.standard_normal((k_size, n)).astype(dtype) for n in (5, 4))
        acc = rng.standard_normal((5, 4)).astype(np.float32) * np.float32(1e4)
        for seed in (None, acc):
            expected = loop_float(seed, w, x)
            require_equal(f"{dtype} K={k_size}", pe_reference.matmul(seed, w, x), expected)
    with np.errstate(all="ignore"):
        special = np.array([SPECIAL], np.float32).astype(dtype)
    w = np.concatenate([special, rng.permuted(special, axis=1)])
    x = np.concatenate([rng.permuted(special, axis=1), special])
    require_equal(f"{dtype} special values", pe_reference.matmul(None, w, x), loop_float(None, w, x))


def check_integer(dtype, rng):
    w, x = (rng.integers(*bounds(dtype), (128, n), dtype, endpoint=True) for n in (5, 4))
    acc = np.full((5, 4), 2**31 - 1, np.int32)
    for seed in (None, acc):
        require_equal(str(dtype), pe_reference.matmul(seed, w, x), loop_integer(seed, w, x))


def bounds(dtype):
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def check_order():
    """The seed is added after the column sum, and K tiles ascend: other orders give other numbers."""
    ones = np.ones((2, 1), np.float32)
    fours = np.full((2, 1), 4.0, np.float32)
    acc = np.array([[1e8]], np.float32)
    require_equal("seed after the sum", pe_reference.matmul(acc, ones, fours), acc + np.float32(8))
    x = np.zeros((300, 1), np.float32)
    x[[0, 128, 256]] = [[1e30], [-1e30], [1.0]]
    w = np.ones((300, 1), np.float32)
    require_equal("K ascending", pe_reference.chain(w, x), np.array([[1.0]], np.float32))


def main():
    rng = np.random.default_rng(0)
    for dtype in FLOATS:
        check_float(dtype, rng)
    for dtype in INTEGERS:
        check_integer(dtype, rng)
    check_order()
    print(f"{len(FLOATS) + len(INTEGERS)} operand types agree with the scalar loops")


if __name__ == "__main__":
    main()
