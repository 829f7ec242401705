"""A second model of the tile ISA's numbers, in exact fractions.

It is written from docs/tile-isa.md and shares nothing with the interpreter, not even its way of rounding:
a format is the sorted list of its values, and what a number rounds to is found among its neighbours.
"""

import bisect
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from math import floor

NV, OF, UF, NX = 1, 4, 8, 16
NAN = 0x7FC00000

# Exponent bits, fraction bits, bias, zero bits below; "ieee": the last exponent is infinity and NaN,
# "nan": only the last code of either sign is NaN, "finite": neither.
FORMATS = {
    "FP32": (8, 23, 127, 0, "ieee"), "TF32": (8, 10, 127, 13, "ieee"), "HF32": (8, 11, 127, 12, "ieee"),
    "FP16": (5, 10, 15, 0, "ieee"), "BF16": (8, 7, 127, 0, "ieee"), "E5M2": (5, 2, 15, 0, "ieee"),
    "E4M3": (4, 3, 7, 0, "nan"), "E3M2": (3, 2, 3, 0, "finite"), "E2M3": (2, 3, 1, 0, "finite"),
    "E2M1X2": (2, 1, 1, 0, "finite"), "E1M2X2": (1, 2, 1, 0, "finite"),
}  # fmt: skip
WIDTHS = {"S32": 32, "U32": 32, "S16": 16, "U16": 16, "S8": 8, "U8": 8, "S4X2": 4, "U4X2": 4}


@cache
def two(exponent):
    return Fraction(2) ** exponent


def signed(word, bits):
    word &= (1 << bits) - 1
    return word - (1 << bits) if word >> (bits - 1) else word


def decode_hif8(word):
    """1 sign bit; a prefix that says how many exponent bits there are; exponent; fraction."""
    sign, rest = -1 if word & 0x80 else 1, word & 0x7F
    if word == 0x80:
        return "nan"
    if rest == 0x6F:
        return sign * float("inf")
    for prefix, width, exponent_bits in [(0b11, 2, 4), (0b10, 2, 3), (0b01, 2, 2), (0b001, 3, 1), (0b0001, 4, 0)]:
        if rest >> (7 - width) == prefix:
            break
    else:
        return sign * two(rest - 23) if rest else Fraction(0)
    fraction_bits = 7 - width - exponent_bits
    code = rest >> fraction_bits & ((1 << exponent_bits) - 1)
    exponent = 0
    if exponent_bits:
        # A sign, and a magnitude whose first bit is 1 and not stored.
        half = 1 << (exponent_bits - 1)
        exponent = (half | code & (half - 1)) * (-1 if code & half else 1)
    fraction = Fraction(rest & ((1 << fraction_bits) - 1), 1 << fraction_bits)
    return sign * (1 + fraction) * two(exponent)


@dataclass(frozen=True)
class Number:
    """A value: a Fraction, with the sign that a zero has; an infinity; or "nan", perhaps signalling."""

    value: object
    is_negative: bool = False
    is_signalling: bool = False

    @property
    def is_finite(self):
        return isinstance(self.value, Fraction)


@lru_cache(maxsize=1 << 16)
def decode(word, name):
    """The Number of a word; what is no code of the format is a NaN."""
    if name == "HiF8":
        value = decode_hif8(word)
        return Number(value, value != "nan" and word > 0x80)
    exponent_bits, fraction_bits, bias, padding, kind = FORMATS[name]
    bits = 1 + exponent_bits + fraction_bits
    if word & ((1 << padding) - 1) or word >> padding >> bits:
        return Number("nan")
    word >>= padding
    is_negative = bool(word >> (bits - 1))
    exponent = word >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = word & ((1 << fraction_bits) - 1)
    is_last = exponent == (1 << exponent_bits) - 1
    if kind == "ieee" and is_last:
        if fraction:
            return Number("nan", is_negative, not fraction >> (fraction_bits - 1))
        return Number(float("-inf") if is_negative else float("inf"), is_negative)
    if kind == "nan" and is_last and fraction == (1 << fraction_bits) - 1:
        return Number("nan", is_negative)
    significand = Fraction(fraction, 1 << fraction_bits) + (exponent > 0)
    value = significand * two(max(exponent, 1) - bias)
    return Number(-value if is_negative else value, is_negative)


def choose(low, high, x, mode, is_high_preferred, is_high_odd):
    """Of two neighbours around an `x` that is neither, the one that it rounds to."""
    if mode in ("rtm", "rtp", "rtz"):
        return {"rtm": low, "rtp": high, "rtz": low if x > 0 else high}[mode]
    if mode == "rto":
        return high if is_high_odd else low
    if x - low != high - x:
        return low if x - low < high - x else high
    if mode == "rna":
        return high if x > 0 else low
    if mode == "rhb":
        return high
    return high if is_high_preferred else low


def exponent_of(x, name):
    """The exponent of the binade of `x`, not 0, in a binary format: at least that of the subnormals."""
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    if abs(x) < two(exponent):
        exponent -= 1
    return max(exponent, 1 - FORMATS[name][2])


def round_float(x, name, mode):
    """`x`, not 0, on the grid of a binary format whose exponents have no upper end."""
    unit = two(exponent_of(x, name) - FORMATS[name][1])
    steps = floor(x / unit)
    if steps * unit == x:
        return x
    is_high_odd = bool((steps + 1) % 2)
    return choose(steps * unit, (steps + 1) * unit, x, mode, not is_high_odd, is_high_odd)


def round_integer(x, mode):
    low = floor(x)
    if low == x:
        return low, 0
    is_high_odd = bool((low + 1) % 2)
    return int(choose(Fraction(low), Fraction(low + 1), x, mode, not is_high_odd, is_high_odd)), NX


class Target:
    """A float format that conversions write."""

    BITS = {"FP32": 32, "FP16": 16, "BF16": 16, "E4M3": 8, "HiF8": 8}
    NANS = {"FP32": NAN, "FP16": 0x7E00, "BF16": 0x7FC0, "E4M3": 0x7F, "HiF8": 0x80}
    LARGEST = {"FP32": 0x7F7FFFFF, "FP16": 0x7BFF, "BF16": 0x7F7F, "E4M3": 0x7E, "HiF8": 0x6E}
    INFINITY = {"FP32": 0x7F800000, "FP16": 0x7C00, "BF16": 0x7F80, "HiF8": 0x6F}
    SMALLEST_NORMAL = {"FP32": -126, "FP16": -14, "BF16": -126, "E4M3": -6, "HiF8": -15}

    def __init__(self, name):
        self.name = name
        self.sign = 1 << (self.BITS[name] - 1)
        self.largest = decode(self.LARGEST[name], name).value

    @cached_property
    def codes(self):
        """The finite values of an 8-bit format, ascending, each with its code; one zero."""
        values = {}
        for word in range(256):
            number = decode(word, self.name)
            if number.is_finite:
                values.setdefault(number.value, word)
        return sorted(values.items())

    def overflow(self, is_negative, is_saturating):
        if is_saturating:
            return self.LARGEST[self.name] | self.sign * is_negative, OF | NX
        if self.name == "E4M3":
            return 0x7F, OF | NX
        return self.INFINITY[self.name] | self.sign * is_negative, OF | NX

    def nearest_code(self, x, mode):
        """Among the codes of an 8-bit format; a tie goes to the even code, or to the larger value."""
        index = bisect.bisect_left(self.codes, (x,))
        if self.codes[index][0] == x:
            return self.codes[index]
        (low, low_code), (high, high_code) = self.codes[index - 1 : index + 1]
        chosen = choose(low, high, x, mode, low_code % 2 == 1, None)
        return (low, low_code) if chosen == low else (high, high_code)

    def encode(self, number, mode, is_saturating):
        """The word of an exact value, and the flags."""
        x = number.value
        if x == "nan":
            return 0 if is_saturating else self.NANS[self.name], NV * number.is_signalling
        if not number.is_finite:
            if is_saturating or self.name == "E4M3":
                return self.overflow(number.is_negative, is_saturating)
            return self.INFINITY[self.name] | self.sign * number.is_negative, 0
        if x == 0:
            return self.sign * (number.is_negative and self.name != "HiF8"), 0
        if self.BITS[self.name] == 8:
            if abs(x) > self.largest:
                return self.overflow(x < 0, is_saturating)
            rounded, code = self.nearest_code(x, mode)
        else:
            rounded = round_float(x, self.name, mode)
            if abs(rounded) > self.largest:
                return self.overflow(x < 0, is_saturating)
            code = self.code_of(rounded) | self.sign * (x < 0)
        if rounded == x:
            return code, 0
        return code, NX | UF * (abs(rounded) < two(self.SMALLEST_NORMAL[self.name]))

    def code_of(self, value):
        """The word without sign of a magnitude that the format has: codes ascend with it."""
        if value == 0:
            return 0
        _, fraction_bits, bias, _, _ = FORMATS[self.name]
        exponent = exponent_of(value, self.name)
        steps = abs(value) / two(exponent - fraction_bits)
        return int(steps) + (exponent + bias - 1 << fraction_bits)


TARGETS = {name: Target(name) for name in Target.BITS}


@dataclass(frozen=True)
class Mode:
    """A pre-quantisation mode. `kind` is "float", "shift" or the bits of an offset; `rounding` the
    fixed one, "free", or "default", which leaves no Sat either."""

    code: int
    accumulator: str
    output: str
    parameter: str
    kind: object
    rounding: str


def modes():
    rows = [(1, "FP32", "FP16", "none", "float", "rne"), (16, "FP32", "BF16", "none", "float", "rne")]
    for vector, scalar, accumulator, output, kind, rounding in [
        (2, 3, "S32", "S8", 9, "free"), (4, 5, "S32", "FP16", "float", "free"),
        (12, 13, "S32", "S16", "shift", "default"), (18, 17, "S32", "S4X2", 5, "free"),
        (20, 19, "S32", "S16", 17, "free"), (23, 24, "FP32", "S8", 9, "free"),
        (28, 25, "FP32", "HiF8", "float", "rhb"), (37, 26, "FP32", "E4M3", "float", "rne"),
        (38, 27, "FP32", "FP32", "float", "free"), (33, 32, "FP32", "FP16", "float", "rne"),
        (36, 34, "FP32", "BF16", "float", "rne"), (39, 35, "S32", "BF16", "float", "free"),
    ]:  # fmt: skip
        rows += [(vector, accumulator, output, "vector", kind, rounding)]
        rows += [(scalar, accumulator, output, "scalar", kind, rounding)]
    rows += [(0, accumulator, accumulator, "none", "same", "default") for accumulator in ("FP32", "S32", "U32")]
    return [Mode(*row) for row in sorted(rows)]


@dataclass
class Conversion:
    """What happens to the accumulators of one column."""

    mode: Mode
    rounding: str
    is_saturating: bool
    parameter: int = 0
    # None: no activation.
    factor: object = None
    target: object = field(init=False)

    def __post_init__(self):
        self.target = TARGETS.get(self.mode.output)

    def apply(self, word):
        """The word of D for one of P, cut to the width of D, and the flags."""
        word &= 0xFFFFFFFF
        if self.mode.kind == "same" and self.factor is None:
            return word, 0
        if self.mode.kind == "shift":
            shifted = signed(word, 32) >> ((self.parameter >> 32 & 15) + 1)
            return self.fit(shifted, True, 0)
        number = self.activate(word)
        if self.target:
            return self.target.encode(number, self.rounding, self.is_saturating)
        return self.integer(number)

    def activate(self, word):
        if self.mode.accumulator == "FP32":
            number = decode(word, "FP32")
            is_negative = number.is_negative and number.value != "nan"
        else:
            value = signed(word, 32) if self.mode.accumulator == "S32" else word
            is_negative = value < 0
            number = Number(Fraction(value), is_negative)
        multiplier = decode(self.parameter & 0xFFFFE000, "TF32").value if self.mode.parameter != "none" else Fraction(1)
        if is_negative and self.factor is not None:
            multiplier = self.factor
        if number.value == "nan" or (not number.is_finite and multiplier != 0):
            return number
        if multiplier == 0:
            return Number(Fraction(0))
        return Number(number.value * multiplier, number.is_negative)

    def integer(self, number):
        bits = WIDTHS[self.mode.output]
        least, greatest = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if self.mode.output[0] == "S" else (0, (1 << bits) - 1)
        if number.value == "nan":
            return (0 if self.is_saturating else least) & ((1 << bits) - 1), NV
        if not number.is_finite:
            if not self.is_saturating:
                return least & ((1 << bits) - 1), NV
            return (least if number.is_negative else greatest) & ((1 << bits) - 1), OF | NX
        whole, flags = round_integer(number.value, self.rounding)
        if isinstance(self.mode.kind, int):
            half = 1 << (self.mode.kind - 1)
            clamped = max(-half, min(half - 1, whole))
            if clamped != whole:
                flags |= OF | NX
            whole = clamped + signed(self.parameter >> 37, self.mode.kind)
        return self.fit(whole, self.is_saturating, flags)

    def fit(self, whole, is_saturating, flags):
        bits = WIDTHS[self.mode.output]
        least, greatest = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if self.mode.output[0] == "S" else (0, (1 << bits) - 1)
        if not least <= whole <= greatest:
            flags |= OF | NX
            if is_saturating:
                whole = max(least, min(greatest, whole))
        return whole & ((1 << bits) - 1), flags


def maximum(words, accumulator, is_absolute):
    """The fold of a maximum from the left, and the flags."""
    flags, operands = 0, []
    for word in words:
        if is_absolute and accumulator == "FP32":
            word &= 0x7FFFFFFF
        elif is_absolute and accumulator == "S32":
            flags |= OF * (word == 0x80000000)
            word = min(abs(signed(word, 32)), 0x7FFFFFFF)
        operands.append(word)
    result = operands[0]
    for word in operands[1:]:
        if accumulator != "FP32":
            bits = (lambda w: signed(w, 32)) if accumulator == "S32" else int
            result = max(result, word, key=bits)
            continue
        left, right = decode(result, "FP32"), decode(word, "FP32")
        flags |= NV * (left.is_signalling or right.is_signalling)
        if left.value == "nan" or right.value == "nan":
            result = word if right.value != "nan" else result if left.value != "nan" else NAN
        elif (right.value, not right.is_negative) > (left.value, not left.is_negative):
            result = word
    return result, flags


def step(total, a, b, mode="rne", is_saturating=False):
    """`total + a * b` on Numbers, product and sum each rounded to FP32; Number again."""
    return add(total, multiply(a, b, mode, is_saturating), mode, is_saturating)


def to_fp32(value, mode, is_saturating):
    if value == 0:
        return Number(Fraction(0))
    return decode(TARGETS["FP32"].encode(Number(value, value < 0), mode, is_saturating)[0], "FP32")


def multiply(a, b, mode, is_saturating):
    if a.value == "nan" or b.value == "nan":
        return Number("nan")
    if a.is_finite and b.is_finite:
        return to_fp32(a.value * b.value, mode, is_saturating)
    if a.value == 0 or b.value == 0:
        return Number("nan")
    is_negative = a.is_negative != b.is_negative
    return Number(float("-inf") if is_negative else float("inf"), is_negative)


def add(a, b, mode, is_saturating):
    if a.value == "nan" or b.value == "nan":
        return Number("nan")
    if a.is_finite and b.is_finite:
        return to_fp32(a.value + b.value, mode, is_saturating)
    if not a.is_finite and not b.is_finite and a.value != b.value:
        return Number("nan")
    return b if a.is_finite else a


def fp32_word(number):
    """The word of a finished sum: zero is +0, NaN the canonical one."""
    if number.value == 0:
        return 0
    return TARGETS["FP32"].encode(number, "rne", False)[0]
