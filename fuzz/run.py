#!/usr/bin/env python3
"""Feeds hostile input to pto-opt and pto-run and looks for what must never happen (see tools.py).

Targets: `modules`, mutated modules through every pass and the interpreter; `bytecode`, mutated bytecode;
`options`, random options of passes and of pto-run. Findings are made small and written to the folder given by
--findings; those of modules and bytecode belong into fuzz/regressions/modules once they are repaired.
`--replay FOLDER` runs the files of a folder again, which is what the test suite does with that folder.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from mutate import LONGEST, Mutator, mutated_bytes, seeds_of
from tools import Finding, Tools, keep

ROOT = Path(__file__).resolve().parent.parent
SEPARATOR = "\n// -----\n"
BATCH = 40

PIPELINES = [
    ["--verify-each"],
    ["--pto-legalize-acc", "--pto-verify-acc"],
    ["--pto-legalize-acc=validate"],
    ["--pto-legalize-acc=target=trn3 strict validate"],
    ["--pto-legalize-acc=target=trn1 stop=cluster"],
    ["--pto-legalize-acc=profile=naive", "--pto-legalize-acc"],
    ["--pto-legalize-acc=target=nogroup"],
    ["--pto-verify-acc=sticky target=trn3"],
    ["--pto-order-column-tiles", "--pto-mark-first", "--pto-legalize-acc", "--pto-legalize-acc"],
    ["--pto-order-column-tiles=restart-at-origin", "--pto-reset-acc"],
    ["--pto-mark-first", "--pto-reset-acc", "--pto-legalize-acc", "--pto-reset-acc"],
    ["--canonicalize", "--pto-legalize-acc", "--canonicalize"],
    ["--mlir-print-op-generic", "--pto-legalize-acc", "--remarks-filter=pto.*"],
    ["--emit-bytecode", "-o", "/dev/null"],
    ["--pto-legalize-acc=loops=peel validate", "--pto-legalize-acc=loops=peel"],
    ["--pto-legalize-acc=loops=memset collisions=leave target=trn3 validate"],
    ["--pto-legalize-acc=target=tile", "--pto-reset-acc=target=tile"],
    ["--pto-alloc-psum", "--pto-legalize-acc=validate", "--pto-verify-acc"],
    ["--pto-alloc-psum=pack", "--pto-schedule", "--pto-legalize-acc=target=trn3 validate"],
    ["--pto-alloc-psum=rotate banks=1-6", "--pto-schedule=shuffle-seed=7", "--pto-legalize-acc"],
    ["--pto-legalize-acc", "--pto-schedule", "--pto-legalize-acc", "--pto-verify-acc"],
    ["--pto-bufferize", "--convert-linalg-to-pto", "--pto-alloc-psum", "--pto-legalize-acc=validate"],
    ["--convert-linalg-to-pto=unroll tile-m=32 tile-n=64 tile-k=32", "--pto-alloc-psum=pack", "--pto-legalize-acc"],
    ["--pto-pipeline=validate"],
    ["--pto-pipeline=target=trn3 unroll strict", "--pto-verify-acc"],
    ["--pto-print-psum", "--pto-dump-deps"],
]
RUNS = [
    ["--random-inputs", "--max-steps=20000"],
    ["--random-inputs", "--max-steps=20000", "--dist=bits", "--target=trn3", "--hazards=warn", "--stats"],
    ["--max-steps=20000", "--model=sticky-pending", "--extent=dst", "--hazards=off", "--stats=json"],
    ["--random-inputs", "--max-steps=20000", "--model=reference", "--dist=normal"],
]
OPTIONS = {
    "pto-legalize-acc": ["target", "profile", "strict", "stop", "loops", "collisions", "validate", "report-dir"],
    "pto-verify-acc": ["target", "model", "extent", "sticky", "werror"],
    "pto-order-column-tiles": ["target", "restart-at-origin", "ignore-other-engines"],
    "pto-mark-first": ["target"],
    "pto-reset-acc": ["target"],
    "pto-alloc-psum": ["target", "rotate", "pack", "banks"],
    "pto-schedule": ["target", "shuffle-seed"],
    "convert-linalg-to-pto": ["target", "unroll", "tile-m", "tile-n", "tile-k"],
    "pto-bufferize": [],
    "pto-pipeline": ["target", "unroll", "no-schedule", "no-verify", "strict", "validate"],
    "pto-validate-against": ["against", "sticky"],
    "pto-print-psum": ["target"],
    "pto-dump-deps": ["file"],
}
RUN_OPTIONS = [
    "--entry", "--model", "--extent", "--target", "--input", "--random-inputs", "--seed", "--dist", "--output-dir",
    "--hazards", "--stats", "--max-steps", "--help", "--version", "-", "--",
]  # fmt: skip
VALUES = [
    "", " ", "=", "trn2", "trn3", "nogroup", "mariana", "sound", "naive", "chain", "cluster", "both", "written-bit",
    "true", "false", "order", "leave", "peel", "memset", "0-7", "7-0", "0", "-1", "18446744073709551616", "0=/dev/null", "0=", "99=x.npy", "=x", "\u00fc\u20ac",
    "/dev/null/x", "/proc/self", "{}", "{", "}", "'", '"', "a,b", "a=b c=d", "x" * 5000, "%s%n", "--", "json", "text",
]  # fmt: skip


def fuzz_modules(tools, rng, end):
    """Mutated modules, many in one run; what comes out of the passes is run by the interpreter."""
    valid, invalid = load_seeds(tools)
    mutator = Mutator(valid, invalid, rng)
    count = accepted = runs = 0
    while time.monotonic() < end:
        mutants = [mutator.mutant() for _ in range(BATCH)]
        count += BATCH
        command = [*tools.opt, "--split-input-file", *rng.choice(PIPELINES)]
        fault, output = tools.fault_and_output(command, SEPARATOR.join(mutants).encode())
        if fault:
            for mutant in mutants:
                what = tools.fault(command, mutant.encode())
                if what:
                    yield Finding(what, tuple(command), mutant.encode())
        results = results_of(output)
        accepted += len(results)
        for result in results:
            mutator.keep(result)
        for result in rng.sample(results, min(len(results), BATCH // 4)):
            command = [*tools.run, *rng.choice(RUNS)]
            runs += 1
            what = tools.fault(command, result.encode())
            if what:
                yield Finding(what, tuple(command), result.encode())
    print(f"{count} modules through pto-opt, {accepted} accepted, {runs} through pto-run")


def fuzz_bytecode(tools, rng, end):
    """Bytecode with bytes changed."""
    seeds = []
    for seed in rng.sample(load_seeds(tools)[0], 40):
        done = tools.output([*tools.opt, "--emit-bytecode", "-o", "-"], seed.encode())
        if done.returncode == 0:
            seeds.append(done.stdout)
    count = accepted = 0
    while time.monotonic() < end:
        mutant = mutated_bytes(rng.choice(seeds), rng)
        command = rng.choice([[*tools.opt, *rng.choice(PIPELINES)], [*tools.run, *rng.choice(RUNS)]])
        count += 1
        what, output = tools.fault_and_output(command, mutant)
        accepted += bool(output)
        if what:
            yield Finding(what, tuple(command), mutant)
    print(f"{count} files of bytecode, {accepted} with output")


def fuzz_options(tools, rng, end):
    """Random options on a module that is fine."""
    module = (ROOT / "test" / "plugin" / "Inputs" / "three.mlir").read_bytes()
    count = 0
    while time.monotonic() < end:
        if rng.random() < 0.5:
            name = rng.choice(list(OPTIONS))
            words = [
                f"{rng.choice(OPTIONS[name] or ['target'])}{rng.choice(['=', '', '=='])}{rng.choice(VALUES)}"
                for _ in range(rng.randrange(4))
            ]
            form = rng.choice(["--{0}={1}", "--{0}={1}", "--pass-pipeline=builtin.module({0}{{{1}}})"])
            command = [*tools.opt, form.format(name, " ".join(words))]
        else:
            words = [rng.choice(RUN_OPTIONS) + rng.choice(["", "=", "=" + rng.choice(VALUES)]) for _ in range(3)]
            command = [*tools.run, *(word for word in words if "--output-dir" not in word or "/dev/null" in word)]
        count += 1
        what = tools.fault(command, module)
        if what:
            yield Finding(what, tuple(command), module)
    print(f"{count} command lines")


def replay(tools, folder):
    """Every file of a folder through every pipeline; the faults."""
    files = sorted([*folder.glob("*.mlir"), *folder.glob("*.mlirbc")])
    if not files:
        sys.exit(f"fuzz: no file in {folder}")
    texts = SEPARATOR.join(file.read_text() for file in files if file.suffix == ".mlir").encode()
    for pipeline in PIPELINES:
        command = [*tools.opt, "--split-input-file", *pipeline]
        # All at once; one by one only to tell which it was.
        suspects = files if tools.fault(command, texts) else [file for file in files if file.suffix == ".mlirbc"]
        yield from faults_of(tools, command, suspects)
    for options in RUNS:
        yield from faults_of(tools, [*tools.run, *options], files)
    print(f"{len(files)} files")


def faults_of(tools, command, files):
    for file in files:
        what = tools.fault(command, file.read_bytes())
        if what:
            yield Finding(what, (*command, file.name), b"")


def load_seeds(tools):
    """Modules of the test suites: those that are valid, in both syntaxes, and the others."""
    files = sorted([*ROOT.glob("test/**/*.mlir"), *ROOT.glob("examples/**/*.mlir"), *ROOT.glob("fuzz/**/*.mlir")])
    invalid = [seed for file in files for seed in seeds_of(file.read_text()) if len(seed) < LONGEST]
    valid = []
    for syntax in ([], ["--mlir-print-op-generic"]):
        done = tools.output([*tools.opt, "--split-input-file", *syntax], SEPARATOR.join(invalid).encode())
        valid += [seed for seed in results_of(done.stdout.decode()) if len(seed) < LONGEST]
    return valid, invalid


def results_of(output):
    """The modules in the output of a run on several; nothing stands for those that were refused."""
    return [result for result in output.split(SEPARATOR.strip()) if "{" in result]


TARGETS = {"modules": fuzz_modules, "bytecode": fuzz_bytecode, "options": fuzz_options}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=TARGETS, default="modules")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time; it is printed")
    parser.add_argument("--findings", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="only run the files of a folder")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="pto-fuzz-") as folder:
        tools = Tools(arguments.build_dir.resolve(), Path(folder))
        if arguments.replay:
            findings = replay(tools, arguments.replay)
        else:
            seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
            print(f"seed {seed}", flush=True)
            findings = TARGETS[arguments.target](tools, random.Random(seed), time.monotonic() + arguments.seconds)
        known = set()
        for finding in findings:
            failures += finding.is_ours()
            if finding.what in known:
                continue
            known.add(finding.what)
            print(f"{finding.what}\n  {' '.join(finding.command)[:2000]}", flush=True)
            if finding.data:
                print(f"  {keep(tools, finding, arguments.findings / arguments.target)}", flush=True)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
