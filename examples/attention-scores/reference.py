"""Inputs and expected result of kernel.mlir: argument number -> array."""

import numpy as np
from pe_reference import BF16, chain

HEADS, QUERIES = 4, 32


def make_inputs():
    rng = np.random.default_rng(4032)
    q = rng.standard_normal((256, HEADS * QUERIES), np.float32).astype(BF16)
    k = rng.standard_normal((256, 512), np.float32).astype(BF16)
    return {0: q, 1: k}


def reference(inputs):
    q, k = inputs[0], inputs[1]
    heads = [chain(q[:, h * QUERIES : (h + 1) * QUERIES], k) for h in range(HEADS)]
    return {2: np.concatenate(heads)}
