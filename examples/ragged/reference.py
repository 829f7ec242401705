"""Inputs and expected result of kernel.mlir: argument number -> array."""

import numpy as np
from pe_reference import chain


def make_inputs():
    rng = np.random.default_rng(300)
    # Full f32 significands: unlike those of bf16, their products round.
    return {0: rng.standard_normal((300, 100), np.float32), 1: rng.standard_normal((300, 130), np.float32)}


def reference(inputs):
    return {2: chain(inputs[0], inputs[1])}
