"""Breaks every rule of the tile ISA once in every variant that has it.

    tile_rules.py legal        legal operations, one function each
    tile_rules.py illegal      the broken ones, for -split-input-file -verify-diagnostics
    tile_rules.py count        how many of each, and how many cases each rule has

A row of RULES is a rule: the end of its message, what is broken in words, the cases
it begins with, and the change that breaks it. A change that does not apply to a case
returns False.
"""

import copy
import itertools
import sys

from tile_cases import Case, Tile, name_of, print_cases, variants

LEGALITY, ALLOCATION, ILLEGAL = "TileLegality", "TileAllocation", "IllegalInstruction"


def every(make=lambda case: case):
    """Every variant, made richer by `make`; without those for which it gives None."""
    made = (make(case) for case in variants())
    return [case for case in made if case]


def local(case):
    return case if case.form in ("local", "gemv") else None


def shared(case):
    return case if case.shares_right else None


def both(case):
    return case if case.shares_left else None


def accumulating(case):
    return case if case.is_accumulating else None


def in_m16(case):
    return case if case.m_layout == "cube_m16" and case.form != "gemv" else None


def scaled_accumulator(case):
    is_matrix = case.form != "gemv"
    return case.scale_accumulator() if case.is_accumulating and is_matrix else None


def sides(left, right):
    """Every variant that is not block-scaled, on these types."""

    def make(case):
        if case.is_scaled:
            return None
        return Case(case.operation, case.form, case.m_layout, (left, right))

    return make


def to_s8(case):
    return case.convert(24, "si8", "i64")


def post(**fields):
    def change(case):
        case.post.update(fields)

    return change


def attribute(name, value=None):
    def change(case):
        case.attributes[name] = value

    return change


def tile(role, **fields):
    """Changes fields of one operand, where there is one."""

    def change(case):
        if role not in case.tiles:
            return False
        for name, value in fields.items():
            old = getattr(case.tiles[role], name)
            setattr(case.tiles[role], name, value(old) if callable(value) else value)

    return change


def drop(role):
    def change(case):
        return case.tiles.pop(role, None) is not None

    return change


def add(role, made):
    """Adds an operand that is not there; `made` is "i64" or a function of the case."""

    def change(case):
        if role in case.tiles:
            return False
        case.tiles[role] = made if isinstance(made, str) else made(case)

    return change


def replace(role, made):
    def change(case):
        return drop(role)(case) and add(role, made)(case)

    return change


def vector(case):
    return Tile(1, case.n, "i64", case.m_layout)


def column(case):
    return Tile(case.m, 1, case.accumulator, case.m_layout)


def sized(**codes):
    """Makes operands by tile_alloc, of these size codes."""

    def change(case):
        for role, code in codes.items():
            case.tiles[role].size = code

    return change


def same_tile(first, second):
    """Passes the first operand for the second too; both become of the first's type."""

    def change(case):
        if first not in case.tiles or second not in case.tiles:
            return False
        case.tiles[second] = copy.deepcopy(case.tiles[first])
        case.alias = (first, second)

    return change


def more(number):
    return lambda old: old + number


def other_m(space):
    return {"cube_m16": "cube_m32", "cube_m32": "cube_m16"}[space]


def narrow_columns(case):
    """One column, so that maxima of rows have the shape of dst."""
    if case.shares_right or not local(case):
        return None
    case.n = 1
    for role in ("rhs", "bias", "accumulator", "dst"):
        if role in case.tiles:
            case.tiles[role].columns = 1
    if case.is_scaled:
        case.tiles["rhs_scale"].rows = 1
    return case


def wide(case, m, n):
    """Stretches an operation to M and N."""
    case.m, case.n = m, n
    for role, kept in case.tiles.items():
        if role in ("rhs", "bias", "accumulator", "dst"):
            kept.columns = n
        if role in ("lhs", "lhs_scale", "accumulator", "dst"):
            kept.rows = m
    return case


def tall(case):
    """17 rows in cube_m16."""
    wide(case, 17, case.n)


def crowded(case):
    """Operands that fit, into more columns than dst can have. The accumulator and the
    bias have as many as dst, and a Local scale at most 32."""
    if case.is_accumulating or "bias" in case.tiles:
        return False
    if not case.shares_right:
        if case.is_scaled:
            return False
        case.tiles["lhs"].columns = case.tiles["rhs"].rows = 8
    columns = 2048 if case.m_layout == "cube_m16" else 1024
    for role in ("rhs", "dst", "rhs_scale"):
        if role in case.tiles:
            case.tiles[role].columns = columns


def no_rows(case):
    for role in ("lhs", "accumulator", "dst", "lhs_scale"):
        if role in case.tiles:
            case.tiles[role].rows = 0


# tag, fault, words, cases to begin with, change.
RULES = [
    # Codes.
    ("reserved", ILLEGAL, "pre_quant", every(), post(pre_quant=6)),
    ("reserved", ILLEGAL, "pre_quant_beyond", every(), post(pre_quant=64)),
    ("reserved", ILLEGAL, "pre_quant_below", every(), post(pre_quant=-1)),
    ("reserved", ILLEGAL, "relu", every(), post(relu=4)),
    ("reserved", ILLEGAL, "group", every(), post(group=10, group_max=None)),
    ("reserved", ILLEGAL, "mask", every(local), attribute("mask", 5)),
    ("reserved", ILLEGAL, "mask_beyond", every(), attribute("mask", 16)),
    ("reserved", ILLEGAL, "mask_below", every(), attribute("mask", -1)),
    # Enables.
    ("post-fields", LEGALITY, "init_alone", every(), post(row_max_init=None)),
    ("post-fields", LEGALITY, "group_alone", every(), post(group=2)),
    ("post-fields", LEGALITY, "group_max_alone", every(), post(group_max=None)),
    ("post-fields", LEGALITY, "max_abs_alone", every(), post(max_abs=None)),
    # Types of the sides; all pairs are in tile_types.py.
    ("type-pair", LEGALITY, "lhs", every(), tile("lhs", type="si32")),
    ("type-pair", LEGALITY, "rhs", every(), tile("rhs", type="f8E8M0FNU")),
    ("type-pair", LEGALITY, "classes", every(sides("si8", "si8")), tile("rhs", type="ui8")),
    # Sources.
    ("source-count", LEGALITY, "no_lhs_scale", every(), drop("lhs_scale")),
    ("source-count", LEGALITY, "no_rhs_scale", every(), drop("rhs_scale")),
    ("source-count", LEGALITY, "no_init", every(lambda c: c.reduce_rows(True)), drop("row_max_in")),
    ("source-count", LEGALITY, "init", every(lambda c: c.reduce_rows()), add("row_max_in", column)),
    ("source-count", LEGALITY, "quant_tile", every(), add("quant", vector)),
    ("source-count", LEGALITY, "prelu_tile", every(), add("prelu", vector)),
    ("source-count", LEGALITY, "quant_no_scalar", every(to_s8), replace("quant", vector)),
    ("source-count", LEGALITY, "quant_no_vector",
     every(lambda c: c.convert(23, "si8", "vector")), replace("quant", "i64")),
    ("source-count", LEGALITY, "no_quant_vector",
     every(lambda c: c.convert(23, "si8", "vector")), drop("quant")),
    ("source-count", LEGALITY, "no_prelu_vector", every(lambda c: c.activate(3)), drop("prelu")),
    # Destinations.
    ("destination-count", LEGALITY, "no_row_max", every(lambda c: c.reduce_rows()), drop("row_max")),
    ("destination-count", LEGALITY, "row_max", every(), add("row_max", column)),
    ("destination-count", LEGALITY, "no_group_max",
     every(lambda c: c.reduce_groups()), drop("group_max")),
    ("destination-count", LEGALITY, "group_max", every(), add("group_max", column)),
    # Scalars.
    ("scalar-parameters", LEGALITY, "no_quant", every(to_s8), drop("quant")),
    ("scalar-parameters", LEGALITY, "quant", every(), add("quant", "i64")),
    ("scalar-parameters", LEGALITY, "no_prelu", every(lambda c: c.activate(2)), drop("prelu")),
    ("scalar-parameters", LEGALITY, "prelu", every(lambda c: c.activate(1)), add("prelu", "i64")),
    # Rounding and saturation; all modes are in tile_types.py.
    ("rounding-fields", LEGALITY, "rmode", every(), attribute("rmode", "#pto.rmode<rtz>")),
    ("rounding-fields", LEGALITY, "rne", every(), attribute("rmode", "#pto.rmode<rne>")),
    ("rounding-fields", LEGALITY, "sat", every(), attribute("sat")),
    ("rounding-fields", LEGALITY, "sat_relu", every(lambda c: c.activate(1)), attribute("sat")),
    ("rounding-fields", LEGALITY, "fixed",
     every(lambda c: c.convert(1, "f16", None)), attribute("rmode", "#pto.rmode<rtm>")),
    # Which operands are Shared.
    ("shared-count", LEGALITY, "lhs", every(local), tile("lhs", space="shared")),
    ("shared-count", LEGALITY, "lhs_scale", every(local), tile("lhs_scale", space="shared")),
    ("shared-count", LEGALITY, "rhs_scale", every(local), tile("rhs_scale", space="shared")),
    ("shared-count", LEGALITY, "rhs_scale_local", every(shared), tile("rhs_scale", space="cube_m32")),
    ("shared-count", LEGALITY, "lhs_scale_local", every(both), tile("lhs_scale", space="cube_m32")),
    ("shared-count", LEGALITY, "rhs_local", every(both), tile("rhs", space="cube_n8")),
    ("shared-count", LEGALITY, "gemv", every(shared), attribute("gemv")),
    # Dimensions.
    ("dimensions", LEGALITY, "no_rows", every(lambda c: c if not c.shares_left else None), no_rows),
    ("dimensions", LEGALITY, "no_columns", every(), tile("dst", columns=0)),
    ("dimensions", LEGALITY, "no_k", every(), tile("lhs", columns=0)),
    ("dimensions", LEGALITY, "long_k", every(), tile("lhs", columns=65536)),
    ("dimensions", LEGALITY, "many_elements", every(local), lambda c: tile("dst", columns=65535)(c) if c.m > 1 else False),
    ("dimensions", LEGALITY, "n_of_24", every(shared), tile("dst", columns=24)),
    ("dimensions", LEGALITY, "k_of_48", every(shared), tile("lhs", columns=48)),
    ("dimensions", LEGALITY, "group_of_129", every(both), tile("lhs", rows=129)),
    ("dimensions", LEGALITY, "no_group", every(both), tile("lhs", rows=0)),
    # Masks, the matrix-vector form, transposes.
    ("cooperative-mask", LEGALITY, "one", every(shared), attribute("mask", 8)),
    ("cooperative-mask", LEGALITY, "three", every(shared), attribute("mask", 14)),
    ("gemv-rows", LEGALITY, "rows", every(lambda c: c if c.form == "local" else None), attribute("gemv")),
    ("transpose", LEGALITY, "lhs", every(lambda c: c if not c.shares_left else None), attribute("trans_a")),
    ("transpose", LEGALITY, "rhs", every(local), attribute("trans_b")),
    # Shared operands, as they are stored.
    ("shared-schema", LEGALITY, "rhs_rows", every(shared), tile("rhs", rows=more(1))),
    ("shared-schema", LEGALITY, "rhs_columns", every(shared), tile("rhs", columns=more(-1))),
    ("shared-schema", LEGALITY, "rhs_transposed", every(shared), attribute("trans_b")),
    ("shared-schema", LEGALITY, "rhs_not_transposed",
     every(lambda c: shared(c) and c.transpose("rhs")), lambda c: c.attributes.pop("trans_b")),
    ("shared-schema", LEGALITY, "lhs_scale", every(both), tile("lhs_scale", columns=more(1))),
    ("shared-schema", LEGALITY, "rhs_scale", every(shared), tile("rhs_scale", rows=more(1))),
    ("shared-schema", LEGALITY, "rhs_scale_type", every(shared), tile("rhs_scale", type="ui8")),
    # The scale of the accumulator.
    ("c-scale", LEGALITY, "no_accumulator", every(lambda c: None if c.is_accumulating else c),
     lambda c: c.scale_accumulator() and None),
    ("c-scale", LEGALITY, "gemv", every(lambda c: c if c.form == "gemv" else None),
     lambda c: c.scale_accumulator() and None),
    ("c-scale", LEGALITY, "integers",
     [c for c in every(sides("si8", "si4")) if c.is_accumulating and c.form != "gemv"],
     lambda c: c.scale_accumulator() and None),
    ("c-scale", LEGALITY, "type", every(scaled_accumulator), tile("c_scale", type="f8E8M0FNU")),
    ("c-scale", LEGALITY, "rows", every(scaled_accumulator), tile("c_scale", rows=more(-1))),
    ("c-scale", LEGALITY, "columns", every(scaled_accumulator), tile("c_scale", columns=2)),
    ("c-scale", LEGALITY, "layout", every(lambda c: in_m16(c) and scaled_accumulator(c)),
     tile("c_scale", space="cube_m16")),
    ("c-scale", LEGALITY, "shared", every(scaled_accumulator), tile("c_scale", space="shared")),
    # Conversions and their sources.
    ("mode-accumulator", LEGALITY, "floats", every(), lambda c: c.convert(3, "si8", "i64") and None),
    ("mode-accumulator", LEGALITY, "integers",
     every(sides("si8", "si16")), lambda c: c.convert(24, "si8", "i64") and None),
    ("mode-accumulator", LEGALITY, "unsigned",
     every(sides("ui8", "ui4")), lambda c: c.convert(3, "si8", "i64") and None),
    ("post-source", LEGALITY, "init_rows", every(lambda c: c.reduce_rows(True)),
     tile("row_max_in", rows=more(1))),
    ("post-source", LEGALITY, "init_type", every(lambda c: c.reduce_rows(True)),
     tile("row_max_in", type="f16")),
    ("post-source", LEGALITY, "init_shared", every(lambda c: c.reduce_rows(True)),
     tile("row_max_in", space="shared")),
    ("post-source", LEGALITY, "init_layout", every(lambda c: c.reduce_rows(True)),
     tile("row_max_in", space="cube_n8")),
    ("post-source", LEGALITY, "quant_columns", every(lambda c: c.convert(23, "si8", "vector")),
     tile("quant", columns=more(-1))),
    ("post-source", LEGALITY, "quant_rows", every(lambda c: c.convert(23, "si8", "vector")),
     tile("quant", rows=2)),
    ("post-source", LEGALITY, "quant_type", every(lambda c: c.convert(23, "si8", "vector")),
     tile("quant", type="si64")),
    ("post-source", LEGALITY, "quant_shared", every(lambda c: c.convert(23, "si8", "vector")),
     tile("quant", space="shared")),
    ("post-source", LEGALITY, "prelu_columns", every(lambda c: c.activate(3)),
     tile("prelu", columns=more(1))),
    ("post-source", LEGALITY, "prelu_in_hbm", every(lambda c: c.activate(3)),
     tile("prelu", space="hbm")),
    # Types of operands.
    ("operand-type", LEGALITY, "signless", every(), tile("lhs", type="i8")),
    ("operand-type", LEGALITY, "unknown", every(), tile("rhs", type="f8E3M4")),
    ("operand-type", LEGALITY, "accumulator", every(), tile("accumulator", type="si32")),
    ("operand-type", LEGALITY, "bias", every(), tile("bias", type="f16")),
    ("operand-type", LEGALITY, "lhs_scale", every(lambda c: None if c.shares_left else c),
     tile("lhs_scale", type="ui8")),
    ("operand-type", LEGALITY, "rhs_scale", every(local), tile("rhs_scale", type="ui8")),
    ("operand-type", LEGALITY, "dst", every(), tile("dst", type="f16")),
    ("operand-type", LEGALITY, "dst_converted", every(to_s8), tile("dst", type="ui8")),
    ("operand-type", LEGALITY, "row_max", every(lambda c: to_s8(c).reduce_rows()),
     tile("row_max", type="si8")),
    ("operand-type", LEGALITY, "group_max", every(lambda c: c.reduce_groups()),
     tile("group_max", type="f16")),
    # Shapes of operands.
    ("operand-shape", LEGALITY, "accumulator", every(), tile("accumulator", columns=more(8))),
    ("operand-shape", LEGALITY, "lhs_rows", every(lambda c: None if c.shares_left else c),
     tile("lhs", rows=more(1))),
    ("operand-shape", LEGALITY, "rhs_columns", every(local), tile("rhs", columns=more(1))),
    ("operand-shape", LEGALITY, "rhs_rows", every(local), tile("rhs", rows=more(-1))),
    ("operand-shape", LEGALITY, "lhs_scale", every(lambda c: None if c.shares_left else c),
     tile("lhs_scale", columns=more(1))),
    ("operand-shape", LEGALITY, "rhs_scale", every(local), tile("rhs_scale", rows=more(1))),
    ("operand-shape", LEGALITY, "bias_rows", every(), tile("bias", rows=2)),
    ("operand-shape", LEGALITY, "bias_columns", every(), tile("bias", columns=more(1))),
    ("operand-shape", LEGALITY, "no_share", every(both), tile("dst", rows=more(-1))),
    ("operand-shape", LEGALITY, "row_max", every(lambda c: c.reduce_rows()),
     tile("row_max", columns=2)),
    ("operand-shape", LEGALITY, "group_max", every(lambda c: c.reduce_groups(2)),
     tile("group_max", columns=more(1))),
    # Layouts of operands.
    ("operand-layout", LEGALITY, "lhs", every(lambda c: None if c.shares_left else c),
     tile("lhs", space="cube_n8")),
    ("operand-layout", LEGALITY, "rhs", every(local), tile("rhs", space="cube_m32")),
    ("operand-layout", LEGALITY, "rhs_in_hbm", every(local), tile("rhs", space="hbm")),
    ("operand-layout", LEGALITY, "accumulator", every(in_m16),
     lambda c: tile("accumulator", space=other_m)(c) if not c.shares_left else False),
    ("operand-layout", LEGALITY, "accumulator_shared", every(), tile("accumulator", space="shared")),
    ("operand-layout", LEGALITY, "dst", every(in_m16), tile("dst", space=other_m)),
    ("operand-layout", LEGALITY, "dst_n8", every(), tile("dst", space="cube_n8")),
    ("operand-layout", LEGALITY, "dst_shared", every(), tile("dst", space="shared")),
    ("operand-layout", LEGALITY, "bias", every(), tile("bias", space="cube_n8")),
    ("operand-layout", LEGALITY, "bias_shared", every(), tile("bias", space="shared")),
    ("operand-layout", LEGALITY, "lhs_scale", every(lambda c: in_m16(c) and (None if c.shares_left else c)),
     tile("lhs_scale", space="cube_m16")),
    ("operand-layout", LEGALITY, "rhs_scale", every(local), tile("rhs_scale", space="cube_n8")),
    ("operand-layout", LEGALITY, "row_max", every(lambda c: c.reduce_rows()),
     tile("row_max", space="shared")),
    ("operand-layout", LEGALITY, "group_max", every(lambda c: c.reduce_groups()),
     tile("group_max", space="cube_n8")),
    ("operand-layout", LEGALITY, "rows_of_m16", every(lambda c: None if c.shares_left else in_m16(c)), tall),
    ("operand-layout", LEGALITY, "columns_of_lhs", every(local),
     lambda c: tile("lhs", columns=2048)(c) if not c.is_scaled else False),
    # Capacities.
    ("capacity", LEGALITY, "rhs", every(shared),
     lambda c: tile("rhs", rows=16384)(c) or tile("lhs", columns=16384)(c)
     if c.shares_left and not c.is_scaled else False),
    ("accumulator-capacity", LEGALITY, "larger_dst", every(accumulating), sized(accumulator=9, dst=10)),
    ("accumulator-capacity", LEGALITY, "smaller_dst", every(lambda c: accumulating(c) and c.activate(1)),
     sized(accumulator=10, dst=9)),
    ("destination-capacity", ALLOCATION, "dst", every(), crowded),
    # One tile for two operands.
    ("alias", LEGALITY, "row_max", every(lambda c: (n := narrow_columns(c)) and n.reduce_rows()),
     same_tile("dst", "row_max")),
    ("alias", LEGALITY, "group_max", every(lambda c: (n := narrow_columns(c)) and n.reduce_groups()),
     same_tile("dst", "group_max")),
    ("alias", LEGALITY, "maxima", every(lambda c: c.reduce_rows().reduce_groups(2)),
     same_tile("row_max", "group_max")),
]


def legal_cases():
    """Legal cases in which post-processing and forms are combined."""
    for case in variants():
        yield "plain", case
        yield "in_place", copy.deepcopy(case) if case.is_accumulating else None
        yield "masked", with_change(case, attribute("mask", 15))
        yield "named_default", with_change(case, attribute("rmode", "#pto.rmode<default>"))
        yield "everything", everything(copy.deepcopy(case))
        yield "capacity", with_change(case, sized(accumulator=9, dst=9)) if case.is_accumulating else None
        converted = to_s8(copy.deepcopy(case))
        yield "waived", with_change(converted, sized(accumulator=9, dst=8)) if case.is_accumulating else None
        if case.shares_right:
            turned = ("lhs", "rhs") if case.shares_left else ("rhs",)
            yield "transposed", copy.deepcopy(case).transpose(*turned)
        # Without a processing element nothing is judged but the codes.
        yield "nobody", with_change(with_change(case, attribute("mask", 0)), attribute("sat"))


def everything(case):
    case.convert(23, "si8", "vector").activate(3).reduce_rows(True).reduce_groups()
    case.post["max_abs"] = None
    case.attributes.update(rmode="#pto.rmode<rhb>", sat=None)
    return scaled_accumulator(case) or case


def with_change(case, change):
    changed = copy.deepcopy(case)
    change(changed)
    return changed


def legal():
    for words, case in legal_cases():
        if not case:
            continue
        if words == "in_place":
            case.alias = ("accumulator", "dst")
        yield case.function(name_of(case, words))


def illegal():
    """The cases of each rule, as (tag, words, functions): each after the legal one that it was made
    from, which the verifier remembers."""
    for tag, fault, words, cases, change in RULES:
        for case in cases:
            broken = copy.deepcopy(case)
            if change(broken) is False:
                continue
            whole = copy.deepcopy(case).function(name_of(case, f"{words}_whole"))
            end = f"({fault}) [pto:tile-{tag}]"
            yield tag, words, f"{whole}\n{broken.function(name_of(case, words), end)}"


def main():
    mode = sys.argv[1]
    if mode == "legal":
        print("\n".join(legal()), end="")
    elif mode == "illegal":
        # One part a rule, for the sake of time: a part is a context of its own.
        rules = itertools.groupby(illegal(), key=lambda case: case[:2])
        print_cases("\n".join(text for _, _, text in cases) for _, cases in rules)
    else:
        print(f"legal: {sum(1 for _ in legal())}")
        found = [(tag, words) for tag, words, _ in illegal()]
        for tag, _, words, _, _ in RULES:
            print(f"{tag} {words}: {found.count((tag, words))}")


if __name__ == "__main__":
    main()
