#!/usr/bin/env python3
"""Tables of the small number formats, from libraries that share nothing with this project.

Writes formats.json, which rust/machine/src/formats/tests.rs reads: for each format the value of
every code and the codes of a ladder of float32 inputs (every value, every midpoint of neighbours,
and the float32 numbers on both sides of it). Formats of 16 bits and more, whose tables would be
large, are held as CRC-32 of the same tables.

References: ml_dtypes; numpy for float16; en_dtypes for HiF8 and E1M2 (whose conversion to HiF8
rounds ties away from zero); an integer rounding of the float32 word for tf32 and hf32.

    formats_fixture.py            write formats.json
    formats_fixture.py --check    exit 1 if formats.json is not what would be written
"""

import argparse
import json
import pathlib
import sys
import warnings
import zlib

import en_dtypes
import ml_dtypes
import numpy as np

FIXTURE = pathlib.Path(__file__).with_name("formats.json")

# MLIR's name of the element type: (the reference's type, bits of a code, rounding of its casts).
SMALL = {
    "f8E5M2": (ml_dtypes.float8_e5m2, 8, "rne"),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 8, "rne"),
    "f8E3M4": (ml_dtypes.float8_e3m4, 8, "rne"),
    "f8E8M0FNU": (ml_dtypes.float8_e8m0fnu, 8, "rne"),
    "f6E3M2FN": (ml_dtypes.float6_e3m2fn, 6, "rne"),
    "f6E2M3FN": (ml_dtypes.float6_e2m3fn, 6, "rne"),
    "f4E2M1FN": (ml_dtypes.float4_e2m1fn, 4, "rne"),
    "!pto.e1m2": (en_dtypes.float4_e1m2, 4, "rne"),
    "!pto.hif8": (en_dtypes.hifloat8, 8, "rna"),
}
HALF = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
# Name: low bits of the float32 word that the format has not.
TRUNCATED = {"tf32": 13, "!pto.hf32": 12}
RANDOM_WORDS = 1 << 16


def ladder(values):
    """Float32 inputs at and around every value of a format and every tie between neighbours."""
    steps = np.unique(np.abs(values[np.isfinite(values)].astype(np.float64)))
    steps = np.append(steps, 2 * steps[-1] - steps[-2])
    middles = ((steps[:-1] + steps[1:]) / 2).astype(np.float32)
    below = np.nextafter(middles, np.float32(-np.inf), dtype=np.float32)
    above = np.nextafter(middles, np.float32(np.inf), dtype=np.float32)
    rows = np.stack([steps[:-1].astype(np.float32), below, middles, above], axis=1).ravel()
    extremes = np.array([1e-45, 3.4028235e38, np.inf], np.float32)
    positive = np.concatenate([rows, extremes])
    return np.concatenate([positive, -positive])


def random_words():
    """A linear congruential sequence of float32 words (Numerical Recipes' constants), NaN left out."""
    state, words = 1, []
    for _ in range(RANDOM_WORDS):
        state = (1664525 * state + 1013904223) & 0xFFFFFFFF
        if state & 0x7FFFFFFF <= 0x7F800000:
            words.append(state)
    return np.array(words, np.uint32)


def round_word(words, low_bits):
    """Round a float32 word to nearest even at `low_bits`, the carry running into the exponent."""
    wide = words.astype(np.uint64)
    odd = (wide >> low_bits) & 1
    rounded = (wide + (1 << (low_bits - 1)) - 1 + odd) >> low_bits << low_bits
    is_infinite = (wide & 0x7FFFFFFF) == 0x7F800000
    return np.where(is_infinite, wide, rounded).astype(np.uint32)


def crc(array):
    return zlib.crc32(array.tobytes())


def hex_words(array):
    return array.astype(">u4" if array.itemsize == 4 else array.dtype).tobytes().hex()


def without_nan_payload(values):
    return np.where(np.isnan(values), np.float32(np.nan), values).astype("<f4")


def tables():
    small = {}
    for name, (dtype, bits, rounding) in SMALL.items():
        values = np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float32)
        inputs = ladder(values)
        if dtype is ml_dtypes.float8_e8m0fnu:
            # ml_dtypes rounds float32 subnormals up here, to 2^-126, however near 2^-127 they are.
            inputs = inputs[np.abs(inputs) >= np.finfo(np.float32).smallest_normal]
        small[name] = {
            "rounding": rounding,
            "decode": hex_words(without_nan_payload(values).view("<u4")),
            "inputs": hex_words(inputs.view("<u4")),
            "codes": inputs.astype(dtype).view(np.uint8).tobytes().hex(),
        }
    half = {}
    for name, dtype in HALF.items():
        values = np.arange(1 << 16, dtype="<u2").view(dtype).astype(np.float32)
        inputs = ladder(values)
        half[name] = {
            "decode": crc(without_nan_payload(values)),
            "inputs": crc(inputs.astype("<f4")),
            "codes": crc(inputs.astype(dtype).view("<u2")),
        }
    words = random_words()
    truncated = {
        name: {"inputs": crc(words), "codes": crc(round_word(words, bits))}
        for name, bits in TRUNCATED.items()
    }
    return {"small": small, "half": half, "truncated": truncated}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    warnings.simplefilter("ignore", RuntimeWarning)  # casts overflow on purpose
    text = json.dumps(tables(), indent=1) + "\n"
    if not check:
        FIXTURE.write_text(text)
        return 0
    if FIXTURE.read_text() == text:
        return 0
    print(f"{FIXTURE.name} is not what {pathlib.Path(__file__).name} computes", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
