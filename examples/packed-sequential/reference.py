"""Inputs and expected results of kernel.mlir and by-hand.mlir: argument number -> array."""

import numpy as np
from pe_reference import matmul


def make_inputs():
    rng = np.random.default_rng(3)
    weights = {n: rng.standard_normal((128, 128), np.float32).astype(np.float16) for n in range(4)}
    tokens = {n: rng.standard_normal((128, 256), np.float32).astype(np.float16) for n in (4, 5)}
    return weights | tokens


def reference(inputs):
    wq_lo, wq_hi, wk_lo, wk_hi, x_lo, x_hi = (inputs[n] for n in range(6))
    q = matmul(matmul(None, wq_lo, x_lo), wq_hi, x_hi)
    k = matmul(matmul(None, wk_lo, x_lo), wk_hi, x_hi)
    return {6: q, 7: k}
