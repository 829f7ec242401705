"""tile_reference.py PTO_RUN DIR: tile operations against NumPy, bit for bit.

Shares nothing with the interpreter: formats are decoded by ml_dtypes, and every step is a product and a
sum of NumPy, each rounded to f32, k ascending, beginning with C.
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from tile_program import TYPES, Operand, Program, accumulator_type

# What ml_dtypes and NumPy know.
FORMATS = {
    "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16, "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2, "E3M2": ml_dtypes.float6_e3m2fn, "E2M3": ml_dtypes.float6_e2m3fn,
    "E2M1X2": ml_dtypes.float4_e2m1fn, "S16": np.int16, "S8": np.int8, "S4X2": ml_dtypes.int4,
    "U16": np.uint16, "U8": np.uint8, "U4X2": ml_dtypes.uint4,
}  # fmt: skip
LOG_SCALES = 6


def words_of(values, data_type):
    """The raw words of an array of a format."""
    size = values.dtype.itemsize
    mask = (1 << TYPES[data_type][1]) - 1
    return [[int(word) & mask for word in row] for row in np.atleast_2d(values).view(f"u{size}")]


def random_values(rng, data_type, shape):
    """Values that reach all of a narrow format and a part of a wide one, signed zeros among them."""
    if data_type[0] in "SU":
        low, high = (-128, 128) if data_type[0] == "S" else (0, 256)
        bits = TYPES[data_type][1]
        return (rng.integers(low, high, shape) >> max(8 - bits, 0)).astype(FORMATS[data_type])
    values = rng.standard_normal(shape).astype(np.float32) * np.exp2(rng.integers(-3, 3, shape))
    values[rng.random(shape) < 0.1] = -0.0
    return values.astype(np.float32).astype(FORMATS[data_type])


def multiply(c, a, b, a_scale=None, b_scale=None):
    """C + A.B by the machine's rule: an exact zero is +0."""
    if c.dtype != np.float32:
        return (c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)).astype(c.dtype)
    a, b = a.astype(np.float64), b.astype(np.float64)
    if a_scale is not None:
        a = a * np.repeat(a_scale, 32, axis=1)[:, : a.shape[1]]
    if b_scale is not None:
        b = b * np.repeat(b_scale, 32, axis=0)[: b.shape[0]]
    sums = c.copy()
    for k in range(a.shape[1]):
        # Products of two such numbers are exact in f64: one rounding.
        products = (a[:, k, None] * b[None, k, :]).astype(np.float32)
        sums = sums + (products + np.float32(0))
    return sums


def expect(program, expected, pto_run, folder):
    outcome = program.run(pto_run, folder, is_raw=False)
    assert outcome.status == 0, outcome.text
    assert len(outcome.results) == len(expected)
    for found, wanted in zip(outcome.results, expected):
        wanted = np.ascontiguousarray(wanted).view(f"u{wanted.dtype.itemsize}")
        assert found.shape == wanted.shape and (found == wanted).all(), (program.text(), found, wanted)


def accumulations(rng, pto_run, folder):
    """Every pair of types of one class, in either layout, with ragged shapes."""
    count = 0
    for a_type in FORMATS:
        for b_type in FORMATS:
            accumulator = accumulator_type(a_type)
            if accumulator_type(b_type) != accumulator:
                continue
            m, n, k = rng.integers(1, 33), rng.integers(1, 20), rng.integers(1, 40)
            space = "cube_m16" if m <= 16 else "cube_m32"
            dtype = {"FP32": np.float32, "S32": np.int32, "U32": np.uint32}[accumulator]
            a, b = random_values(rng, a_type, (m, k)), random_values(rng, b_type, (k, n))
            c = random_values(rng, "FP32", (m, n)) if dtype == np.float32 else rng.integers(0, 1 << 31, (m, n)).astype(dtype)
            program = Program(
                "tmatmul_acc",
                [("ins", Operand(accumulator, space, words_of(c, accumulator))),
                 ("ins", Operand(a_type, space, words_of(a, a_type))),
                 ("ins", Operand(b_type, "cube_n8", words_of(b, b_type)))],
                [("outs", Operand(accumulator, space, [[None] * n for _ in range(m)]))],
                [],
            )  # fmt: skip
            expect(program, [multiply(c, a, b)], pto_run, folder)
            count += 1
    return count


def scaled(rng, pto_run, folder):
    """Block scales on one side or both, a bias, a conversion to bf16, and row maxima."""
    count = 0
    for a_type, b_type in [("E4M3", "E5M2"), ("E2M1X2", "E4M3"), ("FP16", "E5M2"), ("BF16", "FP16")]:
        m, n, k = 5, 9, 70
        a, b = random_values(rng, a_type, (m, k)), random_values(rng, b_type, (k, n))
        bias = random_values(rng, "FP32", (1, n))
        groups = -(-k // 32)
        sources, scales = [], []
        for value, data_type, space, lines in [(a, a_type, "cube_m16", m), (b, b_type, "cube_n8", n)]:
            sources.append(("ins", Operand(data_type, space, words_of(value, data_type))))
            scales.append(None)
            if data_type not in ("FP16", "BF16"):
                codes = rng.integers(127 - LOG_SCALES, 127 + LOG_SCALES, (lines, groups))
                sources.append(("ins", Operand("E8M0", "cube_m32", codes.tolist())))
                scales[-1] = np.exp2(codes - 127.0)
        sources.append(("ins", Operand("FP32", "cube_m16", words_of(bias, "FP32"))))
        nothing = [[None] * n for _ in range(m)]
        program = Program(
            "tmatmul_mx_bias",
            sources,
            [("outs", Operand("BF16", "cube_m16", nothing)),
             ("row_max", Operand("FP32", "cube_m16", [[None]] * m))],
            ["post = #pto.post<pre_quant = 16, relu = 1, group = 0, row_max>"],
        )  # fmt: skip
        b_scale = None if scales[1] is None else scales[1].T
        p = multiply(np.zeros((m, n), np.float32), a, b, scales[0], b_scale) + bias
        d = np.where(p > 0, p, np.float32(0)).astype(ml_dtypes.bfloat16)
        expect(program, [d, p.max(axis=1, keepdims=True)], pto_run, folder)
        count += 1
    return count


def main():
    pto_run, folder = sys.argv[1], Path(sys.argv[2])
    rng = np.random.default_rng(4)
    print(f"{accumulations(rng, pto_run, folder)} pairs of types agree with numpy")
    print(f"{scaled(rng, pto_run, folder)} block-scaled products agree with numpy")


if __name__ == "__main__":
    main()
