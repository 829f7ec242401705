"""Looks for tests that cannot fail.

    check_runs.py TEST_FOLDER

Every RUN line below the folder must check something (FileCheck, count, diff, cmp, not,
-verify-diagnostics) or leave a file for a later line to check. Says which does
not, and exits with 1.
"""

import pathlib
import re
import sys

CHECK = re.compile(r"\b(FileCheck|count|diff|cmp|not)\b|-verify-diagnostics")
OUTPUT = re.compile(r"(-o|>|>>)\s*%t|\b(mkdir|rm|cp|sed|split-file)\b.*%t")


def run_lines(text):
    """The commands of a test, with continued lines joined."""
    joined = ""
    for line in re.findall(r"RUN:(.*)", text):
        joined += line.strip()
        if joined.endswith("\\"):
            joined = joined[:-1] + " "
            continue
        yield joined
        joined = ""


def main():
    folder = pathlib.Path(sys.argv[1])
    tests = [
        path
        for suffix in ("*.mlir", "*.test")
        for path in sorted(folder.rglob(suffix))
        if "Inputs" not in path.parts
    ]
    problems = []
    for path in tests:
        lines = list(run_lines(path.read_text(encoding="utf-8")))
        if not any(CHECK.search(line) for line in lines):
            problems.append(f"{path}: no line checks anything")
        problems += [
            f"{path}: nothing checks: {line}"
            for line in lines
            if not CHECK.search(line) and not OUTPUT.search(line)
        ]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(tests)} tests can fail")


if __name__ == "__main__":
    main()
