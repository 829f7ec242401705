"""Checks a built site: every link leads to a page and a place of it, and nothing is loaded from elsewhere.

    check.py FOLDER
"""

import functools
import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The names of places in a page, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names.update(filter(None, [attributes.get("id"), attributes.get("name")]))
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in ("link", "script", "img", "iframe", "source"):
            self.loads += filter(None, [attributes.get("href"), attributes.get("src")])


@functools.cache
def parsed(path):
    return Page(path.read_text())


def problem_of(page, link):
    """What is wrong with `link` of the file `page`, or None."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = urllib.parse.unquote(parts.path)
    file = (page.parent / path).resolve() if path else page
    if not file.is_file():
        return f"{page}: there is no {link}"
    fragment = urllib.parse.unquote(parts.fragment)
    if fragment and file.suffix == ".html" and fragment not in parsed(file).names:
        return f"{page}: {path or page.name} has no place called #{fragment}"
    return None


def problems_of_site(folder):
    pages = sorted(pathlib.Path(folder).resolve().rglob("*.html"))
    if not pages:
        return [f"{folder} holds no page"]
    problems = []
    for path in pages:
        page = parsed(path)
        problems += filter(None, [problem_of(path, link) for link in page.links + page.loads])
        problems += [f"{path}: loads {link}" for link in page.loads if re.match(r"(\w+:)?//", link)]
    return problems


def main():
    problems = problems_of_site(sys.argv[1])
    print("\n".join(problems) or "every link leads somewhere")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
