"""Random contractions against themselves, converted.

Each case is a linalg.generic with random loops, indexing maps, sizes, element types and layouts, on inputs
whose sums are exact. It is run by pto-run as it is, then converted, as loops and as straight-line code
with small random tiles. The outputs must be equal, bit for bit.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

FLOATS = ["f32", "bf16", "f16", "f8E4M3FN", "f8E5M2"]


def layout(rng, sizes):
    """A strided layout with gaps and the sizes of the buffer that holds it."""
    padded = [size + rng.randint(0, 2) for size in sizes]
    strides = [1] * len(sizes)
    for dim in range(len(sizes) - 1, 0, -1):
        strides[dim - 1] = strides[dim] * padded[dim]
    return padded, strides


class Operand:
    def __init__(self, rng, loops, extents, element):
        self.loops = rng.sample(loops, len(loops))
        self.sizes = [extents[loop] for loop in self.loops]
        self.element = element
        self.is_view = bool(self.loops) and 0 not in self.sizes and rng.random() < 0.4
        self.padded, self.strides = layout(rng, self.sizes) if self.is_view else (self.sizes, None)

    @staticmethod
    def shaped(sizes, element):
        return "x".join([*map(str, sizes), element])

    def argument_type(self):
        return f"memref<{self.shaped(self.padded, self.element)}>"

    def type(self):
        if not self.is_view:
            return self.argument_type()
        return f"memref<{self.shaped(self.sizes, self.element)}, strided<[{', '.join(map(str, self.strides))}]>>"

    def map(self, count):
        loops = ", ".join(f"d{loop}" for loop in range(count))
        return f"affine_map<({loops}) -> ({', '.join(f'd{loop}' for loop in self.loops)})>"

    def prologue(self, name):
        """Makes `%name` of the argument `%name_in`."""
        if not self.is_view:
            return []
        zeros, ones = ", ".join("0" for _ in self.sizes), ", ".join("1" for _ in self.sizes)
        sizes = ", ".join(map(str, self.sizes))
        source, target = self.argument_type(), self.type()
        return [f"  %{name} = memref.subview %{name}_in[{zeros}] [{sizes}] [{ones}] : {source} to {target}"]

    def argument(self, name):
        return f"%{name}{'_in' if self.is_view else ''}: {self.argument_type()}"


def widen(name, source, target):
    if source == target:
        return [], f"%{name}"
    op = "arith.extsi" if target == "i32" else "arith.extf"
    return [f"      %{name}w = {op} %{name} : {source} to {target}"], f"%{name}w"


def make_case(rng):
    kinds = ["k"] * rng.choice([1, 1, 2]) + ["m"] * rng.choice([0, 1, 1, 2]) + ["n"] * rng.choice([0, 1, 1, 2])
    kinds += ["b"] * rng.choice([0, 0, 1])
    rng.shuffle(kinds)
    extents = [rng.randint(1, 7) if rng.random() < 0.3 else rng.randint(2, 19) for _ in kinds]
    if len(kinds) > 4:
        extents = [min(extent, 7) for extent in extents]
    if rng.random() < 0.05:
        extents[rng.randrange(len(extents))] = 0
    is_int = rng.random() < 0.2
    types = ["i8", "i8", "i32"] if is_int else [rng.choice(FLOATS), rng.choice(FLOATS), "f32"]
    loops = lambda letters: [loop for loop, kind in enumerate(kinds) if kind in letters]  # noqa: E731
    operands = [
        Operand(rng, loops(letters), extents, element)
        for letters, element in zip(["bmk", "bnk", "bmn"], types)
    ]
    names = ["a", "b", "c"]
    iterators = ", ".join('"reduction"' if kind == "k" else '"parallel"' for kind in kinds)
    (cast_a, a), (cast_b, b) = widen("x", types[0], types[2]), widen("y", types[1], types[2])
    multiply, add = ("arith.muli", "arith.addi") if is_int else ("arith.mulf", "arith.addf")
    factors = f"{b}, {a}" if rng.random() < 0.3 else f"{a}, {b}"
    lines = [f"func.func @main({', '.join(o.argument(n) for o, n in zip(operands, names))}) {{"]
    for operand, name in zip(operands, names):
        lines += operand.prologue(name)
    if rng.random() < 0.5:
        # Not -0.0: where every product is -0.0 too, the sum keeps that sign in linalg alone.
        zero = "0" if is_int else "0.0"
        lines += [f"  %zero = arith.constant {zero} : {types[2]}"]
        lines += [f"  linalg.fill ins(%zero : {types[2]}) outs(%c : {operands[2].type()})"]
    maps = ", ".join(operand.map(len(kinds)) for operand in operands)
    lines += [
        f"  linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}",
        f"    ins(%a, %b : {operands[0].type()}, {operands[1].type()}) outs(%c : {operands[2].type()}) {{",
        f"    ^bb0(%x: {types[0]}, %y: {types[1]}, %s: {types[2]}):",
        *cast_a,
        *cast_b,
        f"      %p = {multiply} {factors} : {types[2]}",
        f"      %r = {add} {'%s, %p' if rng.random() < 0.5 else '%p, %s'} : {types[2]}",
        f"      linalg.yield %r : {types[2]}",
        "  }",
        "  return",
        "}",
    ]
    return "\n".join(lines) + "\n"


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return done


def outputs(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pto-opt", required=True)
    parser.add_argument("--pto-run", required=True)
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for number in range(arguments.seed, arguments.seed + arguments.cases):
        rng = random.Random(number)
        text = make_case(rng)
        tiles = f"tile-m={rng.randint(1, 9)} tile-n={rng.randint(1, 9)} tile-k={rng.randint(1, 6)}"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            before = folder / "before.mlir"
            before.write_text(text)
            execute = [arguments.pto_run, "--random-inputs", f"--seed={number}", "--model=reference"]
            run([*execute, f"--output-dir={folder / 'before'}", before])
            expected = outputs(folder / "before")
            for form in ("", " unroll"):
                after = folder / "after.mlir"
                run([arguments.pto_opt, before, f"--convert-linalg-to-pto={tiles}{form}", "-o", after])
                if "linalg.generic" in after.read_text():
                    sys.exit(f"case {number} was not converted:\n{text}")
                run([*execute, f"--output-dir={folder / 'after'}", after])
                if outputs(folder / "after") != expected:
                    sys.exit(f"case {number}, {tiles}{form}: other values:\n{text}")
    print(f"{arguments.cases} contractions equal")


if __name__ == "__main__":
    main()
