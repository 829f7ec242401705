"""Inputs and expected results of kernel.mlir: argument number -> array."""

import numpy as np
from pe_reference import BF16, matmul


def make_inputs():
    rng = np.random.default_rng(1)
    return {n: rng.standard_normal((128, size), np.float32).astype(BF16) for n, size in ((0, 128), (1, 256))}


def reference(inputs):
    w, x = inputs[0], inputs[1]
    a = matmul(matmul(None, w, x), w, x)
    b = matmul(matmul(matmul(None, w, x), w, x), w, x)
    return {2: a, 3: b}
