"""Opens pages of a built site in a headless Chromium: check_site.py SITE. Prints what it saw."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "looking/Inputs"))
from browser import Page

NAMES = ["index", "flags", "tutorial", "embedding"]
TITLE = "document.querySelector('main h1').innerText"
PICTURES = "[...document.querySelectorAll('main img:not(.img-wrapper *)')].filter((image) => image.naturalWidth > 100).length"
COLOURS = "document.querySelectorAll('code.mlir .hljs-keyword').length"


def main(site):
    with Page(1200, 900) as page:
        for name in NAMES:
            page.open(f"{site}/{name}.html")
            page.frame()
            found = f'"{page.evaluate(TITLE)}", {page.evaluate(PICTURES)} pictures'
            print(f"{name}.html: {found}{', colours of mlir' if page.evaluate(COLOURS) else ''}")
            page.check_loads()
            page.events.clear()
        print("console: no errors, nothing loaded from elsewhere")


main(sys.argv[1])
