"""The numpy peer: C[m, n] = A[m, k] . B[k, n] in bf16 on one thread, a K tile of 128 at a time.

Each K tile is cast to f32 and added with `C += A_tile @ B_tile`: the same products and the same grouping of
sums as the engine, but numpy may reorder within a tile, so this peer is for speed and not for bits.
Prints one JSON object: the best wall time in seconds over the repeats, and multiply-adds a second.
"""

import argparse
import json
import os
import sys
import time

# Before numpy loads its BLAS: one thread, and the kernel that BLAS itself picks for this processor.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)

try:
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    sys.exit(f"numpy_matmul.py: {missing.name} is missing: pip install -r test/requirements.txt")

K_TILE = 128


def tiled_matmul(at, b):
    """at: [K, M] bf16, b: [K, N] bf16 -> [M, N] f32."""
    c = np.zeros((at.shape[1], b.shape[1]), np.float32)
    for k in range(0, at.shape[0], K_TILE):
        w = at[k : k + K_TILE].astype(np.float32)
        x = b[k : k + K_TILE].astype(np.float32)
        c += w.T @ x
    return c


def require_close(c, at, b):
    """A BLAS with a kernel for another processor can be fast and wrong; its time means nothing."""
    exact = at.astype(np.float64).T @ b.astype(np.float64)
    bound = np.abs(at.astype(np.float64)).T @ np.abs(b.astype(np.float64))
    if not (np.abs(c - exact) <= at.shape[0] * 2.0**-23 * bound).all():
        sys.exit("numpy_matmul.py: numpy's result is outside the rounding error of f32")


def measure(m, n, k, repeat):
    rng = np.random.default_rng(0)
    at, b = (rng.standard_normal((k, size), np.float32).astype(ml_dtypes.bfloat16) for size in (m, n))
    require_close(tiled_matmul(at, b), at, b)
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        tiled_matmul(at, b)
        best = min(best, time.perf_counter() - start)
    return {
        "peer": f"numpy {np.__version__}",
        "shape": {"m": m, "n": n, "k": k},
        "seconds": best,
        "multiply_adds_per_second": m * n * k / best,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name, default in (("m", 512), ("n", 512), ("k", 2048), ("repeat", 7)):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    arguments = parser.parse_args()
    if min(vars(arguments).values()) < 1:
        parser.error("every number must be at least 1")
    print(json.dumps(measure(**vars(arguments))))


if __name__ == "__main__":
    main()
