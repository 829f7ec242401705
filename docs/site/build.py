"""Makes the site of the project's pages with mdBook, and checks it.

    build.py --mdbook MDBOOK --work FOLDER --out FOLDER

docs/SUMMARY.md names the pages; the decisions are added to it. Pages outside of docs/, and files that pages
link to, lie under `project/` in the site, so every link that works in the repository works there.
"""

import argparse
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

from check import problems_of_site

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.S | re.M)
# Languages that highlight.js does not know, as in mdBook; mlir.js colours blocks of the class `mlir`.
LANGUAGES = {"mlir": "plaintext,mlir", "cmake": "plaintext"}
FENCE = re.compile(rf"^```({'|'.join(LANGUAGES)})$", re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")


class Problem(Exception):
    """Something that whoever wrote a page has to mend."""


def tracked(pattern):
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern],
        cwd=ROOT, text=True, check=True, capture_output=True)
    return sorted(set(names.stdout.split()))


def place(path):
    """Where the file `path` of the repository lies in the site's sources."""
    path = path.removeprefix("docs/") if path.startswith("docs/") else f"project/{path}"
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "index.md" if name == "README.md" else name)


def summary():
    """The text of SUMMARY.md with the decisions in it, and the pages that it names."""
    text = (ROOT / "docs/SUMMARY.md").read_text()
    decisions = [name for name in tracked("docs/decisions/*.md") if not name.endswith("README.md")]
    titles = [(ROOT / name).read_text().split("\n", 1)[0].lstrip("# ") for name in decisions]
    text += "".join(f"  - [{title}]({name.removeprefix('docs/')})\n" for name, title in zip(decisions, titles))
    pages = [posixpath.normpath(f"docs/{target}") for target in LINK.findall(text)]
    return text, pages


def check_summary(pages):
    if twice := {page for page in pages if pages.count(page) > 1}:
        raise Problem(f"docs/SUMMARY.md names twice: {', '.join(sorted(twice))}")
    if absent := [page for page in pages if not (ROOT / page).is_file()]:
        raise Problem(f"docs/SUMMARY.md names what is not there: {', '.join(absent)}")
    known = set(tracked("docs/*.md")) | set(tracked("examples/*.md"))
    forgotten = known - set(pages) - {"docs/SUMMARY.md"}
    if forgotten:
        raise Problem(f"docs/SUMMARY.md does not name: {', '.join(sorted(forgotten))}")


class Stage:
    """The sources of the site, made in a folder of their own."""

    def __init__(self, source, pages):
        self.source = source
        self.pages = set(pages)
        self.files = set()

    def target(self, page, link):
        """What `link` of `page` is in the site; None if there is nothing to link to."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, hash_mark, fragment = link.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if (ROOT / path).is_dir():
            path = posixpath.join(path, "README.md")
            if not (ROOT / path).is_file():
                return None
        if path == "docs/SUMMARY.md":
            return None
        if not (ROOT / path).is_file():
            raise Problem(f"{page}: there is no {link}")
        if path.endswith(".md"):
            if path not in self.pages:
                raise Problem(f"{page}: {link} is a page that docs/SUMMARY.md does not name")
        else:
            self.files.add(path)
        relative = posixpath.relpath(place(path), posixpath.dirname(place(page)) or ".")
        return relative + hash_mark + fragment

    def rewrite(self, page, text):
        """`text` with its links as they are in the site."""

        def one(match):
            target = self.target(page, match[1])
            return "]()" if target is None else f"]({target})"

        pieces = CODE.split(text)
        pieces[::2] = [LINK.sub(one, piece) for piece in pieces[::2]]
        pieces[1::2] = [FENCE.sub(lambda fence: "```" + LANGUAGES[fence[1]], piece) for piece in pieces[1::2]]
        # What leads nowhere in the site is not a link there.
        return re.sub(r"\[([^\]\n]*)\]\(\)", r"\1", "".join(pieces))

    def write(self, text):
        for page in sorted(self.pages):
            self.put(place(page), self.rewrite(page, (ROOT / page).read_text()))
        self.put("SUMMARY.md", self.rewrite("docs/SUMMARY.md", text))
        for file in sorted(self.files):
            target = self.source / place(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, target)

    def put(self, path, text):
        (self.source / path).parent.mkdir(parents=True, exist_ok=True)
        (self.source / path).write_text(text)


def build(arguments):
    text, pages = summary()
    check_summary(pages)
    work, out = pathlib.Path(arguments.work).resolve(), pathlib.Path(arguments.out).resolve()
    shutil.rmtree(work, ignore_errors=True)
    Stage(work / "src", pages).write(text)
    for name in ["book.toml", "mlir.js"]:
        shutil.copyfile(ROOT / "docs/site" / name, work / name)
    run = subprocess.run(
        [arguments.mdbook, "build", str(work), "--dest-dir", str(out)],
        text=True, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    complaints = [line for line in run.stdout.splitlines() if re.search(r"\b(WARN|ERROR)\b", line)]
    if run.returncode or complaints:
        raise Problem(run.stdout.rstrip())
    if problems := problems_of_site(out):
        raise Problem("\n".join(problems))
    print(f"{len(pages)} pages in {arguments.out}, every link leads somewhere")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--mdbook", required=True)
    parser.add_argument("--work", required=True, help="folder for the sources, made anew")
    parser.add_argument("--out", required=True, help="folder for the site")
    try:
        build(parser.parse_args())
    except Problem as problem:
        sys.exit(f"site: {problem}")


if __name__ == "__main__":
    main()
