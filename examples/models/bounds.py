"""What the models compute, exactly, and how far a computation in floating point may be from it.

`Approx` is an array of exact values with a bound on the error of each element, whatever the order in which
sums are formed. The bounds are the usual ones: a sum of K products and an initial value, in f32, is off by
at most gamma = (K + 1) u of the sum of magnitudes, u = 2^-24; a rounding to a type of p bits by 2^-p.
"""

from dataclasses import dataclass

import numpy as np

UNIT = {"f32": 2.0**-24, "bf16": 2.0**-8, "f16": 2.0**-11}
# Two library functions of f32, each off by up to two units in the last place.
EXP_ERROR = 4 * UNIT["f32"]


@dataclass
class Approx:
    value: np.ndarray
    error: np.ndarray

    @classmethod
    def exact(cls, array):
        value = np.asarray(array).astype(np.float64)
        return cls(value, np.zeros_like(value))

    def magnitude(self):
        return np.abs(self.value) + self.error

    def rounded(self, to="f32"):
        """After one rounding of what this stands for."""
        return Approx(self.value, self.error + UNIT[to] * self.magnitude())


def contraction(subscripts, left, right, initial=None):
    inputs, output = subscripts.split("->")
    first, second = inputs.split(",")
    sizes = dict(zip(first, left.value.shape)) | dict(zip(second, right.value.shape))
    terms = np.prod([size for name, size in sizes.items() if name not in output])
    value = np.einsum(subscripts, left.value, right.value)
    magnitude = np.einsum(subscripts, left.magnitude(), right.magnitude())
    error = magnitude - np.einsum(subscripts, np.abs(left.value), np.abs(right.value))
    if initial is not None:
        value, error = value + initial.value, error + initial.error
        magnitude = magnitude + initial.magnitude()
    gamma = (terms + 1) * UNIT["f32"]
    return Approx(value, error + gamma / (1 - gamma) * magnitude)


def add(left, right):
    return Approx(left.value + right.value, left.error + right.error).rounded()


def subtract(left, right):
    return Approx(left.value - right.value, left.error + right.error).rounded()


def scale(operand, factor):
    return Approx(operand.value * factor, operand.error * abs(factor)).rounded()


def relu(operand):
    return Approx(np.maximum(operand.value, 0), operand.error)


def largest(operand):
    """Over the last axis."""
    return Approx(operand.value.max(-1, keepdims=True), operand.error.max(-1, keepdims=True))


def total(operand):
    """Over the last axis."""
    gamma = operand.value.shape[-1] * UNIT["f32"]
    error = operand.error.sum(-1, keepdims=True) + gamma * operand.magnitude().sum(-1, keepdims=True)
    return Approx(operand.value.sum(-1, keepdims=True), error)


def exponential(operand):
    value = np.exp(operand.value)
    error = value * np.expm1(operand.error)
    return Approx(value, error + EXP_ERROR * (value + error))


def divide(numerator, denominator):
    value = numerator.value / denominator.value
    furthest = numerator.magnitude() / (denominator.value - denominator.error)
    return Approx(value, furthest - np.abs(value)).rounded()


def mlp(x, w0, b0, w1, b1, w2, b2):
    hidden = x
    for weights, bias in ((w0, b0), (w1, b1)):
        hidden = relu(add(contraction("ik,kj->ij", hidden, weights), bias)).rounded("bf16")
    return contraction("ik,kj->ij", hidden, w2, initial=b2)


def attention(x, wq, wk, wv, wo):
    query, key, values = (contraction("sk,khd->shd", x, weights) for weights in (wq, wk, wv))
    scores = contraction("qhd,khd->hqk", query, key)
    weights = exponential(scale(subtract(scores, largest(scores)), 0.25))
    probabilities = divide(weights, total(weights))
    return contraction("shd,hdo->so", contraction("hqk,khd->qhd", probabilities, values), wo)


def convolution(image, filters):
    windows = np.lib.stride_tricks.sliding_window_view(image.value, (3, 3), axis=(1, 2))
    return relu(contraction("nhwcyx,yxco->nhwo", Approx.exact(windows), filters))


def batch_matmul(a, b, c):
    return contraction("bkm,bnk->bmn", a, b, initial=c)


def fp8(a, b):
    return scale(contraction("ik,kj->ij", a, b), 0.5)


MODELS = {
    "mlp": mlp,
    "attention": attention,
    "convolution": convolution,
    "batch-matmul": batch_matmul,
    "fp8": fp8,
}
# The output does not depend on the order of sums: integers, or inputs whose sums are exact in f32.
# A softmax is never exact.
IS_ORDER_FREE = {"mlp": "small", "convolution": "small", "batch-matmul": "always", "fp8": "small"}
