"""Writes a test once for every variant of the matmul.

    each_matmul.py TEST.mlir | pto-opt -split-input-file -verify-diagnostics

In the test, `pto.MATMUL ins(ACC_VALUE %w, %x : ACC_TYPE !W, !X)` stands for
every variant; a case without MATMUL is written once. A variant takes the
destination `%c : !C` as its accumulator.
"""

import sys

# Each variant: its name, and what ACC_VALUE and ACC_TYPE stand for.
VARIANTS = [
    ("tmatmul", "", ""),
    ("tmatmul_acc", "%c, ", "!C, "),
]

SEPARATOR = "// -----\n"


def expand(case):
    if "MATMUL" not in case:
        return [case]
    return [
        case.replace("MATMUL", name)
        .replace("ACC_VALUE ", value)
        .replace("ACC_TYPE ", kind)
        for name, value, kind in VARIANTS
    ]


def main():
    with open(sys.argv[1], encoding="utf-8") as test:
        cases = test.read().split(SEPARATOR)
    sys.stdout.write(SEPARATOR.join(text for case in cases for text in expand(case)))


if __name__ == "__main__":
    main()
