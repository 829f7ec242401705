"""Programs of one tile operation: their text, their .npy files, and what running them gives."""

import json
import re
import subprocess
from dataclasses import dataclass, field

import numpy as np

# Name in the ISA: type in MLIR, bits.
TYPES = {
    "FP64": ("f64", 64), "FP32": ("f32", 32), "TF32": ("tf32", 32), "HF32": ("!pto.hf32", 32),
    "FP16": ("f16", 16), "BF16": ("bf16", 16), "HiF8": ("!pto.hif8", 8), "E4M3": ("f8E4M3FN", 8),
    "E5M2": ("f8E5M2", 8), "E3M2": ("f6E3M2FN", 8), "E2M3": ("f6E2M3FN", 8),
    "E2M1X2": ("f4E2M1FN", 4), "E1M2X2": ("!pto.e1m2", 4), "E8M0": ("f8E8M0FNU", 8),
    "HiF4X2": ("!pto.hif4", 4), "S64": ("si64", 64), "S32": ("si32", 32), "S16": ("si16", 16),
    "S8": ("si8", 8), "S4X2": ("si4", 4), "U64": ("i64", 64), "U32": ("ui32", 32),
    "U16": ("ui16", 16), "U8": ("ui8", 8), "U4X2": ("ui4", 4),
}  # fmt: skip
RMODES = ["default", "rne", "rtz", "rtm", "rtp", "rna", "rto", "rhb"]
FLOATS = ("FP32 TF32 HF32 FP16 BF16 HiF8 E4M3 E5M2 E3M2 E2M3 E2M1X2 E1M2X2").split()
FAULT = re.compile(r"(IllegalInstruction|BundleControl|TileLegality|TileAllocation)\)? \[(pto:[a-z-]+)\]")


def accumulator_type(data_type):
    """The type that products of `data_type` are summed in."""
    if data_type in FLOATS:
        return "FP32"
    return "U32" if data_type.startswith("U") else "S32"


@dataclass
class Operand:
    """A tile: ISA type, memory space, and rows of words; None for a word is undefined."""

    data_type: str
    space: str
    rows: list
    size_code: int = 0

    @property
    def memref(self):
        shape = f"{len(self.rows)}x{len(self.rows[0]) if self.rows else 0}"
        return f"memref<{shape}x{TYPES[self.data_type][0]}, #pto.mem<{self.space}>>"

    def words(self, is_raw):
        """The words as .npy files hold them, or None where one is undefined."""
        if any(word is None for row in self.rows for word in row):
            return None
        bits = 64 if is_raw else max(TYPES[self.data_type][1], 8)
        mask = (1 << (64 if is_raw else TYPES[self.data_type][1])) - 1
        return np.array([[word & mask for word in row] for row in self.rows], dtype=f"u{bits // 8}")


@dataclass
class Outcome:
    """What a run gave: the words of the results, or the kind and the tag of a fault."""

    status: int
    results: list = field(default_factory=list)
    flags: int = 0
    fault: str = ""
    tag: str = ""
    text: str = ""


@dataclass
class Program:
    """One operation. `sources` are (clause, operand or i64): clause is `ins` for the mathematical
    ones, else the name of a clause. `outputs` likewise, `outs` for D."""

    op: str
    sources: list
    outputs: list
    attributes: list
    # Whether D is the first source, which the ISA does not allow.
    is_in_place: bool = False

    def text(self):
        arguments, body, places = [], [], []
        for index, (_, source) in enumerate(self.sources):
            ty = source.memref if isinstance(source, Operand) else "i64"
            arguments.append(f"%a{index}: {ty}")
            name = f"%a{index}"
            if isinstance(source, Operand) and source.size_code:
                name = f"%s{index}"
                body.append(f"{name} = pto.tile_alloc size({source.size_code}) : {ty}")
                body.append(f"pto.copy %a{index}, {name} : {ty}, {ty}")
            places.append((name, ty))
        outputs = [(f"%o{index}", output.memref) for index, (_, output) in enumerate(self.outputs)]
        if self.is_in_place:
            outputs[0] = places[0]
        for (name, ty), (_, output) in list(zip(outputs, self.outputs))[self.is_in_place :]:
            size = f"size({output.size_code}) " if output.size_code else ""
            body.append(f"{name} = pto.tile_alloc {size}: {ty}")
        named = [(clause, place) for (clause, _), place in zip(self.sources, places)]
        named += [(clause, place) for (clause, _), place in zip(self.outputs, outputs)]
        ins = [place for clause, place in named if clause == "ins"]
        operation = f"pto.{self.op} ins({', '.join(n for n, _ in ins)} : {', '.join(t for _, t in ins)})"
        operation += "".join(f" outs({n} : {t})" for clause, (n, t) in named if clause == "outs")
        for clause in ["c_scale", "row_max_in", "quant", "prelu", "row_max", "group_max"]:
            operation += "".join(f" {clause}({n} : {t})" for c, (n, t) in named if c == clause)
        if self.attributes:
            operation += f" {{{', '.join(self.attributes)}}}"
        names, types = [n for n, _ in outputs], [t for _, t in outputs]
        body += [operation, f"return {', '.join(names)} : {', '.join(types)}"]
        lines = "".join(f"  {line}\n" for line in body)
        return f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n{lines}}}\n"

    def run(self, pto_run, folder, is_raw):
        """Runs the program with files in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "program.mlir").write_text(self.text(), encoding="utf-8")
        command = [pto_run, folder / "program.mlir", "--target=tile", "--stats=json", "--model=reference"]
        command += [f"--arith={'raw' if is_raw else 'ieee'}", f"--output-dir={folder}"]
        for index, (_, source) in enumerate(self.sources):
            words = source.words(is_raw) if isinstance(source, Operand) else np.array(source, dtype="u8")
            if words is not None:
                np.save(folder / f"in{index}.npy", words)
                command.append(f"--input={index}={folder / f'in{index}.npy'}")
        for old in folder.glob("res*.npy"):
            old.unlink()
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        return self.outcome(done, folder)

    def outcome(self, done, folder):
        outcome = Outcome(done.returncode, text=done.stderr)
        found = FAULT.search(done.stderr)
        if found:
            outcome.fault, outcome.tag = found.groups()
        elif done.returncode == 0:
            outcome.flags = json.loads(done.stdout)["tile_flags"]
            outcome.results = [np.load(folder / f"res{i}.npy") for i in range(len(self.outputs))]
        return outcome
