#!/usr/bin/env python3
"""The measured bars of the project: every figure is a ratio of two things timed in one run.

Prints one line a bar: what was measured, the figure, the bar, and whether it holds. Exit status 1 where
a bar is missed, 2 where a tool is missing. Some rows take a minute; progress goes to standard error.
"""

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import generate

ROOT = Path(__file__).resolve().parent.parent
PASSES = {
    "order": "pto-order-column-tiles",
    "legalize": "pto-legalize-acc",
    "verify": "pto-verify-acc",
    "alloc": "pto-alloc-psum",
    "schedule": "pto-schedule",
}
GROUPS = ["passes", "verify", "tiles", "loops", "front", "pipeline", "validate", "threads", "in-process", "symbolic", "machine", "clusters"]


@dataclass
class Bar:
    """One row: `figure` is at most (or, with `at_least`, at least) `bar`."""

    name: str
    figure: float
    bar: float
    at_least: bool = False
    detail: str = ""

    def holds(self):
        return self.figure >= self.bar if self.at_least else self.figure <= self.bar

    def line(self):
        relation = ">=" if self.at_least else "<="
        verdict = "ok" if self.holds() else "MISSED"
        return f"{self.name:58} {self.figure:9.3f} {relation} {self.bar:<7g} {verdict:7} {self.detail}"


def progress(message):
    print(f"-- {message}", file=sys.stderr, flush=True)


class PassTimes:
    """Seconds of parsing, printing and each pass, from one run of pto-opt on one file."""

    def __init__(self, pto_opt, file, passes, target="trn2", options="", on="func.func", threads=False):
        pipeline = ",".join(f"{PASSES[name]}{{target={target} {options}}}" for name in passes)
        anchored = pipeline if on == "builtin.module" else f"{on}({pipeline})"
        rows = self.rows(pto_opt, file, anchored, threads=threads)
        self.passes = {name: self.duration(rows, name) for name in passes}

    def rows(self, pto_opt, file, pipeline, output="/dev/null", threads=False):
        """Seconds of each row of the timing report; takes parsing, printing and memory from it."""
        command = [
            pto_opt, file, f"--pass-pipeline=builtin.module({pipeline})",
            f"--mlir-disable-threading={not threads}".lower(), "--verify-each=false", "--mlir-timing",
            "--mlir-timing-display=list", "--mlir-output-format=json", "-o", output,
        ]  # fmt: skip
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
        rows = {row["name"]: row["wall"]["duration"] for row in json.loads(done.stderr)}
        self.frame = rows["Parser"] + rows["Output"]
        # The largest child so far: only meaningful where this run is the largest.
        self.peak_gib = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 2**20
        return rows

    @staticmethod
    def duration(rows, name):
        class_name = "PTO" + "".join(part.capitalize() for part in PASSES[name].split("-")[1:])
        return rows[class_name]

    def total(self, *names):
        return sum(self.passes[name] for name in names)


class PipelineTimes(PassTimes):
    """Seconds of parsing, printing and all of pto-pipeline, from one run of pto-opt on one file."""

    def __init__(self, pto_opt, file, options="", output="/dev/null"):
        rows = self.rows(pto_opt, file, f"pto-pipeline{{target=trn2 {options}}}", output)
        self.work = sum(seconds for name, seconds in rows.items() if "PTO" in name)


def best(times, key):
    """The run with the smallest figure: the one the machine disturbed least."""
    return min(times, key=key)


def measure_passes(pto_opt, folder):
    for mix in ("bank", "packed"):
        runs = {}
        for matmuls, repeats in ((100_000, 5), (1_000_000, 1)):
            progress(f"order and legalize {matmuls} matmuls, {mix} mix")
            file = folder / f"{mix}-{matmuls}.mlir"
            with file.open("w") as out:
                generate.generate(out, matmuls, mix)
            times = [PassTimes(pto_opt, file, ["order", "legalize"]) for _ in range(repeats)]
            runs[matmuls] = best(times, lambda run: run.total("order", "legalize") / run.frame)
            file.unlink()
        small, large = runs[100_000], runs[1_000_000]
        work = small.total("order", "legalize")
        yield Bar(
            f"order + legalize / (parse + print), 100k, {mix}", work / small.frame, 0.10,
            detail=f"{work * 1e4:.0f} ns / {small.frame * 1e4:.0f} ns a matmul",
        )  # fmt: skip
        yield Bar(
            f"order + legalize, time(1M) / time(100k), {mix}",
            large.total("order", "legalize") / work, 15,
        )  # fmt: skip
        yield Bar(f"peak memory of 1M matmuls, GiB, {mix}", large.peak_gib, 4)


def measure_verify(pto_opt, folder):
    for mix in ("bank", "packed"):
        progress(f"verify 100000 matmuls, {mix} mix")
        file = folder / f"verify-{mix}.mlir"
        with file.open("w") as out:
            generate.generate(out, 100_000, mix, mean=5)
        times = [PassTimes(pto_opt, file, ["legalize", "verify"]) for _ in range(5)]
        run = best(times, lambda run: run.total("verify") / run.total("legalize"))
        yield Bar(f"verify / legalize, 100k, {mix}", run.total("verify") / run.total("legalize"), 2)


def parse_seconds(pto_opt, file, *flags):
    """Seconds that pto-opt takes to parse `file`, verification included unless a flag says no."""
    command = [
        pto_opt, file, *flags, "--mlir-disable-threading", "--mlir-timing",
        "--mlir-timing-display=list", "--mlir-output-format=json", "-o", "/dev/null",
    ]  # fmt: skip
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return next(row["wall"]["duration"] for row in json.loads(done.stderr) if row["name"] == "Parser")


def measure_tiles(pto_opt, folder):
    for aliases in (False, True):
        spelling = "aliases" if aliases else "types written out"
        progress(f"verify 100000 tile operations, {spelling}")
        file = folder / "tiles.mlir"
        with file.open("w") as out:
            generate.generate_tiles(out, 100_000, aliases)
        without = min(
            parse_seconds(pto_opt, file, "--mlir-very-unsafe-disable-verifier-on-parsing") for _ in range(7)
        )
        verify = min(parse_seconds(pto_opt, file) for _ in range(7)) - without
        yield Bar(
            f"verify / parse, 100k tile operations, {spelling}", verify / without, 0.3,
            detail=f"{verify * 1e4:.0f} ns / {without * 1e4:.0f} ns an operation",
        )  # fmt: skip


# 25 x 20 tiles of the output, 200 steps of k each: 100,000 matmuls from one.
LARGE_MATMUL = """
func.func @main(%A: memref<3200x25600xbf16>, %B: memref<25600x10240xbf16>, %C: memref<3200x10240xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<3200x10240xf32>)
  linalg.matmul ins(%A, %B : memref<3200x25600xbf16>, memref<25600x10240xbf16>) outs(%C : memref<3200x10240xf32>)
  return
}
"""


def measure_pipeline(pto_opt, folder):
    progress("the whole pipeline on 100000 matmuls")
    file = folder / "pipeline.mlir"
    with file.open("w") as out:
        generate.generate(out, 100_000, "bank")
    run = best((PipelineTimes(pto_opt, file) for _ in range(3)), lambda run: run.work / run.frame)
    yield Bar("pipeline / (parse + print), 100k matmuls of pto", run.work / run.frame, 0.5)
    progress("the whole pipeline on one linalg.matmul of 100000 matmuls")
    source, result = folder / "linalg.mlir", folder / "result.mlir"
    source.write_text(LARGE_MATMUL)
    run = PipelineTimes(pto_opt, source, "unroll", result)
    # What comes out is what would be parsed and printed.
    frame = PipelineTimes(pto_opt, result).frame
    yield Bar("pipeline / (parse + print of the result), linalg to 100k", run.work / frame, 0.5)


def measure_loops(pto_opt, folder):
    """Loop nests as kernels have them: three loops, loads, a drain. And bare: two loops around a matmul."""
    nests = 10_000
    open_gemms = functools.partial(generate.generate_gemms, depth="%depth")
    kinds = (("GEMM", generate.generate_gemms), ("GEMM, open", open_gemms), ("bare", generate.generate_nests))
    for what, write in kinds:
        progress(f"legalize {nests} loop nests, {what}")
        file = folder / "nests.mlir"
        with file.open("w") as out:
            write(out, nests)
        times = [PassTimes(pto_opt, file, ["legalize"]) for _ in range(5)]
        run = best(times, lambda run: run.total("legalize") / run.frame)
        work = run.total("legalize")
        detail = f"{work * 1e9 / nests:.0f} ns a nest"
        yield Bar(f"legalize / (parse + print), 10k loop nests, {what}", work / run.frame, 0.15, detail=detail)


def measure_front(pto_opt, folder):
    for mix in ("bank", "packed"):
        runs = {}
        for matmuls, repeats in ((100_000, 3), (1_000_000, 1)):
            progress(f"place and schedule {matmuls} matmuls, {mix} mix")
            file = folder / f"front-{mix}-{matmuls}.mlir"
            with file.open("w") as out:
                generate.generate(out, matmuls, mix, unplaced=True)
            times = [PassTimes(pto_opt, file, ["alloc", "schedule"]) for _ in range(repeats)]
            runs[matmuls] = best(times, lambda run: run.total("alloc", "schedule") / run.frame)
            file.unlink()
        small, large = runs[100_000], runs[1_000_000]
        for name in ("alloc", "schedule"):
            work = small.total(name)
            detail = f"{work * 1e4:.0f} ns a matmul, {work / small.frame:.3f} of parse + print"
            figure = large.total(name) / work
            yield Bar(f"{PASSES[name]}, time(1M) / time(100k), {mix}", figure, 15, detail=detail)


def measure_validate(pto_opt, folder):
    for mix in ("bank", "packed"):
        progress(f"validate 100000 matmuls, {mix} mix")
        file = folder / f"validate-{mix}.mlir"
        with file.open("w") as out:
            generate.generate(out, 100_000, mix, mean=5)
        figures = []
        for _ in range(5):
            alone = PassTimes(pto_opt, file, ["legalize"]).total("legalize")
            both = PassTimes(pto_opt, file, ["legalize"], options="validate").total("legalize")
            figures.append((both - alone) / alone)
        yield Bar(f"validate / legalize, 100k, {mix}", min(figures), 10)


def measure_threads(pto_opt, folder):
    """One pass over many functions; on the module, so that its time is the time until all are done."""
    progress("legalize 200000 matmuls in 64 functions, with and without threads")
    file = folder / "functions.mlir"
    with file.open("w") as out:
        generate.generate(out, 200_000, "packed", functions=64, mean=5)
    runs = {
        threads: min(
            PassTimes(pto_opt, file, ["legalize"], on="builtin.module", threads=threads).total("legalize")
            for _ in range(5)
        )
        for threads in (False, True)
    }
    cores = len(os.sched_getaffinity(0))
    yield Bar(
        "one thread / all threads, legalize, 64 functions", runs[False] / runs[True], 1.4,
        at_least=True, detail=f"{cores} cores, {runs[False] * 1e3:.0f} ms / {runs[True] * 1e3:.0f} ms",
    )  # fmt: skip


def measure_in_process(arguments):
    """Built in memory, without text, as a compiler that embeds the passes would."""
    progress("5000000 matmuls built and legalized in one process")
    yield from rows_of([arguments.build_dir / "bin" / "pto-large-module", "5000000", "--json"])


def rows_of(command):
    """Bars printed by another bench as JSON lines: name, figure, bar, at_least, detail."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} failed")
    rows = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not rows:
        sys.exit(f"bench: {' '.join(map(str, command))} printed no row")
    for line in rows:
        yield Bar(**json.loads(line))


def measure_machine(folder, arguments):
    progress("the PE kernel against the peak of this processor, and against numpy")
    bench = ["cargo", "bench", "--quiet", "-p"]
    yield from rows_of([*bench, "pto-machine", "--bench", "pe", "--", "--json", f"--python={sys.executable}"])
    progress("a tile operation against the PE kernel")
    yield from rows_of([*bench, "pto-machine", "--bench", "tile", "--", "--json"])
    progress("pto-run against the TOSA reference model")
    tosa = [sys.executable, ROOT / "bench/peers/against_tosa.py", "--build-dir", arguments.build_dir]
    yield from rows_of([*tosa, "--work-dir", folder])


def measure_symbolic():
    progress("symbolic validation against the interpreter, on programs of the fuzzer")
    yield from rows_of(["cargo", "bench", "--quiet", "-p", "pto-testkit", "--bench", "symbolic", "--", "--json"])


def measure_clusters():
    progress("clustering against all pairs")
    yield from rows_of(["cargo", "bench", "--quiet", "-p", "pto-passes", "--bench", "clusters"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--only", choices=GROUPS, action="append")
    arguments = parser.parse_args()
    arguments.build_dir = arguments.build_dir.resolve()
    pto_opt = arguments.build_dir / "bin" / "pto-opt"
    if not pto_opt.exists():
        print(f"bench: {pto_opt} does not exist: run ./x build first", file=sys.stderr)
        sys.exit(2)
    held = True
    with tempfile.TemporaryDirectory(prefix="pto-bench-") as name:
        folder = Path(name)
        groups = {
            "passes": lambda: measure_passes(pto_opt, folder),
            "verify": lambda: measure_verify(pto_opt, folder),
            "tiles": lambda: measure_tiles(pto_opt, folder),
            "pipeline": lambda: measure_pipeline(pto_opt, folder),
            "loops": lambda: measure_loops(pto_opt, folder),
            "front": lambda: measure_front(pto_opt, folder),
            "validate": lambda: measure_validate(pto_opt, folder),
            "threads": lambda: measure_threads(pto_opt, folder),
            "in-process": lambda: measure_in_process(arguments),
            "symbolic": measure_symbolic,
            "machine": lambda: measure_machine(folder, arguments),
            "clusters": measure_clusters,
        }
        for group in arguments.only or groups:
            for bar in groups[group]():
                print(bar.line(), flush=True)
                held &= bar.holds()
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
