"""The matrix engine's arithmetic in numpy: slow, short, and the same bit for bit.

One instruction forms `w^T . x` for a stationary `w: [K, M]` and a moving `x: [K, N]`. Every operand widens
exactly to f32; the partial sum runs over k ascending, one rounded multiply and one rounded add a step; the
result then overwrites the PSUM cell or is added to it, in that order (docs/machine.md, "Numerics").
Only numpy's element-wise multiply and add are used: `a @ b` may reorder, block or fuse.
"""

from pathlib import Path

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
F8E4M3FN = np.dtype(ml_dtypes.float8_e4m3fn)
F8E5M2 = np.dtype(ml_dtypes.float8_e5m2)
F8E3M4 = np.dtype(ml_dtypes.float8_e3m4)
SMALL_FLOATS = (BF16, F8E4M3FN, F8E5M2, F8E3M4)

# The longest contraction of one instruction: the engine has 128 rows.
MAX_K = 128


def matmul(acc, w, x):
    """One PE instruction: `w^T . x`, overwriting where `acc` is None, else added to `acc`.

    w: [K, M], x: [K, N], K <= 128; floats give f32 [M, N], 8-bit integers give i32 [M, N] that wraps.
    `acc` (same type and shape as the result) is not changed.
    """
    (k_size, m_size), (x_rows, n_size) = w.shape, x.shape
    if k_size != x_rows or k_size > MAX_K:
        raise ValueError(f"expected one contraction size <= {MAX_K}, found {w.shape} and {x.shape}")
    cell = np.dtype(np.int32 if w.dtype.kind in "iu" else np.float32)
    w, x = w.astype(cell), x.astype(cell)
    partial = np.zeros((m_size, n_size), cell)
    with np.errstate(all="ignore"):  # infinities and NaNs are results here, not events
        for k in range(k_size):
            partial += w[k, :, None] * x[k, None, :]
        return partial if acc is None else acc + partial


def chain(w, x, acc=None):
    """A K of any length as a chain of instructions: K tiles of 128, ascending, the last one ragged."""
    for k in range(0, w.shape[0], MAX_K):
        acc = matmul(acc, w[k : k + MAX_K], x[k : k + MAX_K])
    return acc


def same_bits(found, expected):
    """True where two arrays agree bit for bit, a NaN with any NaN; shape of the arrays, which must agree."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        raise ValueError(
            f"expected {expected.dtype} {expected.shape}, found {found.dtype} {found.shape}"
        )
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    found, expected = np.ascontiguousarray(found), np.ascontiguousarray(expected)
    equal = found.view(bits) == expected.view(bits)
    if expected.dtype.kind not in "iu":
        equal |= np.isnan(found.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    return equal


def save(path, array):
    """Writes a .npy as pto-run reads it: numpy has no name for bf16 and fp8 and writes `<V2` or `<V1`."""
    array = np.ascontiguousarray(array)
    if array.dtype == F8E5M2:  # its numpy name would be `<f1`, which numpy itself cannot read back
        array = array.view(np.uint8)
    np.save(Path(path), array, allow_pickle=False)


def load(path, dtype):
    """Reads a .npy of pto-run as `dtype`: small floats come back from `V2`/`V1` or from unsigned integers."""
    array, dtype = np.load(Path(path), allow_pickle=False), np.dtype(dtype)
    if array.dtype == dtype:
        return array
    if array.dtype.itemsize != dtype.itemsize or array.dtype.kind not in "Vu":
        raise ValueError(f"{path}: expected {dtype}, found {array.dtype}")
    return array.view(dtype)
