"""Runs a tutorial and compares what it prints with what the page says.

A code block after a comment `<!-- file: NAME -->` becomes that file. In a `console` block a line `$ COMMAND`
is run in a shell; the lines up to the next command are its standard output and error: `...` stands for any
text in a line, alone for any number of lines. A last line `[status N]` is the exit status, else 0.

    check_tutorial.py PAGE.md [FOLDER]

The files are made in FOLDER and stay there, else in a folder that is removed.
"""

import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(text):
    """Each code block with its language and, if it has one, the name of its file."""
    pattern = r"(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```$"
    return [match.groups() for match in re.finditer(pattern, text, re.S | re.M)]


def commands(block):
    """Each command of a console block, its expected lines, and its expected status."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        status = 0
        if lines and (match := re.fullmatch(r"\[status (\d+)\]", lines[-1])):
            status = int(match.group(1))
            lines.pop()
        yield command, lines, status


def matches(expected, found):
    """Whether the lines `found` are those expected."""
    if not expected:
        return not found
    first, *rest = expected
    if first == "...":
        return any(matches(rest, found[skipped:]) for skipped in range(len(found) + 1))
    if not found:
        return False
    pattern = ".*".join(map(re.escape, first.split("...")))
    return re.fullmatch(pattern, found[0]) is not None and matches(rest, found[1:])


def main():
    page = pathlib.Path(sys.argv[1])
    ran = 0
    kept = contextlib.nullcontext(sys.argv[2]) if len(sys.argv) > 2 else tempfile.TemporaryDirectory()
    with kept as folder:
        for file, language, text in blocks(page.read_text()):
            if file:
                (pathlib.Path(folder) / file).write_text(text)
            if language != "console":
                continue
            for command, expected, status in commands(text):
                run = subprocess.run(
                    command, shell=True, cwd=folder, text=True, check=False,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                )
                found = run.stdout.splitlines()
                if run.returncode != status or not matches(expected, found):
                    sys.exit(
                        f"{page}: $ {command}\nexpected, with status {status}:\n" + "\n".join(expected)
                        + f"\nfound, with status {run.returncode}:\n{run.stdout}"
                    )
                ran += 1
    print(f"{page.name}: {ran} commands ran as the page says")


main()
