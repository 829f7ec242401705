"""Draws the pictures of the documentation in a headless Chromium, from what its pages say.

    draw.py BIN [--check]

BIN is the folder of pto-opt and pto-run. The commands of flags.md are run, and each timeline that they make is
drawn to flags-NAME.png; timeline.png is that of examples/packed-reuse. With --check nothing is drawn: the
pages are run, and every timeline must have its picture, and every picture its timeline.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path(__file__).resolve().parent
ROOT = IMAGES.parents[1]
sys.path.insert(0, str(ROOT / "test/looking/Inputs"))
WIDTH, HEIGHT = 1120, 330
RUN = """pto-opt --pto-legalize-acc=profile=naive packed-reuse.mlir |
  pto-run --random-inputs --hazards=warn --timeline=timeline.html -"""


def run_page(folder):
    """The timelines that the commands of flags.md make, by the names of their pictures."""
    subprocess.run(
        [sys.executable, str(ROOT / "docs/check_tutorial.py"), str(ROOT / "docs/flags.md"), folder],
        check=True, stdin=subprocess.DEVNULL)
    return {f"flags-{path.stem}.png": path for path in sorted(pathlib.Path(folder).glob("*.html"))}


def run_example(folder):
    kernel = (ROOT / "examples/packed-reuse/kernel.mlir").read_text()
    (pathlib.Path(folder) / "packed-reuse.mlir").write_text(kernel)
    # Status 1: that there are hazards is what the picture is about.
    subprocess.run(RUN, shell=True, cwd=folder, check=False, stderr=subprocess.DEVNULL)
    return pathlib.Path(folder) / "timeline.html"


def draw(timeline, picture, height):
    from browser import Page

    with Page(WIDTH, height) as page:
        page.open(timeline)
        page.frame()
        if page.evaluate("problems.length"):
            page.evaluate("canvas.focus()")
            for _ in range(page.evaluate("problems.length")):
                page.press("Tab", "\t")
        page.frame()
        page.screenshot(picture)


def main():
    folder_of_tools, check = sys.argv[1], sys.argv[2:] == ["--check"]
    os.environ["PATH"] = os.path.abspath(folder_of_tools) + os.pathsep + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        timelines = run_page(folder)
        there = {path.name for path in IMAGES.glob("flags-*.png")}
        if check:
            assert timelines.keys() == there, f"timelines {sorted(timelines)}, pictures {sorted(there)}"
            print(f"{len(there)} pictures, each of a timeline of the page")
            return
        for name, timeline in timelines.items():
            draw(timeline, IMAGES / name, HEIGHT)
        draw(run_example(folder), IMAGES / "timeline.png", 560)


main()
