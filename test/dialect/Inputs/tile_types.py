"""All pairs of element types, and all conversion modes, legal or not.

    tile_types.py pairs      441 ordinary pairs and 529 block-scaled ones
    tile_types.py modes      64 codes x accumulator x parameter x rounding x saturation
    tile_types.py codes      every code of relu, group and mask with what it needs

Prints a split input file for -verify-diagnostics: an operation that must be refused
says how its message ends; one that must be accepted says nothing. Counts go to
standard error.
"""

import itertools
import sys

from tile_cases import CLASSES, SCALED, Case, print_cases

OTHERS = ["f8E8M0FNU", "si32", "ui32"]
ORDINARY = [name for types in CLASSES.values() for name in types] + OTHERS
# Each with what else a tile can hold: types no product takes.
SCALABLE = [*ORDINARY, "!pto.hif4", "f64"]

# code: accumulator, output, parameter, and what is free: "" nothing, "s" saturation,
# "rs" rounding too. Mode 0 takes any accumulator and keeps it.
MODES = {
    0: (None, None, None, ""),
    1: ("f32", "f16", None, "s"),
    2: ("si32", "si8", "vector", "rs"), 3: ("si32", "si8", "i64", "rs"),
    4: ("si32", "f16", "vector", "rs"), 5: ("si32", "f16", "i64", "rs"),
    12: ("si32", "si16", "vector", ""), 13: ("si32", "si16", "i64", ""),
    16: ("f32", "bf16", None, "s"),
    17: ("si32", "si4", "i64", "rs"), 18: ("si32", "si4", "vector", "rs"),
    19: ("si32", "si16", "i64", "rs"), 20: ("si32", "si16", "vector", "rs"),
    23: ("f32", "si8", "vector", "rs"), 24: ("f32", "si8", "i64", "rs"),
    25: ("f32", "!pto.hif8", "i64", "s"), 28: ("f32", "!pto.hif8", "vector", "s"),
    26: ("f32", "f8E4M3FN", "i64", "s"), 37: ("f32", "f8E4M3FN", "vector", "s"),
    27: ("f32", "f32", "i64", "rs"), 38: ("f32", "f32", "vector", "rs"),
    32: ("f32", "f16", "i64", "s"), 33: ("f32", "f16", "vector", "s"),
    34: ("f32", "bf16", "i64", "s"), 36: ("f32", "bf16", "vector", "s"),
    35: ("si32", "bf16", "i64", "rs"), 39: ("si32", "bf16", "vector", "rs"),
}
SIDES = {"f32": "f16", "si32": "si8", "ui32": "ui16"}
ROUNDINGS = ["default", "rne", "rtz", "rtm", "rtp", "rna", "rto", "rhb"]


def end(tag, fault="TileLegality"):
    return f"({fault}) [pto:tile-{tag}]"


def accumulator_of(left, right):
    return next((a for a, t in CLASSES.items() if left in t and right in t), None)


def ordinary_pairs():
    for left, right in itertools.product(ORDINARY, repeat=2):
        case = Case("tmatmul_acc", "local", sides=(left, right))
        case.accumulator = accumulator_of(left, right)
        for role in ("accumulator", "dst"):
            case.tiles[role].type = case.accumulator or "f32"
        yield case, None if case.accumulator else end("type-pair")


def scaled_pairs():
    for left, right in itertools.product(SCALABLE, repeat=2):
        # Case takes its own sides for two f16, which here are two sides as others are.
        case = Case("tmatmul_mx_acc", "local")
        for role in ("lhs_scale", "rhs_scale"):
            del case.tiles[role]
        case.tiles["lhs"].type, case.tiles["rhs"].type = left, right
        case.add_scales(case.m, SCALED.get(left, 0), SCALED.get(right, 0))
        is_legal = left in SCALED and right in SCALED
        yield case, None if is_legal else end("type-pair")


def pairs():
    yield from ordinary_pairs()
    yield from scaled_pairs()


def judge_mode(code, accumulator, parameter, rounding, saturates):
    """The end of the message that a mode so used gets; None where it is legal."""
    if code not in MODES:
        return end("reserved", "IllegalInstruction")
    needed, _, kind, free = MODES[code]
    if parameter != kind:
        is_tile = "vector" in (parameter, kind)
        return end("source-count" if is_tile else "scalar-parameters")
    if (rounding != "default" and "r" not in free) or (saturates and "s" not in free):
        return end("rounding-fields")
    if needed not in (None, accumulator):
        return end("mode-accumulator")
    return None


def modes():
    for code, accumulator, parameter, rounding, saturates in itertools.product(
        range(64), SIDES, (None, "i64", "vector"), ROUNDINGS, (False, True)
    ):
        side = SIDES[accumulator]
        case = Case("tmatmul_acc", "local", sides=(side, side))
        output = MODES.get(code, (None, None))[1] or accumulator
        case.convert(code, output, parameter)
        if rounding != "default":
            case.attributes["rmode"] = f"#pto.rmode<{rounding}>"
        if saturates:
            case.attributes["sat"] = None
        yield case, judge_mode(code, accumulator, parameter, rounding, saturates)


def codes():
    reserved = end("reserved", "IllegalInstruction")
    for relu in range(-1, 9):
        case = Case("tmatmul", "local").activate(relu)
        yield case, None if 0 <= relu <= 3 else reserved
    for group in range(-1, 17):
        case = Case("tmatmul", "local")
        case.n = case.tiles["rhs"].columns = case.tiles["dst"].columns = 250
        if group > 0:
            case.reduce_groups(group)
        case.post["group"] = group
        yield case, None if 0 <= group <= 9 else reserved
    for mask in range(-1, 18):
        case = Case("tmatmul", "local")
        case.attributes["mask"] = mask
        yield case, None if mask in (0, 1, 2, 4, 8, 12, 14, 15) else reserved
    yield from shares()


def shares():
    """Rows of dst against rows of a group: those of one processing element."""
    for group, rows in itertools.product(range(1, 131), (1, 9, 15, 16, 17, 31, 32)):
        case = Case("tmatmul", "both", "cube_m16" if rows <= 16 else "cube_m32")
        case.tiles["lhs"].rows = group
        case.tiles["dst"].rows = rows
        each = 16 if group <= 64 else 32
        found = {min(each, max(0, group - each * i)) for i in range(4)}
        if group > 128:
            yield case, end("dimensions")
        else:
            yield case, None if rows in found else end("operand-shape")


def main():
    cases = list({"pairs": pairs, "modes": modes, "codes": codes}[sys.argv[1]]())
    functions = [case.function(f"f{i}", error) for i, (case, error) in enumerate(cases)]
    # A part is a context of its own: few of them, for the sake of time.
    size = 250
    parts = [functions[i : i + size] for i in range(0, len(functions), size)]
    print_cases("\n".join(part) for part in parts)
    legal = sum(error is None for _, error in cases)
    print(f"{len(cases)} cases, {legal} legal", file=sys.stderr)


if __name__ == "__main__":
    main()
