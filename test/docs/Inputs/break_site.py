"""Puts links into a page of a built site that lead nowhere: break_site.py SITE."""

import pathlib
import sys

page = pathlib.Path(sys.argv[1]) / "faq.html"
wrong = """<a href="nowhere.html">a</a> <a href="tutorial.html#nowhere">b</a> <a href="tutorial.html#flags">c</a>
<script src="https://example.org/a.js"></script></main>"""
page.write_text(page.read_text().replace("</main>", wrong, 1))
