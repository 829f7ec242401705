"""tile_differential.py PTO_RUN DIR [SEED]: tile operations on words chosen to be hard, against tile_model.py."""

import random
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from tile_model import (
    FORMATS, TARGETS, WIDTHS, Conversion, Number, add, decode, fp32_word, maximum, modes, round_float, signed, step, two,
)  # fmt: skip
from tile_program import FLOATS, RMODES, TYPES, Operand, Program, accumulator_type

SPECIAL = [
    0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0xFFA00000, 1, 0x80000001, 0x007FFFFF,
    0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000,
    0xC0200000, 0x43FF8000, 0xC3FF8000, 0x42FF0000, 0x43000000, 0xC3008000, 0x477FE000, 0x477FF000, 0x477FEFFF, 0x43E00000,
    0x43E00001, 0x43E80000, 0x47000000, 0x47000001, 0xC7000001, 0x33800000, 0x33000000, 0x33000001, 0x34000000, 0x34800000,
]  # fmt: skip
SPECIAL_INTEGERS = [0, 1, -1, 7, 8, -8, -9, 15, 16, 127, 128, -128, -129, 255, 256, -256, -257, 32767, 32768, -32769,
                    65535, 65536, -65537, 2**31 - 1, -(2**31), 2**24 + 1, 2**24 + 3, 65519, 65520, -65520]  # fmt: skip
GROUPS = [0, 8, 16, 32, 48, 64, 80, 96, 112, 128]


def undefined(rows, columns):
    return [[None] * columns for _ in range(rows)]


def rows_of(words, columns):
    return [words[i : i + columns] for i in range(0, len(words), columns)]


class Session:
    """Runs programs in a folder and holds what they give against what is expected."""

    def __init__(self, pto_run, folder, seed):
        self.pto_run, self.folder, self.random = pto_run, folder, random.Random(seed)
        self.elements = 0

    def expect(self, program, is_raw, outputs, flags):
        """`outputs`: rows of words for each output."""
        outcome = program.run(self.pto_run, self.folder, is_raw)
        assert outcome.status == 0, (program.text(), outcome.text)
        for (_, operand), found, wanted in zip(program.outputs, outcome.results, outputs, strict=True):
            bits = TYPES[operand.data_type][1]
            wanted = np.array([[word & ((1 << bits) - 1) for word in row] for row in wanted], dtype="u8")
            found = found.astype("u8") & np.uint64((1 << bits) - 1)
            assert found.shape == wanted.shape, program.text()
            for place in np.argwhere(found != wanted)[:1]:
                at = tuple(int(i) for i in place)
                raise AssertionError(f"{program.text()} at {at}: found {found[at]:#x}, expected {wanted[at]:#x}")
            self.elements += found.size
        assert outcome.flags == flags, f"{program.text()} flags: found {outcome.flags}, expected {flags}"

    def fp19(self):
        """A scale: one, a power of two, or any positive normal FP19, most of them near one."""
        kind = self.random.randrange(4)
        if kind == 0:
            return 127 << 10
        exponent = self.random.randrange(1, 255) if kind == 1 else self.random.randrange(117, 137)
        return exponent << 10 | (self.random.randrange(1 << 10) if kind != 2 else 0)


def accumulators(session, mode, count):
    """Words of an accumulator: special ones, ties of the output's format and their neighbours, and any."""
    pick = session.random
    if mode.accumulator != "FP32":
        words = [value & 0xFFFFFFFF for value in SPECIAL_INTEGERS]
        while len(words) < count:
            words.append(signed(pick.getrandbits(32), 32) >> pick.randrange(32) & 0xFFFFFFFF)
    else:
        words = list(SPECIAL)
        while len(words) < count // 2:
            words.append(tie(session, mode.output) + pick.randrange(-1, 2) & 0xFFFFFFFF | pick.getrandbits(1) << 31)
        while len(words) < count:
            exponent = pick.choice([pick.randrange(256), pick.randrange(110, 142)])
            words.append(pick.getrandbits(1) << 31 | exponent << 23 | pick.getrandbits(23))
    pick.shuffle(words)
    return words[:count]


def tie(session, output):
    """The FP32 word halfway between two neighbours of a format of conversions."""
    if output in ("FP32", "U32", "S32"):
        return session.random.getrandbits(31)
    if output not in TARGETS:
        return fp32_word(Number(Fraction(2 * session.random.randrange(300) + 1, 2)))
    target = TARGETS[output]
    if target.BITS[output] == 8:
        index = session.random.randrange(len(target.codes) // 2, len(target.codes) - 1)
        low, high = target.codes[index][0], target.codes[index + 1][0]
    else:
        code = session.random.randrange(target.LARGEST[output])
        low, high = decode(code, output).value, decode(code + 1, output).value
    middle = (low + high) / 2
    return fp32_word(Number(round_float(middle, "FP32", "rne"))) if middle else 0


def parameter(session, mode):
    if mode.kind == "shift":
        return session.random.randrange(16) << 32
    offset = session.random.getrandbits(mode.kind) << 37 if isinstance(mode.kind, int) else 0
    return session.fp19() << 13 | offset


def convert(session, mode, rmode, is_saturating, relu, m=16, n=16):
    """One conversion of any accumulators, which a product of zeros in raw arithmetic leaves as they are."""
    words = accumulators(session, mode, m * n)
    p = rows_of(words, n)
    left, right = {"FP32": ("FP16", "BF16"), "S32": ("S8", "S16"), "U32": ("U8", "U16")}[mode.accumulator]
    sources = [("ins", Operand(mode.accumulator, "cube_m16", p)), ("ins", Operand(left, "cube_m16", [[0]] * m)),
               ("ins", Operand(right, "cube_n8", [[0] * n]))]  # fmt: skip
    parameters = [0] * n
    if mode.parameter == "scalar":
        parameters = [parameter(session, mode)] * n
        sources.append(("quant", parameters[0]))
    elif mode.parameter == "vector":
        parameters = [parameter(session, mode) for _ in range(n)]
        sources.append(("quant", Operand("U64", "cube_m16", [parameters])))
    factors = [None if relu == 0 else 0] * n
    if relu == 2:
        factors = [session.random.choice([0, session.fp19()])] * n
        sources.append(("prelu", factors[0]))
    elif relu == 3:
        factors = [session.random.choice([0, session.fp19(), session.fp19()]) for _ in range(n)]
        sources.append(("prelu", Operand("U64", "cube_m16", [factors])))
    attributes = [f"rmode = #pto.rmode<{rmode}>"] * (rmode != "default") + ["sat"] * is_saturating
    attributes.append(f"post = #pto.post<pre_quant = {mode.code}, relu = {relu}>")
    program = Program("tmatmul_acc", sources, [("outs", Operand(mode.output, "cube_m16", undefined(m, n)))], attributes)
    rounding = rmode if mode.rounding == "free" else mode.rounding
    rounding = "rne" if rounding == "default" else rounding
    columns = [
        Conversion(mode, rounding, is_saturating, q, None if f is None else decode(f << 13, "TF32").value)
        for q, f in zip(parameters, factors)
    ]
    d, flags = [], 0
    for row in p:
        made = [column.apply(word) for column, word in zip(columns, row)]
        d.append([word for word, _ in made])
        flags |= sum(bit for bit in (1, 4, 8, 16) if any(raised & bit for _, raised in made))
    session.expect(program, True, [d], flags)


def conversions(session):
    count = 0
    for mode in modes():
        if mode.rounding == "free":
            # Of a scalar and a vector mode with the same conversion one saturates where the other does not.
            is_vector = mode.parameter == "vector"
            cases = [(rmode, (i + is_vector) % 2 == 1, (i + mode.code) % 4) for i, rmode in enumerate(RMODES)]
        else:
            saturations = [False] if mode.rounding == "default" else [False, True]
            cases = [("default", is_saturating, relu) for is_saturating in saturations for relu in range(4)]
        for case in cases:
            convert(session, mode, *case)
        count += len(cases)
    return count


def reductions(session):
    """Maxima of rows and of groups, of any words, with and without a beginning, in every type."""
    count = 0
    for accumulator in ["FP32", "S32", "U32"]:
        mode = next(mode for mode in modes() if mode.accumulator == accumulator and mode.code == 0)
        for is_absolute in [False, True]:
            for group in range(10):
                reduce(session, mode, is_absolute, group, has_init=bool(group % 2), n=130 if group > 5 else [1, 7, 50][group % 3])
                count += 1
    return count


def reduce(session, mode, is_absolute, group, has_init, n):
    accumulator, m = mode.accumulator, 5
    p = rows_of(accumulators(session, mode, max(m * n, 64))[: m * n], n)
    sides = {"FP32": "E5M2", "S32": "S16", "U32": "U8"}[accumulator]
    sources = [("ins", Operand(accumulator, "cube_m16", p)), ("ins", Operand(sides, "cube_m16", [[0]] * m)),
               ("ins", Operand(sides, "cube_n8", [[0] * n]))]  # fmt: skip
    init = accumulators(session, mode, 64)[:m]
    if has_init:
        sources.append(("row_max_in", Operand(accumulator, "cube_m16", [[word] for word in init])))
    outputs = [("outs", Operand(accumulator, "cube_m16", undefined(m, n))),
               ("row_max", Operand(accumulator, "cube_m16", undefined(m, 1)))]  # fmt: skip
    flags, row_maxima, group_maxima = 0, [], []
    for row, first in zip(p, init):
        word, raised = maximum([first] * has_init + row, accumulator, is_absolute)
        row_maxima.append([word])
        flags |= raised
        if group:
            made = [maximum(row[i : i + GROUPS[group]], accumulator, is_absolute) for i in range(0, n, GROUPS[group])]
            group_maxima.append([word for word, _ in made])
            for _, raised in made:
                flags |= raised
    fields = [f"pre_quant = 0, relu = 0, group = {group}, row_max"] + ["group_max"] * bool(group)
    fields += ["row_max_init"] * has_init + ["max_abs"] * is_absolute
    expected = [p, row_maxima]
    if group:
        outputs.append(("group_max", Operand(accumulator, "cube_m16", undefined(m, len(group_maxima[0])))))
        expected.append(group_maxima)
    program = Program("tmatmul_acc", sources, outputs, [f"post = #pto.post<{', '.join(fields)}>"])
    session.expect(program, True, expected, flags)


def side_words(session, name, count):
    """Words of an input: any codes, invalid ones among them, wide formats also near one."""
    pick, bits = session.random, TYPES[name][1]
    words = []
    for _ in range(count):
        word = pick.getrandbits(bits)
        if name in FORMATS and bits > 8 and pick.random() < 0.9:
            exponent_bits, fraction_bits, bias, padding, _ = FORMATS[name]
            exponent = bias + pick.randrange(-8, 8) if pick.random() < 0.8 else pick.randrange(1 << exponent_bits)
            word = (pick.getrandbits(1) << exponent_bits | exponent) << fraction_bits | pick.getrandbits(fraction_bits)
            word <<= padding
        elif name in ("E3M2", "E2M3") and pick.random() < 0.98:
            word &= 63
        if name in FLOATS and bits <= 8 and decode(word, name).value == "nan" and pick.random() < 0.8:
            word = pick.randrange(8)
        words.append(word)
    return words


def numbers(words, name):
    if name in WIDTHS:
        return [signed(word, WIDTHS[name]) if name[0] == "S" else word for word in words]
    return [decode(word, name) for word in words]


def accumulate(session, a_type, b_type, rmode="default", is_saturating=False, m=3, n=5, k=6):
    """C + A.B in ieee arithmetic, seen through a conversion that changes nothing (or through the maximum
    of a single column where it does)."""
    accumulator = accumulator_type(a_type)
    is_float = accumulator == "FP32"
    a, b = side_words(session, a_type, m * k), side_words(session, b_type, k * n)
    c = side_words(session, "FP32", m * n) if is_float else [session.random.getrandbits(32) for _ in range(m * n)]
    bias = side_words(session, "FP32", n) if is_float else [session.random.getrandbits(32) for _ in range(n)]
    has_bias = session.random.random() < 0.5
    rounding = "rne" if rmode == "default" else rmode
    first, left, right = numbers(c, accumulator), numbers(a, a_type), numbers(b, b_type)
    added = numbers(bias, accumulator)
    d = []
    for i in range(m * n):
        row, column = divmod(i, n)
        terms = [(left[row * k + j], right[j * n + column]) for j in range(k)]
        if not is_float:
            d.append((added[column] if has_bias else first[i]) + sum(x * y for x, y in terms))
            continue
        total = Number(Fraction(0)) if has_bias else first[i]
        for x, y in terms:
            total = step(total, x, y, rounding, is_saturating)
        if has_bias:
            total = add(total, added[column], "rne", False)
        d.append(fp32_word(total))
    sides = [("ins", Operand(a_type, "cube_m16", rows_of(a, k))), ("ins", Operand(b_type, "cube_n8", rows_of(b, n)))]
    if has_bias:
        op, sources = "tmatmul_bias", [*sides, ("ins", Operand(accumulator, "cube_m16", [bias]))]
    else:
        op, sources = "tmatmul_acc", [("ins", Operand(accumulator, "cube_m16", rows_of(c, n))), *sides]
    attributes, flags = [], 0
    if rmode != "default" or is_saturating:
        # Times one into FP32: what is finite stays what it is.
        sources.append(("quant", 127 << 23))
        attributes = [f"rmode = #pto.rmode<{rmode}>"] + ["sat"] * is_saturating + ["post = #pto.post<pre_quant = 27>"]
        made = [TARGETS["FP32"].encode(decode(word, "FP32"), rounding, is_saturating) for word in d]
        d = [word for word, _ in made]
        flags = 20 * any(raised for _, raised in made)
    program = Program(op, sources, [("outs", Operand(accumulator, "cube_m16", undefined(m, n)))], attributes)
    session.expect(program, False, [rows_of(d, n)], flags)


def pairs(session):
    count = 0
    for a_type in TYPES:
        for b_type in TYPES:
            if {a_type, b_type} <= set(FLOATS) or (a_type in WIDTHS and b_type in WIDTHS and "32" not in a_type + b_type and a_type[0] == b_type[0]):
                accumulate(session, a_type, b_type)
                count += 1
    return count


def controls(session):
    count = 0
    for rmode in RMODES:
        for is_saturating in [False, True]:
            for a_type, b_type in [("FP32", "FP32"), ("BF16", "FP16"), ("HiF8", "TF32"), ("E2M3", "E5M2")]:
                accumulate(session, a_type, b_type, rmode, is_saturating)
                count += 1
    return count


def saturated_sums(session):
    """Sat reaches the sum where the mode fixes the rounding too: seen in the maximum of a single column."""
    m, k, name = 16, 3, "BF16"
    words = [0x7F00 | session.random.getrandbits(7) | session.random.getrandbits(1) << 15 for _ in range(m * k)]
    b = [session.random.choice([0x4000, 0xC000, 0x3F80]) for _ in range(k)]
    for is_saturating in [False, True]:
        p = []
        for i in range(m):
            total = Number(Fraction(0))
            for j in range(k):
                total = step(total, decode(words[i * k + j], name), decode(b[j], name), "rne", is_saturating)
            p.append(fp32_word(total))
        conversion = Conversion(next(mode for mode in modes() if mode.code == 16), "rne", is_saturating)
        made = [conversion.apply(word) for word in p]
        program = Program(
            "tmatmul",
            [("ins", Operand(name, "cube_m16", rows_of(words, k))), ("ins", Operand(name, "cube_n8", [[w] for w in b]))],
            [("outs", Operand("BF16", "cube_m16", undefined(m, 1))), ("row_max", Operand("FP32", "cube_m16", undefined(m, 1)))],
            ["sat"] * is_saturating + ["post = #pto.post<pre_quant = 16, row_max>"],
        )
        flags = 0
        for _, raised in made:
            flags |= raised
        session.expect(program, False, [[[word] for word, _ in made], [[word] for word in p]], flags)


def scaled_down(session):
    """CScale, with every exponent."""
    m, n = 16, 16
    for first in range(0, 256, m):
        exponents = list(range(first, first + m))
        c = rows_of([word | 1 << 30 if session.random.random() < 0.3 else word for word in accumulators(session, FP32_AS_IS, m * n)], n)
        d, flags = [], 0
        for row, exponent in zip(c, exponents):
            out = []
            for word in row:
                number = decode(word, "FP32")
                if number.is_finite and number.value:
                    word, raised = TARGETS["FP32"].encode(Number(number.value * two(-exponent), number.is_negative), "rne", False)
                    flags |= raised
                out.append(word)
            d.append(out)
        zeros = [("ins", Operand("FP16", "cube_m16", [[0]] * m)), ("ins", Operand("FP16", "cube_n8", [[0] * n]))]
        program = Program(
            "tmatmul_acc",
            [("ins", Operand("FP32", "cube_m16", c)), *zeros, ("c_scale", Operand("U8", "cube_m32", [[e] for e in exponents]))],
            [("outs", Operand("FP32", "cube_m16", undefined(m, n)))],
            [],
        )
        session.expect(program, True, [d], flags)


FP32_AS_IS = next(mode for mode in modes() if mode.accumulator == "FP32" and mode.code == 0)


def block_scaled(session):
    """Every pair of types of block-scaled products with a published scale, NaN scales among them."""
    kinds = ["FP16", "BF16", "E4M3", "E5M2", "E2M1X2", "E1M2X2"]
    m, n, k = 2, 3, 70
    for a_type in kinds:
        for b_type in kinds:
            a, b = side_words(session, a_type, m * k), side_words(session, b_type, k * n)
            left = [numbers(a, a_type)[i * k : (i + 1) * k] for i in range(m)]
            right = [numbers(b, b_type)[j::n] for j in range(n)]
            sources = []
            for words, name, values, space in [(rows_of(a, k), a_type, left, "cube_m16"), (rows_of(b, n), b_type, right, "cube_n8")]:
                sources.append(("ins", Operand(name, space, words)))
                if name in ("FP16", "BF16"):
                    continue
                codes = [[session.random.choice([session.random.randrange(256), session.random.randrange(117, 137)])
                          for _ in range(-(-k // 32))] for _ in values]  # fmt: skip
                sources.append(("ins", Operand("E8M0", "cube_m32", codes)))
                for line, scales in zip(values, codes):
                    line[:] = [times_scale(x, scales[i // 32]) for i, x in enumerate(line)]
            d = []
            for line in left:
                for column in right:
                    total = Number(Fraction(0))
                    for x, y in zip(line, column):
                        total = step(total, x, y)
                    d.append(fp32_word(total))
            program = Program("tmatmul_mx", sources, [("outs", Operand("FP32", "cube_m16", undefined(m, n)))], [])
            session.expect(program, False, [rows_of(d, n)], 0)
    return len(kinds) ** 2


def times_scale(number, code):
    if code == 255 or number.value == "nan":
        return Number("nan")
    return Number(number.value * two(code - 127), number.is_negative) if number.is_finite else number


def main():
    session = Session(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 11)
    print(f"{conversions(session)} conversions agree")
    print(f"{reductions(session)} reductions agree")
    print(f"{pairs(session)} pairs of types agree")
    print(f"{controls(session)} controlled sums agree")
    saturated_sums(session)
    scaled_down(session)
    print(f"{block_scaled(session)} block-scaled pairs agree")
    print(f"{session.elements} elements")


if __name__ == "__main__":
    main()
