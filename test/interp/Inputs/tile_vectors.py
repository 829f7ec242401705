"""tile_vectors.py PTO_RUN VECTORS DIR: the recorded vectors of the tile ISA, run from the command line.

Every record of `tile_ieee.json`, and every block record of `tile_spec_tests.json`, becomes a module of
one operation with its operands in .npy files, as far as the dialect can say it. What runs must give the
recorded words and flags; what must fault is refused by the verifier or faults, with the recorded kind.
The records obey the published release; where the contract differs, or the dialect has no words for
something, a record is set aside and counted by its reason.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tile_program import RMODES, TYPES, Operand, Program, accumulator_type

# PreQuantMode: output type, parameter. Mode 0 is absent: it keeps the accumulator's type.
MODES = {
    1: ("FP16", ""), 2: ("S8", "v"), 3: ("S8", "s"), 4: ("FP16", "v"), 5: ("FP16", "s"),
    12: ("S16", "v"), 13: ("S16", "s"), 16: ("BF16", ""), 17: ("S4X2", "s"), 18: ("S4X2", "v"),
    19: ("S16", "s"), 20: ("S16", "v"), 23: ("S8", "v"), 24: ("S8", "s"), 25: ("HiF8", "s"),
    26: ("E4M3", "s"), 27: ("FP32", "s"), 28: ("HiF8", "v"), 32: ("FP16", "s"), 33: ("FP16", "v"),
    34: ("BF16", "s"), 35: ("BF16", "s"), 36: ("BF16", "v"), 37: ("E4M3", "v"), 38: ("FP32", "v"),
    39: ("BF16", "v"),
}  # fmt: skip
GROUPS = [0, 8, 16, 32, 48, 64, 80, 96, 112, 128]
# What a mode leaves to RMode and Sat: nothing, or Sat alone; the others everything.
FIXED, FIXED_ROUNDING = {0, 12, 13}, {1, 16, 25, 26, 28, 32, 33, 34, 36, 37}


class SetAside(Exception):
    """Why a record is not run."""


def word(value):
    if value is None or isinstance(value, int):
        return value
    return int(value, 16)


def matrix(rows):
    return [[word(value) for value in (row if isinstance(row, list) else [row])] for row in rows]


def undefined(rows, columns):
    return [[None] * columns for _ in range(rows)]


class Builder:
    """Collects the parts of one operation."""

    def __init__(self, op, m, n, space):
        self.op, self.m, self.n, self.space = op, m, n, space
        self.sources, self.outputs, self.attributes = [], [], []
        self.is_in_place = False

    def source(self, operand, clause="ins"):
        self.sources.append((clause, operand))

    def post(self, fields, accumulator, size_code):
        """Post-processing, and with it the outputs. `fields` are mode, activation, group, and flags."""
        mode, relu, group, row_max, group_max, row_max_init, max_abs = fields
        output = MODES[mode][0] if mode else accumulator
        self.outputs.append(("outs", Operand(output, self.space, undefined(self.m, self.n), size_code)))
        if row_max:
            self.outputs.append(("row_max", Operand(accumulator, self.space, undefined(self.m, 1))))
        if group_max and group:
            groups = -(-self.n // GROUPS[group])
            self.outputs.append(("group_max", Operand(accumulator, self.space, undefined(self.m, groups))))
        names = ["row_max", "group_max", "row_max_init", "max_abs"]
        flags = [name for name, flag in zip(names, (row_max, group_max, row_max_init, max_abs)) if flag]
        numbers = [f"pre_quant = {mode}", f"relu = {relu}", f"group = {group}"]
        self.attributes.append(f"post = #pto.post<{', '.join(numbers + flags)}>")

    def parameters(self, mode, relu, vectors, scalars):
        """The parameters of conversion and activation: one-row tiles, or words in order."""
        scalars = list(scalars)
        for clause, kind in [("quant", MODES[mode][1] if mode else ""), ("prelu", "  sv"[relu].strip())]:
            if kind == "v":
                self.source(Operand("U64", "cube_m16", [vectors[clause]]), clause)
            elif kind == "s" and not scalars:
                raise SetAside("the contract wants a parameter that the release takes for 0")
            elif kind == "s":
                self.source(scalars.pop(0), clause)

    def control(self, mode, rmode, sat):
        if (mode in FIXED and (rmode or sat)) or (mode in FIXED_ROUNDING and rmode):
            raise SetAside("the contract refuses a rounding that the release ignores")
        if rmode:
            self.attributes.append(f"rmode = #pto.rmode<{RMODES[rmode]}>")
        if sat:
            self.attributes.append("sat")

    def program(self):
        return Program(self.op, self.sources, self.outputs, self.attributes, self.is_in_place)


def of_case(record):
    """The program of a record of tile_ieee.json."""
    case = record["case"]
    if "dims" in case:
        raise SetAside("dimensions are those of the tiles")
    a_type = case["atype"]
    b_type = case.get("btype", a_type)
    accumulator = accumulator_type(a_type)
    spaces = {"M16": "cube_m16", "M32": "cube_m32"}
    space = spaces[case.get("layout", "M16")]
    fields = case.get("fpatr", [0] * 7)
    capacities = case.get("cap", {})
    d_code = capacities.get("Dcode", 0)
    c_code = d_code if not fields[0] else 0
    if "C" in capacities:
        c_code = capacities["C"].bit_length() - 7
        if capacities["C"] != 64 << c_code:
            raise SetAside("a capacity that no size code has")
    build = Builder("tmatmul_acc", case["M"], case["N"], space)
    # Names are compared as they are encoded: a register of C, and a hand of D.
    build.is_in_place = "creg" in case and case["creg"] == case.get("dhand", 0)
    build.source(Operand(accumulator, spaces[case.get("clayout", case.get("layout", "M16"))], matrix(case["C"]), c_code))
    build.source(Operand(a_type, space, matrix(case["A"])))
    build.source(Operand(b_type, "cube_n8", matrix(case["B"])))
    vectors = {"quant": case.get("vq"), "prelu": case.get("vr")}
    vectors = {name: [word(value) for value in values or []] for name, values in vectors.items()}
    build.parameters(fields[0], fields[1], vectors, [word(value) for value in case.get("gpr", [])])
    build.control(fields[0], case.get("rmode", 0), case.get("sat", False))
    build.post(fields, accumulator, d_code)
    expected = record["expected"]
    outputs = [expected.get("D")] + [expected[name] for name in ("RowMax", "GroupMax") if name in expected]
    return build.program(), outputs


def operand_of(entry):
    """The tile of an operand of a block record. Auxiliary ones lie in a row of an M layout."""
    if entry.get("unallocated"):
        raise SetAside("an operand that is no tile")
    is_auxiliary = entry["role"] in ("Bias", "RowMaxIn", "QuantVector", "PReLUVector")
    spaces = {"CUBE_M16": "cube_m16", "CUBE_M32": "cube_m32", "CUBE_N8": "cube_n8"}
    rows = matrix(entry["values"]) if entry.get("values") else undefined(entry["valid_rows"], entry["valid_columns"])
    if entry.get("shared_id") is not None:
        is_ready = entry["published"] and entry["initialized_mask"] == "0xf" == entry["allocation_mask"]
        if not is_ready or entry["layout"] != "RowMajor":
            raise SetAside("a state of a Shared tile that a program cannot make")
        space = "shared"
    elif is_auxiliary and entry["layout"] != "RowMajor":
        raise SetAside("the release refuses an auxiliary tile that is not row-major")
    elif is_auxiliary:
        space = "cube_m16"
    elif entry["role"] in ("ScaleA", "ScaleB"):
        space = "cube_m32"
        rows = rows if entry["role"] == "ScaleA" else [list(column) for column in zip(*rows)]
    elif entry["layout"] in spaces:
        space = spaces[entry["layout"]]
    else:
        raise SetAside("a layout that no memory space has")
    return Operand(entry["dtype"], space, rows)


def of_block(record):
    """The program of a block record of tile_spec_tests.json."""
    attributes, expected = record["attributes"], record["expected"]
    fpatr, datr = attributes["B.FPATR"], attributes["B.DATR"]
    masks = {int(mask, 16) for mask in record["masks"]}
    if not fpatr["present"] or len(masks) != 1:
        raise SetAside("commands that an operation always has, once")
    inputs = {entry["role"]: operand_of(entry) for entry in record["inputs"]}
    m, n, k = (attributes["B.DIM"][name] or 1 for name in ("LB0", "LB1", "LB2"))
    is_shared = any(operand.space == "shared" for operand in inputs.values())
    op = record["op"].lower().replace("tgemv", "tmatmul")
    (mask,) = masks
    if mask not in (0, 1, 2, 4, 8, 12, 14, 15):
        raise SetAside("a mask that no code has")
    build = Builder(op, m, n, inputs["A"].space if inputs["A"].space.startswith("cube_m") else "cube_m16")
    roles = [role for role in ("C", "A", "ScaleA", "B", "ScaleB", "Bias") if role in inputs]
    needed = {"C": "_acc" in op, "Bias": "_bias" in op}
    if any((role in roles) != wanted for role, wanted in needed.items()) or not {"A", "B"} <= set(roles):
        raise SetAside("a number of operands that the syntax has not")
    trans = {"A": fpatr["TransA"], "B": fpatr["TransB"]}
    k_found = len(inputs["A"].rows) if trans["A"] else len(inputs["A"].rows[0])
    if k_found != k or attributes["BType"] != inputs["B"].data_type or attributes["AType"] != inputs["A"].data_type:
        raise SetAside("dimensions are those of the tiles")
    if is_shared and mask != 15:
        raise SetAside("the contract wants all elements with Shared operands")
    for role in roles:
        build.source(inputs[role])
    accumulator = accumulator_type(attributes["AType"])
    fields = [fpatr[name] for name in ("PreQuantMode", "ReluMode", "GroupNCode", "RowMaxEn", "GroupMaxEn", "RowMaxInit", "MaxAbsEn")]
    capacities = {entry["role"]: entry.get("capacity_bytes") for entry in record["inputs"]}
    codes = [entry["size_code"] for entry in record["destinations"]]
    if len(codes) != 1 + fpatr["RowMaxEn"] + fpatr["GroupMaxEn"]:
        raise SetAside("a number of operands that the syntax has not")
    registers = {entry["role"]: entry.get("register") for entry in record["inputs"]}
    build.is_in_place = registers.get("C") == record["destinations"][0]["hand"]
    if "C" in inputs and not fields[0]:
        inputs["C"].size_code = codes[0] + (capacities["C"] != 64 << codes[0])
    if "RowMaxIn" in inputs:
        build.source(inputs["RowMaxIn"], "row_max_in")
    vectors = {"quant": inputs["QuantVector"].rows[0] if "QuantVector" in inputs else []}
    scalars = [word(value) for value in attributes["B.IOR"] or []]
    build.parameters(fields[0], fields[1], vectors, scalars)
    build.control(fields[0], datr["RMode"], datr["Sat"])
    build.post(fields, accumulator, codes[0])
    for (_, output), code in zip(build.outputs, codes):
        output.size_code = code
    build.attributes += [f"trans_{side.lower()}" for side in "AB" if trans[side]]
    build.attributes += ["gemv"] if record["op"].startswith("TGEMV") else []
    build.attributes += [f"mask = {mask}"] if mask != 15 else []
    return build.program(), [output["values"] for output in expected.get("outputs", [])]


def check(record, outcome, outputs):
    """Holds the outcome against the record; how it came about."""
    expected, name = record["expected"], record["id"]
    fault = expected.get("fault") or "None"
    if not expected.get("config_ok", True):
        assert outcome.fault, f"{name}: a tile that nothing holds was run: {outcome}"
        return "refused a tile that nothing holds"
    if fault != "None":
        assert outcome.fault == fault, f"{name}: expected {fault}, found {outcome}"
        assert not outcome.results and outcome.status in (1, 2), f"{name}: {outcome}"
        return "faulted" if outcome.status == 1 else "refused by the verifier"
    if expected.get("no_op"):
        assert not outcome.fault and outcome.status == 0, f"{name}: {outcome}"
        return "had no effect"
    assert outcome.status == 0, f"{name}: {outcome}"
    assert outcome.flags == int(expected["flags"], 16), f"{name}: flags {outcome.flags}"
    for found, wanted, (_, output) in zip(outcome.results, outputs, outcome.outputs, strict=True):
        mask = (1 << TYPES[output.data_type][1]) - 1
        found = [[int(value) & mask for value in row] for row in found]
        wanted = [[value & mask for value in row] for row in matrix(wanted)]
        assert found == wanted, f"{name}: found {found}, expected {wanted}"
    return "gave the recorded words and flags"


def main():
    pto_run, vectors, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    files = {"tile_ieee.json": of_case, "tile_spec_tests.json": of_block}
    for name, make in files.items():
        records = json.loads((vectors / name).read_text(encoding="utf-8"))["vectors"]
        records = [record for record in records if record.get("entry", "block") == "block"]
        counts, aside = Counter(), Counter()
        for record in records:
            try:
                program, outputs = make(record)
            except SetAside as reason:
                aside[str(reason)] += 1
                continue
            outcome = program.run(pto_run, folder, record.get("profile") != "ieee")
            outcome.outputs = program.outputs
            counts[check(record, outcome, outputs)] += 1
        assert counts.total() + aside.total() == len(records)
        print(f"{name}: {len(records)} records, {counts.total()} ran")
        for what, count in sorted(counts.items()):
            print(f"  {count} {what}")
        for reason, count in sorted(aside.items()):
            print(f"  {count} set aside: {reason}")


if __name__ == "__main__":
    main()
