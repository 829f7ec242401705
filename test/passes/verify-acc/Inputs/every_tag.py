"""Compares the tags in a pass's sources with its tests and its page.

    every_tag.py SOURCES TESTS PAGE

Each tag must be in an `expected-error` or `expected-warning` of a `.mlir` file of
TESTS, where -verify-diagnostics makes sure that notes are asserted too, and in a
table row of PAGE. Says what is missing, and exits with 1.
"""

import pathlib
import re
import sys

TAG = re.compile(r"\bpto:[a-z][a-z-]*")
FINDING = re.compile(r"expected-(?:error|warning).*\[(pto:[a-z-]+)\]")


def tags_of(folder):
    """Tags in code: comments are left out, test modules as well."""
    for path in sorted(pathlib.Path(folder).glob("*.rs")):
        code = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        lines = (line for line in code.splitlines() if not line.lstrip().startswith("//"))
        yield from TAG.findall("\n".join(lines))


def asserted(folder):
    for path in sorted(pathlib.Path(folder).glob("*.mlir")):
        yield from FINDING.findall(path.read_text(encoding="utf-8"))


def main():
    sources, tests, page = sys.argv[1:]
    tags = set(tags_of(sources))
    tested = set(asserted(tests))
    text = pathlib.Path(page).read_text(encoding="utf-8")
    rows = {tag for line in text.splitlines() if line.startswith("| `pto:") for tag in TAG.findall(line)}
    problems = [f"{tag} has no test" for tag in sorted(tags - tested)]
    problems += [f"{tag} has no row in {page}" for tag in sorted(tags - rows)]
    if not tags:
        problems.append("no tag in any source")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(tags)} tags, each with a test and a row")


if __name__ == "__main__":
    main()
