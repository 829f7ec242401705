"""Inputs and expected result of kernel.mlir: argument number -> array."""

import numpy as np
from pe_reference import BF16, F8E4M3FN, chain


def make_inputs():
    rng = np.random.default_rng(384)
    xt = rng.standard_normal((384, 128), np.float32).astype(F8E4M3FN)
    w = rng.standard_normal((384, 256), np.float32).astype(F8E4M3FN)
    # A large bias: adding it last instead of first would round differently.
    return {0: xt, 1: w, 2: 1000 * rng.standard_normal(256, np.float32)}


def reference(inputs):
    xt, w, bias = inputs[0], inputs[1], inputs[2]
    rows = np.broadcast_to(bias, (xt.shape[1], bias.size))
    return {3: chain(xt, w, acc=rows).astype(BF16)}
