#!/usr/bin/env python3
"""Writes a large module of placed, unflagged matmuls, for measuring passes.

Two mixes. `bank`: every chain has a bank of its own and is drained before the bank is used again.
`packed`: four locations a bank; half of the chains run in interleaved pairs side by side, the others
begin while the one before them in the same bank is still unread. The same seed gives the same text.
"""

import argparse
import random
import sys

BANKS = 8
BANK_BYTES = 2048
CELL_BYTES = 4
LOCATIONS_PER_BANK = 4  # of the packed mix

HEADER = """\
  func.func {visibility}@f{index}(%out: memref<128x512xf32>) {{
    %w = pto.sbuf_alloc : memref<128x128xbf16, #pto.mem<sbuf>>
    %x = pto.sbuf_alloc : memref<128x{cells}xbf16, #pto.mem<sbuf>>
    %o = memref.subview %out[0, 0] [128, {cells}] [1, 1] : memref<128x512xf32> to memref<128x{cells}xf32, strided<[512, 1]>>
"""


class Writer:
    """Writes chains into one function; `cells` is the N of every matmul."""

    def __init__(self, out, cells, unplaced=False):
        self.out = out
        self.unplaced = unplaced
        self.type = f"memref<128x{cells}xf32, #pto.mem<psum>>"
        operands = f"memref<128x128xbf16, #pto.mem<sbuf>>, memref<128x{cells}xbf16, #pto.mem<sbuf>>"
        self.head = f"    pto.tmatmul ins(%w, %x : {operands}) outs(%{{0}} : {self.type})\n"
        self.member = (
            f"    pto.tmatmul_acc ins(%{{0}}, %w, %x : {self.type}, {operands})"
            f" outs(%{{0}} : {self.type})\n"
        )
        self.drain_text = f"    pto.copy %{{0}}, %o : {self.type}, memref<128x{cells}xf32, strided<[512, 1]>>\n"
        self.chains = 0

    def allocate(self, bank, offset):
        name = f"a{self.chains}"
        self.chains += 1
        place = "" if self.unplaced else f" bank({bank}) offset({offset}) partition(0)"
        self.out.write(f"    %{name} = pto.psum_alloc{place} : {self.type}\n")
        return name

    def step(self, name, first):
        self.out.write((self.head if first else self.member).format(name))

    def drain(self, name):
        self.out.write(self.drain_text.format(name))


def write_bank_mix(writer, lengths):
    for number, length in enumerate(lengths):
        name = writer.allocate(number % BANKS, 0)
        for index in range(length):
            writer.step(name, index == 0)
        writer.drain(name)


def write_packed_mix(writer, lengths):
    stride = BANK_BYTES // LOCATIONS_PER_BANK
    number = 0
    while number < len(lengths):
        bank = (number // LOCATIONS_PER_BANK) % BANKS
        left = writer.allocate(bank, number % LOCATIONS_PER_BANK * stride)
        if number + 1 == len(lengths):
            for index in range(lengths[number]):
                writer.step(left, index == 0)
            writer.drain(left)
            return
        right = writer.allocate(bank, (number + 1) % LOCATIONS_PER_BANK * stride)
        interleaved = number // 2 % 2 == 0
        if interleaved:
            for index in range(max(lengths[number], lengths[number + 1])):
                for name, length in ((left, lengths[number]), (right, lengths[number + 1])):
                    if index < length:
                        writer.step(name, index == 0)
        else:
            for name, length in ((left, lengths[number]), (right, lengths[number + 1])):
                for index in range(length):
                    writer.step(name, index == 0)
        writer.drain(left)
        writer.drain(right)
        number += 2


TILE_TYPES = {
    "a": "memref<16x64xf16, #pto.mem<cube_m16>>",
    "b": "memref<64x32xf16, #pto.mem<cube_n8>>",
    "c": "memref<16x32xf32, #pto.mem<cube_m16>>",
    "h": "memref<16x32xf16, #pto.mem<cube_m16>>",
    "q": "memref<16x64xf8E4M3FN, #pto.mem<cube_m16>>",
    "s": "memref<16x2xf8E8M0FNU, #pto.mem<cube_m32>>",
    "v": "memref<1x32xf32, #pto.mem<cube_m16>>",
}
# One group of each variant: a head, members, a tail that converts.
TILE_GROUPS = [
    [
        "tmatmul ins(%a, %b : {a}, {b}) outs(%c : {c})",
        "tmatmul_acc ins(%c, %a, %b : {c}, {a}, {b}) outs(%d : {c})",
        "tmatmul_acc ins(%d, %a, %b : {c}, {a}, {b}) outs(%c : {c})",
        "tmatmul_acc ins(%c, %a, %b : {c}, {a}, {b}) outs(%h : {h}) {{sat, post = #pto.post<pre_quant = 1>}}",
    ],
    [
        "tmatmul_mx ins(%q, %s, %b : {q}, {s}, {b}) outs(%c : {c})",
        "tmatmul_mx_acc ins(%c, %q, %s, %b : {c}, {q}, {s}, {b}) outs(%d : {c})",
    ],
    ["tmatmul_bias ins(%a, %b, %v : {a}, {b}, {v}) outs(%c : {c})"],
]


def generate_tiles(out, matmuls, aliases):
    """A function of `matmuls` operations on tiles, their types as aliases or written out."""
    types = {name: f"!{name}" for name in TILE_TYPES} if aliases else TILE_TYPES
    if aliases:
        out.writelines(f"!{name} = {text}\n" for name, text in TILE_TYPES.items())
    group = [line.format(**types) for lines in TILE_GROUPS for line in lines]
    arguments = ", ".join(f"%{name}: {types[name]}" for name in "abqsvh")
    out.write(f"func.func @f({arguments}) {{\n")
    out.writelines(f"  %{name} = pto.tile_alloc : {types['c']}\n" for name in "cd")
    out.writelines(f"  pto.{group[index % len(group)]}\n" for index in range(matmuls))
    out.write("  return\n}\n")


# A matmul over three loops, as kernels keep it: K steps load their operands, then the sum is drained.
GEMM = """\
    scf.for %m = %c0 to %c1024 step %c128 {{
    scf.for %n = %c0 to %c4096 step %c512 {{
    %sum = pto.psum_alloc bank({bank}) offset(0) partition(0) : {psum}
    scf.for %k = %c0 to {depth} step %c128 {{
    %ah = memref.subview %a[%k, %m] [128, 128] [1, 1] : {a} to {ah}
    %w = pto.sbuf_alloc : {w}
    pto.copy %ah, %w : {ah}, {w} engine(dma)
    %bh = memref.subview %b[%k, %n] [128, 512] [1, 1] : {b} to {bh}
    %x = pto.sbuf_alloc : {x}
    pto.copy %bh, %x : {bh}, {x} engine(dma)
    pto.tmatmul_acc ins(%sum, %w, %x : {psum}, {w}, {x}) outs(%sum : {psum})
    }}
    %s = pto.sbuf_alloc : {sbuf}
    pto.copy %sum, %s : {psum}, {sbuf}
    %ch = memref.subview %c[%m, %n] [128, 512] [1, 1] : {c} to {ch}
    pto.copy %s, %ch : {sbuf}, {ch} engine(dma)
    }}
    }}
"""
GEMM_TYPES = {
    "psum": "memref<128x512xf32, #pto.mem<psum>>",
    "sbuf": "memref<128x512xf32, #pto.mem<sbuf>>",
    "w": "memref<128x128xbf16, #pto.mem<sbuf>>",
    "x": "memref<128x512xbf16, #pto.mem<sbuf>>",
    "a": "memref<2048x1024xbf16>",
    "ah": "memref<128x128xbf16, strided<[1024, 1], offset: ?>>",
    "b": "memref<2048x4096xbf16>",
    "bh": "memref<128x512xbf16, strided<[4096, 1], offset: ?>>",
    "c": "memref<1024x4096xf32>",
    "ch": "memref<128x512xf32, strided<[4096, 1], offset: ?>>",
}


def generate_gemms(out, nests, depth="%c2048"):
    """Matmuls in three loops each, one after the other, a bank each in turn. `depth`: where the innermost loop ends."""
    arguments = ", ".join(f"%{name}: {GEMM_TYPES[name]}" for name in "abc")
    out.write("module attributes {pto.target = #pto.target<trn2>} {\n")
    out.write(f"  func.func @f({arguments}, %depth: index) {{\n")
    out.writelines(f"    %c{n} = arith.constant {n} : index\n" for n in (0, 128, 512, 1024, 2048, 4096))
    out.writelines(GEMM.format(bank=number % BANKS, depth=depth, **GEMM_TYPES) for number in range(nests))
    out.write("    return\n  }\n}\n")


def generate_nests(out, nests):
    """Sums over two loops each and nothing else, one after the other, a bank each in turn."""
    cells = 512
    writer = Writer(out, cells)
    out.write("module attributes {pto.target = #pto.target<trn2>} {\n")
    out.write(HEADER.format(visibility="", index=0, cells=cells))
    for number, constant in enumerate((0, 1, 4)):
        out.write(f"    %c{number} = arith.constant {constant} : index\n")
    for number in range(nests):
        name = writer.allocate(number % BANKS, 0)
        out.write("    scf.for %i = %c0 to %c2 step %c1 {\n    scf.for %k = %c0 to %c2 step %c1 {\n")
        writer.step(name, first=False)
        out.write("    }\n    }\n")
        writer.drain(name)
    out.write("    return\n  }\n}\n")


def chain_lengths(rng, matmuls, longest, mean):
    """Lengths 1..longest that add up to `matmuls`; uniform, or geometric about `mean`."""
    lengths = []
    left = matmuls
    while left:
        length = rng.randint(1, longest) if mean is None else 1 + int(rng.expovariate(1 / (mean - 1)))
        lengths.append(min(length, longest, left))
        left -= lengths[-1]
    return lengths


def generate(out, matmuls, mix, functions=1, longest=64, mean=None, seed=1, unplaced=False):
    rng = random.Random(seed)
    cells = BANK_BYTES // CELL_BYTES
    if mix == "packed":
        cells //= LOCATIONS_PER_BANK
    out.write("module {\n")
    for index in range(functions):
        share = matmuls // functions + (index < matmuls % functions)
        out.write(HEADER.format(visibility="", index=index, cells=cells))
        write = write_bank_mix if mix == "bank" else write_packed_mix
        write(Writer(out, cells, unplaced), chain_lengths(rng, share, longest, mean))
        out.write("    return\n  }\n")
    out.write("}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matmuls", type=int, default=100_000)
    parser.add_argument("--mix", choices=["bank", "packed"], default="bank")
    parser.add_argument("--functions", type=int, default=1)
    parser.add_argument("--longest", type=int, default=64, help="longest chain")
    parser.add_argument("--mean", type=float, default=None, help="mean chain (default: uniform)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unplaced", action="store_true", help="leave the places to pto-alloc-psum")
    arguments = parser.parse_args()
    generate(sys.stdout, **vars(arguments))


if __name__ == "__main__":
    main()
