"""Breaks the words of one instruction in every way; each must be refused with its tag.

    broken_words.py PTO_TRANSLATE    reads the document on standard input
"""

import copy
import json
import subprocess
import sys

DOCUMENT = json.load(sys.stdin)


def commands(document, name):
    all_commands = document["functions"][0]["instructions"][0]["commands"]
    return [command for command in all_commands if command["command"] == name]


def change(name, **fields):
    def apply(document):
        commands(document, name)[0].update(fields)

    return apply


def drop(name):
    def apply(document):
        instruction = document["functions"][0]["instructions"][0]
        instruction["commands"] = [c for c in instruction["commands"] if c["command"] != name]

    return apply


def append(name, **fields):
    def apply(document):
        instruction = document["functions"][0]["instructions"][0]
        copied = copy.deepcopy(commands(document, name)[0])
        instruction["commands"].append({**copied, **fields})

    return apply


def edit(function):
    return lambda document: function(document["functions"][0]["instructions"][0])


def set_source(**fields):
    return lambda document: commands(document, "B.IOT")[0]["sources"][0].update(fields)


def read_destination(document):
    """A second instruction, whose accumulator is the destination of the first, but smaller."""
    instructions = document["functions"][0]["instructions"]
    second = copy.deepcopy(instructions[0])
    instructions.append(second)
    bindings = [command for command in second["commands"] if command["command"] == "B.IOT"]
    written = bindings[0]["destination"]
    bindings[0]["sources"][0] = {"register": written["register"], "layout": written["layout"], "size_code": 3}


def set_destination(**fields):
    return lambda document: commands(document, "B.IOT")[0]["destination"].update(fields)


CASES = {
    "reserved bit of BSTART": (change("BSTART", word="0x20231183"), "IllegalInstruction", "pto:tile-reserved"),
    "reserved left type": (change("BSTART", word="0x78231181"), "IllegalInstruction", "pto:tile-reserved"),
    "function 3": (change("BSTART", word="0x20331181"), "IllegalInstruction", "pto:tile-function"),
    "function 8": (change("BSTART", word="0x20831181"), "IllegalInstruction", "pto:tile-function"),
    "a word of other letters": (change("BSTART", word="twenty"), "", "pto:tile-words"),
    "a word that is too long": (change("BSTART", word="0x120231181"), "", "pto:tile-words"),
    "fixed bit of B.FPATR": (change("B.FPATR", word="0x00002423"), "IllegalInstruction", "pto:tile-reserved"),
    "mode 6": (change("B.FPATR", word="0x18002023"), "IllegalInstruction", "pto:tile-reserved"),
    "max_abs alone": (change("B.FPATR", word="0x0000a023"), "TileLegality", "pto:tile-post-fields"),
    "no B.FPATR": (drop("B.FPATR"), "BundleControl", "pto:tile-fpatr-missing"),
    "B.FPATR late": (append("B.FPATR"), "BundleControl", "pto:tile-fpatr-duplicate"),
    "dimension 3": (change("B.DIM", dimension=3), "IllegalInstruction", "pto:tile-reserved"),
    "M of 0": (change("B.DIM", value=0), "TileLegality", "pto:tile-dimensions"),
    "M of 17 in cube_m16": (change("B.DIM", value=17), "TileLegality", "pto:tile-operand-layout"),
    "reserved right type": (change("B.DATR", b_type=15), "IllegalInstruction", "pto:tile-reserved"),
    "right type of another class": (change("B.DATR", b_type=19), "TileLegality", "pto:tile-type-pair"),
    "rounding code 8": (change("B.DATR", rmode=8), "IllegalInstruction", "pto:tile-reserved"),
    "rounding without a mode": (change("B.DATR", rmode=2), "TileLegality", "pto:tile-rounding-fields"),
    "PE mode 8": (change("B.IOT", pe_mode=8), "IllegalInstruction", "pto:tile-reserved"),
    "two masks": (change("B.IOT", pe_mode=1), "TileLegality", "pto:tile-masks"),
    "a stream without end": (append("B.IOT", last=False, sources=[], destination=None), "TileLegality", "pto:tile-stream-end"),
    "a source too many": (append("B.IOT", last=True), "TileLegality", "pto:tile-source-count"),
    "a scalar too many": (append("B.IOT", command="B.IOR", registers=[0]), "", "pto:tile-words"),
    "a layout of no tile": (set_source(layout="cube_m64"), "", "pto:tile-words"),
    "a Shared layout": (set_source(layout="shared"), "", "pto:tile-words"),
    "a register of another hand": (set_destination(hand=1), "", "pto:tile-words"),
    "a size code of 0": (set_destination(size_code=0), "IllegalInstruction", "pto:tile-reserved"),
    "a size that is too small": (set_destination(size_code=1), "TileAllocation", "pto:tile-destination-capacity"),
    "a size code of no source": (set_source(size_code=11), "IllegalInstruction", "pto:tile-reserved"),
    "a source that is too small": (set_source(size_code=1), "TileAllocation", "pto:tile-destination-capacity"),
    "another capacity than was written": (read_destination, "", "pto:tile-words"),
    "source register 64": (set_source(register=64), "IllegalInstruction", "pto:tile-reserved"),
    "destination register 64": (set_destination(register=64, hand=4), "IllegalInstruction", "pto:tile-reserved"),
    "element 4": (edit(lambda instruction: instruction.update(element=4)), "", "pto:tile-words"),
    "a second BSTART": (append("BSTART"), "", "pto:tile-words"),
    "no BSTART": (drop("BSTART"), "", "pto:tile-words"),
    "an unknown entry": (edit(lambda instruction: instruction.update(color="red")), "", "pto:tile-words"),
    "another schema": (lambda document: document.update(schema="pto-tile-words/2"), "", "pto:tile-words"),
}


def main():
    translate = sys.argv[1]
    failed = 0
    for name, (apply, fault, tag) in CASES.items():
        document = copy.deepcopy(DOCUMENT)
        apply(document)
        done = subprocess.run(
            [translate, "--pto-from-tile-words"], input=json.dumps(document), capture_output=True, text=True
        )
        if done.returncode != 1 or fault not in done.stderr or f"[{tag}]" not in done.stderr:
            failed += 1
            print(f"{name}: expected {fault} [{tag}], found status {done.returncode}: {done.stderr}")
    print(f"{len(CASES)} cases, {failed} failed")


if __name__ == "__main__":
    main()
