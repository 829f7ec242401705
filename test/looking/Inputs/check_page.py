"""Uses a timeline page in a headless Chromium as a person would: python3 check_page.py FILE [PICTURE].

Prints what it saw, one line a thing; with PICTURE, takes a screenshot of the page as it opens, with
its last hazard chosen.
"""

import sys

from browser import Page

WIDTH, HEIGHT = 1280, 560
SELECTED = "document.body.dataset.selected"
DETAILS = "document.getElementById('details').innerText"
# The middle of the slice of an event, on the page.
MIDDLE = """(() => {
  const [x, y] = middleOf(events[%d]), box = canvas.getBoundingClientRect();
  return [box.left + x, box.top + y];
})()"""

# How many colours the picture has.
COLOURS = """(() => {
  const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(pixels).size;
})()"""


def one_line(text):
    return " ".join(text.split())


def look(page):
    page.frame()
    print("summary:", page.evaluate("document.getElementById('summary').textContent"))
    hazards = page.evaluate("document.querySelectorAll('#hazards button').length")
    print("hazards:", hazards)
    colours = page.evaluate(COLOURS)
    assert colours > 5, "the canvas is empty"
    print("drawn: yes")


def use(page):
    x, y = page.evaluate(MIDDLE % 1)
    page.mouse("mouseMoved", x, y)
    page.frame()
    print("hover:", one_line(page.evaluate("document.getElementById('tip').innerText")))
    page.click(x, y)
    page.frame()
    print("click selects:", page.evaluate(SELECTED))
    print("details:", one_line(page.evaluate(DETAILS)))
    for key, text in [("ArrowRight", None), ("ArrowRight", None), ("ArrowLeft", None)]:
        page.press(key, text)
    print("arrows select:", page.evaluate(SELECTED))
    whole = page.evaluate("view.to - view.from")
    page.press("+", "+")
    nearer = page.evaluate("view.to - view.from")
    page.press("-", "-")
    assert nearer < whole == page.evaluate("view.to - view.from"), (whole, nearer)
    print("zoom: in and out")
    page.press("?", "?")
    assert page.evaluate("document.getElementById('keys').open")
    page.evaluate("document.getElementById('keys').close()")
    print("keys: listed")


def tab_to_hazards(page):
    """Tab from the picture goes through the hazards; each one chooses its instruction."""
    page.evaluate("canvas.focus()")
    for number in range(page.evaluate("problems.length")):
        page.press("Tab", "\t")
        chosen = page.evaluate(f"problem === problems[{number}] && problems[{number}].event")
        print(f"tab {number + 1}: {page.evaluate('problem.tag')} at {chosen}, selected {page.evaluate(SELECTED)}")
    page.frame()


def main(path, picture=None):
    with Page(WIDTH, HEIGHT) as page:
        page.open(path)
        look(page)
        use(page)
        tab_to_hazards(page)
        if picture:
            page.screenshot(picture)
        time = page.evaluate("(() => { const start = performance.now(); draw(); return performance.now() - start; })()")
        assert time < 1000, f"a frame takes {time} ms"
        light = page.evaluate("colours.ground")
        page.prefer("dark")
        page.frame()
        assert page.evaluate("colours.ground") != light, light
        print("light and dark: two grounds")
        page.check_loads()
        print("console: no errors, nothing loaded from elsewhere")


main(*sys.argv[1:])
