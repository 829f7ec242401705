"""Compares the remarks that were printed with the table of a page.

    check_remarks.py PAGE OUTPUT

Says what is missing on either side, and exits with 1.
"""

import pathlib
import re
import sys

LISTED = re.compile(r"^\| `(pto\.[a-z-]+)` \|", re.MULTILINE)
REMARK = re.compile(r"remark: \[Passed\] (pto\.[a-z-]+) \|.*")


def main():
    page, output = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
    listed = LISTED.findall(page)
    printed = {match[1]: match[0] for match in REMARK.finditer(output)}
    problems = [f"{name} was not given" for name in listed if name not in printed]
    problems += [f"{name} is not listed" for name in sorted(printed) if name not in listed]
    problems += [f"{name} says nothing" for name, line in printed.items() if len(line.split('"')) < 3]
    if problems or not listed:
        sys.exit("\n".join(problems) or "no remark is listed")
    print(f"{len(listed)} remarks, each seen")


if __name__ == "__main__":
    main()
