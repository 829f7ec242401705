#!/usr/bin/env python3
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the target tables of C++ and of Rust from Targets.td.

    llvm-tblgen --dump-json dialect/Targets.td | dialect/gen_targets.py rust
    llvm-tblgen --dump-json dialect/Targets.td | dialect/gen_targets.py cpp

Writes the table to standard output. The Rust form is as rustfmt leaves it.
"""

import json
import sys

# Each column: field in Targets.td, field of the Rust struct, kind. The order is
# that of the Rust and of the C++ struct.
COLUMNS = [
    ("name", "name", "text"),
    ("aliases", "aliases", "list"),
    ("archLevel", "arch_level", "optional"),
    ("partitions", "partitions", "number"),
    ("quadrantPartitions", "quadrant_partitions", "number"),
    ("banks", "banks", "number"),
    ("bankBytes", "bank_bytes", "number"),
    ("cellBytes", "cell_bytes", "number"),
    ("peRows", "pe_rows", "number"),
    ("peColumns", "pe_columns", "number"),
    ("maxMovingCells", "max_moving_cells", "number"),
    ("maxZeroRegionCode", "max_zero_region_code", "number"),
    ("hasAccumulate", "has_accumulate", "flag"),
    ("hasGroupFlags", "has_group_flags", "flag"),
    ("rowTiles", "row_tiles", "list"),
    ("hasLastQuadrantGroup", "has_last_quadrant_group", "flag"),
    ("hasBf16Psum", "has_bf16_psum", "flag"),
    ("peColumnCycles", "pe_column_cycles", "number"),
    ("weightRowCycles", "weight_row_cycles", "number"),
    ("fastWeightLoad", "fast_weight_load", "flag"),
    ("vectorElementCycles", "vector_element_cycles", "number"),
    ("scalarElementCycles", "scalar_element_cycles", "number"),
    ("gpsimdElementCycles", "gpsimd_element_cycles", "number"),
    ("dmaElementCycles", "dma_element_cycles", "number"),
]

# C++ knows nothing of time.
RUST_ONLY = tuple(source for source, _, _ in COLUMNS if "Cycles" in source) + ("fastWeightLoad",)

HEADER = "// Generated from dialect/Targets.td by dialect/gen_targets.py. Do not edit.\n"


def scalar(value):
    """A string or a number as both languages write it."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def rust_value(kind, value):
    if kind == "list":
        return "&[" + ", ".join(scalar(entry) for entry in value) + "]"
    if kind == "flag":
        return "true" if value else "false"
    if kind == "optional":
        return f"Some({value})" if value else "None"
    return scalar(value)


def cpp_value(kind, value):
    if kind == "list":
        return "{" + ", ".join(scalar(entry) for entry in value) + "}"
    if kind == "flag":
        return "true" if value else "false"
    return scalar(value)


def rust_table(targets):
    lines = [
        HEADER,
        "use super::Target;\n",
        "/// Every target, in the order of `dialect/Targets.td`.",
        "pub static TARGETS: &[Target] = &[",
    ]
    for target in targets:
        lines.append("    Target {")
        for source, field, kind in COLUMNS:
            lines.append(f"        {field}: {rust_value(kind, target[source])},")
        lines.append("    },")
    lines.append("];")
    return "\n".join(lines) + "\n"


def cpp_table(targets):
    lines = [HEADER]
    for target in targets:
        lines.append("{")
        for source, _, kind in COLUMNS:
            if source in RUST_ONLY:
                continue
            lines.append(f"    /*{source}=*/{cpp_value(kind, target[source])},")
        lines.append("},")
    return "\n".join(lines) + "\n"


def main():
    tables = {"rust": rust_table, "cpp": cpp_table}
    if len(sys.argv) != 2 or sys.argv[1] not in tables:
        sys.exit(f"usage: {sys.argv[0]} rust|cpp < records.json")
    records = json.load(sys.stdin)
    targets = [records[entry["def"]] for entry in records["PTO_Targets"]["all"]]
    sys.stdout.write(tables[sys.argv[1]](targets))


if __name__ == "__main__":
    main()
