"""Inputs and expected results of kernel.mlir: argument number -> array."""

import numpy as np
from pe_reference import BF16, chain


def make_inputs():
    rng = np.random.default_rng(2)
    shapes = {0: (256, 128), 1: (256, 128), 2: (256, 256)}  # gate, up, tokens; hidden size first
    return {n: rng.standard_normal(shape, np.float32).astype(BF16) for n, shape in shapes.items()}


def reference(inputs):
    gate, up, tokens = inputs[0], inputs[1], inputs[2]
    return {3: chain(gate, tokens).astype(BF16), 4: chain(up, tokens).astype(BF16)}
