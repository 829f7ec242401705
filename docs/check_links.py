"""Checks the relative links of the project's pages: every file and every heading they name is there.

    check_links.py FOLDER
"""

import functools
import pathlib
import re
import subprocess
import sys


def anchor(heading):
    """The name that a heading is linked by."""
    text = re.sub(r"`|\*|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text):
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.S | re.M)


@functools.cache
def anchors(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def broken(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page}: there is no {target}"
        elif fragment and file.suffix == ".md" and fragment not in anchors(file):
            yield f"{page}: {path or page.name} has no heading for #{fragment}"


def main():
    root = pathlib.Path(sys.argv[1])
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=root, text=True, check=True, capture_output=True)
    pages = [root / name for name in names.stdout.split()]
    problems = [problem for page in pages for problem in broken(page)]
    print("\n".join(problems) or f"{len(pages)} pages, every link leads somewhere")
    sys.exit(bool(problems))


main()
