"""Inputs and expected results of kernel.mlir: argument number -> array."""

import numpy as np


def make_inputs():
    rng = np.random.default_rng(64)
    x = rng.standard_normal((16, 192), np.float32).astype(np.float16)
    w1 = (0.1 * rng.standard_normal((192, 64), np.float32)).astype(np.float16)
    w2 = rng.standard_normal((64, 24), np.float32).astype(np.float16)
    return {0: x, 1: w1, 2: w2, 3: 10 * rng.standard_normal((1, 24), np.float32)}


def product(a, b):
    """a . b as the tile ISA sums: each product and each sum rounded to f32, k ascending. A chain over K
    is one such sum, for every step begins with the accumulator."""
    sums = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        sums = sums + a[:, k, None].astype(np.float32) * b[None, k, :].astype(np.float32)
    return sums


def reference(inputs):
    x, w1, w2, bias = (inputs[number] for number in range(4))
    hidden = np.maximum(product(x, w1), np.float32(0)).astype(np.float16)
    y = product(hidden, w2) + bias
    return {4: y, 5: y.max(axis=1, keepdims=True)}
