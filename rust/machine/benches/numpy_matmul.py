"""Prints the floating point operations a second of numpy on one thread.

The work is that of benches/pe.rs: C[128, 512] += W[128, 128]^T . X[128, 512] for bf16 operands, cast to
float32 every time.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import time

import ml_dtypes
import numpy as np

K, M, N = 128, 128, 512
CALLS, SAMPLES = 30, 31


def main():
    random = np.random.default_rng(1)
    w = random.uniform(-1, 1, (K, M)).astype(ml_dtypes.bfloat16)
    x = random.uniform(-1, 1, (K, N)).astype(ml_dtypes.bfloat16)
    c = np.zeros((M, N), np.float32)
    seconds = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        for _ in range(CALLS):
            c += w.astype(np.float32).T @ x.astype(np.float32)
        seconds.append((time.perf_counter() - start) / CALLS)
    print(2 * K * M * N / np.median(seconds))


main()
