"""Compares the tags in sources with the sections of docs/diagnostics.md.

    check_tags.py docs/diagnostics.md FOLDER...

Every `[pto:...]` in a C++ or Rust source below the folders must have a section,
and the sections must be in order. Says what is wrong, and exits with 1.
"""

import pathlib
import re
import sys

# A whole tag, not the beginning of several.
TAG = re.compile(r"\bpto:[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![a-z0-9-])")


def tags_of(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.suffix in (".cpp", ".h", ".rs"):
            for tag in TAG.findall(path.read_text(encoding="utf-8")):
                yield tag, path


def main():
    document, *folders = sys.argv[1:]
    text = pathlib.Path(document).read_text(encoding="utf-8")
    sections = re.findall(r"^## (\S+)$", text, re.MULTILINE)
    problems = []
    if sections != sorted(set(sections)):
        problems.append("sections are not in order, or one is there twice")
    found = {tag: path for folder in folders for tag, path in tags_of(folder)}
    if not found:
        problems.append("no tag in any source")
    for tag, path in sorted(found.items()):
        if tag not in sections:
            problems.append(f"{tag} of {path.name} has no section")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(found)} tags documented")


if __name__ == "__main__":
    main()
