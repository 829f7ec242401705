"""Compares, for each case of a test, the remark of pto-schedule, the cycles of pto-run and the expected ones.

The trace of a run must end with it, and the busy cycles of each engine be those of its slices.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROLOGUE = """\
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!acc = memref<128x512xf32, #pto.mem<psum>>
!o = memref<128x512xf32, #pto.mem<sbuf>>
!h = memref<128x512xf32>
!hx = memref<128x512xbf16>
!hw = memref<128x128xbf16>
!w64 = memref<64x64xbf16, #pto.mem<sbuf>>
!x64 = memref<64x128xbf16, #pto.mem<sbuf>>
!c = memref<64x128xf32, #pto.mem<psum>>
func.func @main(%w: !w, %v: !w, %x: !x, %y: !x, %o: !o, %p: !o, %h: !h, %g: !h, %hx: !hx, %hw: !hw,
                %w64: !w64, %x64: !x64, %m: memref<4xf32>) {
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(1) : !acc
  %c = pto.psum_alloc bank(2) : !c
  %z = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
"""


# Every argument is a buffer of its own, except where a case says otherwise.
APART = re.sub(r"(%\w+: !\w+|memref<4xf32>)(?=[,)])", r"\1 {pto.noalias}", PROLOGUE)


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr}")
    return done


def cycles(pto_run, file, target):
    trace = file.with_suffix(".json")
    done = run([pto_run, file, f"--target={target}", "--random-inputs", "--stats=json", f"--trace={trace}"])
    stats, seen = json.loads(done.stdout), json.loads(trace.read_text())
    if seen["otherData"]["cycles"] != stats["cycles"]:
        sys.exit(f"the trace ends at {seen['otherData']['cycles']}, the run at {stats['cycles']}")
    slices = [event for event in seen["traceEvents"] if event.get("cat") == "instruction"]
    names = [event for event in seen["traceEvents"] if event["name"] == "thread_name" and event["pid"] == 1]
    threads = {event["tid"]: event["args"]["name"] for event in names}
    busy = {name: 0 for name in stats["engines"]}
    for event in slices:
        busy[threads[event["tid"]]] += event["dur"]
    counted = {name: engine["cycles"] for name, engine in stats["engines"].items()}
    if busy != counted:
        sys.exit(f"busy in the trace {busy}, in the counts {counted}")
    return stats["cycles"]


def main():
    pto_opt, pto_run, test = sys.argv[1:]
    cases = re.findall(r"^case (\d+) (\d+): (.*)\n((?:  .*\n)+)", Path(test).read_text(), re.MULTILINE)
    with tempfile.TemporaryDirectory() as name:
        before, after = Path(name) / "in.mlir", Path(name) / "out.mlir"
        for trn2, trn1, title, body in cases:
            prologue = PROLOGUE if "one buffer" in title else APART
            before.write_text(prologue + body + "  return\n}\n")
            for target, expected in (("trn2", int(trn2)), ("trn1", int(trn1))):
                schedule = f"--pto-schedule=target={target}"
                done = run([pto_opt, schedule, "--remarks-filter=pto.schedule", before, "-o", after])
                takes, had = map(int, re.search(r"takes (\d+) cycles, (\d+) in", done.stderr).groups())
                measured = cycles(pto_run, before, target), cycles(pto_run, after, target)
                if (had, had, takes) != (expected, *measured):
                    sys.exit(f"{title} ({target}): expected {expected}, said {had} -> {takes}, ran {measured}")
    print(f"cases: {len(cases)}, all equal")


if __name__ == "__main__":
    main()
