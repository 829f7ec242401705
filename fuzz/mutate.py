"""Mutations of MLIR modules by token and line.

Seeds are the modules of the test suites, in their own syntax and in the generic one: what the custom
syntax cannot say at all (a missing operand, a property of another kind) the generic one can.
"""

import re

NUMBERS = [
    "0", "1", "-1", "2", "3", "7", "8", "31", "32", "33", "96", "127", "128", "129", "512", "2047", "2048", "2049",
    "16384", "65536", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807",
    "-9223372036854775808", "18446744073709551615", "340282366920938463463374607431768211456",
]  # fmt: skip
TYPES = [
    "f32", "bf16", "f16", "f64", "tf32", "f8E4M3FN", "f8E5M2", "i1", "i8", "ui8", "i32", "i64", "index", "none",
    "vector<4xf32>", "complex<f32>", "tensor<4xf32>", "memref<f32>", "memref<*xf32>", "tuple<>", "i17", "() -> ()",
    "memref<128x512xf32, #pto.mem<psum>>", "memref<128x?xf32, #pto.mem<psum>>", "memref<0x0xf32, #pto.mem<psum>>",
    "memref<128x512xf32, strided<[?, ?], offset: ?>, #pto.mem<psum>>", "!pto.token", "memref<128x64xf32, 2>",
    "memref<128x4xf32, affine_map<(d0, d1) -> (d1, d0)>, #pto.mem<psum>>", "memref<2x3x4xbf16, #pto.mem<sbuf>>",
]  # fmt: skip
LINES = [
    "return", "scf.if %true {", "}", "scf.yield", "cf.br ^bb1", "^bb1:", "{", "} else {", '"test.op"() ({}) : () -> ()',
    "%true = arith.constant true", "%c0 = arith.constant 0 : index", "%zero = arith.constant 0.0 : f32",
    "scf.for %i = %c0 to %c1 step %c0 {", "affine.for %i = 0 to 9223372036854775807 {", "func.func private @g()",
    "func.call @g() : () -> ()", "module {", "module attributes {pto.target = #pto.target<trn3>} {",
]  # fmt: skip
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[%@#!^]?[A-Za-z_][\w.$-]*|%?\d+|->|[^\s\w]|\s+')
NUMBER = re.compile(r"\b\d+\b")
VALUE = re.compile(r"%\w+")
LONGEST = 20_000  # characters of a seed
SHAPE = re.compile(r"\b(\d+|\?)x")


def seeds_of(text):
    """The modules of a test file, without run lines, checks and expectations."""
    for part in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
        kept = [line for line in part.splitlines() if line.strip() and not line.lstrip().startswith("//")]
        if kept:
            yield "\n".join(line.split("//")[0].rstrip() for line in kept) + "\n"


class Mutator:
    """Draws mutants of `valid` seeds and, less often, of `invalid` ones; every choice comes from `rng`."""

    def __init__(self, valid, invalid, rng):
        self.valid = list(valid)
        self.invalid = invalid
        self.rng = rng
        seeds = [*valid, *invalid]
        self.words = sorted({token for seed in seeds for token in TOKEN.findall(seed) if not token.isspace()})
        self.lines = sorted({line for seed in seeds for line in seed.splitlines()})

    def mutant(self):
        text = self.rng.choice(self.valid if self.rng.random() < 0.9 else self.invalid)
        changes = [self.token, self.token, self.number, self.number, self.value, self.shape, self.line, self.line, self.wrap]
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3, 6])):
            text = self.rng.choice(changes)(text)
        return text

    def keep(self, text):
        """Takes a mutant that a tool accepted as one more seed."""
        if len(text) < LONGEST:
            self.valid[self.rng.randrange(len(self.valid))] = text

    def number(self, text):
        """Changes one number, everywhere or here."""
        places = list(NUMBER.finditer(text))
        if not places:
            return self.token(text)
        place = self.rng.choice(places)
        old = int(place.group())
        new = self.rng.choice([old + 1, old - 1, 2 * old, old // 2, old + 32, *map(int, NUMBERS)])
        if self.rng.random() < 0.3:
            return re.sub(rf"\b{old}\b", str(new), text)
        return f"{text[: place.start()]}{new}{text[place.end() :]}"

    def value(self, text):
        """Uses another value, of those named earlier."""
        places = list(VALUE.finditer(text))
        uses = [place for place in places[2:] if not text[place.end() :].lstrip().startswith(("=", ":"))]
        if not uses:
            return self.token(text)
        place = self.rng.choice(uses)
        other = self.rng.choice([other for other in places if other.start() < place.start()])
        return f"{text[: place.start()]}{other.group()}{text[place.end() :]}"

    def token(self, text):
        """Replaces, removes, doubles or exchanges tokens."""
        tokens = TOKEN.findall(text)
        places = [place for place, token in enumerate(tokens) if not token.isspace()]
        if not places:
            return text
        place = self.rng.choice(places)
        token = tokens[place]
        if self.rng.random() < 0.7:
            tokens[place] = self.alike(token, tokens)
        elif self.rng.random() < 0.4:
            tokens[place] = ""
        elif self.rng.random() < 0.5:
            tokens[place] = f"{token} {token}"
        else:
            other = self.rng.choice(places)
            tokens[place], tokens[other] = tokens[other], token
        return "".join(tokens)

    def alike(self, token, tokens):
        """A token that may well stand where `token` stands."""
        if token.isdigit():
            return self.rng.choice(NUMBERS)
        if token in TYPES or token == "memref":
            return self.rng.choice(TYPES)
        kind = token[0] if token[0] in '%@#!^"' else None
        if kind:
            here = sorted({other for other in tokens if other[:1] == kind})
            return self.rng.choice(here)
        if token.isidentifier() or "." in token:
            prefix = token.split(".")[0] + "."
            family = [word for word in self.words if word.startswith(prefix)]
            return self.rng.choice(family or self.words)
        return self.rng.choice(self.words)

    def shape(self, text):
        """Changes one extent of a shape, everywhere or here."""
        places = list(SHAPE.finditer(text))
        if not places:
            return self.token(text)
        place = self.rng.choice(places)
        extent = self.rng.choice(["?", *NUMBERS])
        if self.rng.random() < 0.6:
            return text.replace(place.group(), f"{extent}x")
        return f"{text[: place.start()]}{extent}x{text[place.end() :]}"

    def line(self, text):
        """Removes, doubles, moves or inserts a line."""
        lines = text.splitlines()
        place = self.rng.randrange(len(lines)) if lines else 0
        action = self.rng.randrange(5) if lines else 4
        if action == 0:
            del lines[place]
        elif action == 1:
            lines.insert(place, lines[place])
        elif action == 2:
            other = self.rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        elif action == 3:
            lines.insert(place, self.rng.choice(LINES))
        else:
            lines.insert(place, self.rng.choice(self.lines))
        return "\n".join(lines) + "\n"

    def wrap(self, text):
        """Puts some lines into a region."""
        lines = text.splitlines()
        first = self.rng.randrange(len(lines) + 1)
        last = self.rng.randint(first, len(lines))
        opening = self.rng.choice(
            ["scf.execute_region {", "%true_ = arith.constant true\nscf.if %true_ {", '"test.region"() ({',
             "affine.for %affine = 0 to 3 {", "affine.for %affine = 0 to 0 {", "module {"]
        )  # fmt: skip
        closing = "}) : () -> ()" if "({" in opening else "}"
        return "\n".join([*lines[:first], opening, *lines[first:last], closing, *lines[last:]]) + "\n"


def mutated_bytes(data, rng):
    """`data` with some bytes changed, removed, doubled or cut off."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        place = rng.randrange(len(data))
        action = rng.randrange(6)
        if action <= 1:
            data[place] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif action == 2:
            data[place] ^= 1 << rng.randrange(8)
        elif action == 3:
            del data[place : place + rng.randint(1, 4)]
        elif action == 4:
            data[place:place] = data[place : place + rng.randint(1, 8)]
        elif len(data) > 16:
            del data[max(place, 8) :]
    return bytes(data)
