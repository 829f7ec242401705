"""Checks that a file is a well-formed Chrome trace: python3 check_trace.py FILE. Prints what is in it.

The rules are those of the Trace Event Format: every event has the fields of its phase, times ascend, slices
of a thread nest, every thread that is used has a name, every arrow has one beginning and one end of one
category and name, bound to the slices that begin there, and does not lead back in time.
"""

import collections
import json
import sys


# What an event of a phase has, beyond `ph`, `pid` and `name`.
FIELDS = {
    "M": {"args"},
    "X": {"cat", "tid", "ts", "dur"},
    "s": {"cat", "tid", "ts", "id"},
    "f": {"cat", "tid", "ts", "id", "bp"},
    "C": {"ts", "args"},
    "i": {"cat", "tid", "ts", "s", "args"},
}


def check_fields(event):
    phase = event["ph"]
    absent = (FIELDS[phase] | {"pid", "name"}) - event.keys()
    assert not absent, f"no {absent}: {event}"
    for name in ["pid", "tid", "ts", "dur", "id"]:
        assert isinstance(event.get(name, 0), int) and event.get(name, 0) >= 0, event
    # An end without it is bound to the next slice, not to the one it points at.
    assert phase != "f" or event["bp"] == "e", event


def check_nesting(thread, slices):
    around = []
    for start, end in slices:
        while around and around[-1] <= start:
            around.pop()
        assert not around or end <= around[-1], f"{thread}: {start}-{end} crosses {around[-1]}"
        around.append(end)


def check_arrows(ends, slices):
    for number, (starts, finishes) in ends.items():
        assert len(starts) == len(finishes) == 1, f"arrow {number} has {len(starts)}, {len(finishes)} ends"
        assert starts[0]["ts"] <= finishes[0]["ts"], f"arrow {number} leads back"
        assert all(starts[0][key] == finishes[0][key] for key in ["cat", "name"]), f"arrow {number} has two names"
        for event in [*starts, *finishes]:
            thread = (event["pid"], event["tid"])
            assert event["ts"] in slices[thread], f"arrow {number} begins or ends outside of a slice"


def main(path):
    with open(path) as file:
        trace = json.load(file)
    threads, names = collections.defaultdict(list), {}
    arrows = collections.defaultdict(lambda: ([], []))
    counts, last = collections.Counter(), 0
    for event in trace["traceEvents"]:
        check_fields(event)
        phase, thread = event["ph"], (event["pid"], event.get("tid"))
        counts[phase] += 1
        if phase == "M":
            if event["name"] in ("thread_name", "process_name"):
                key = thread if event["name"] == "thread_name" else event["pid"]
                names[key] = event["args"]["name"]
            continue
        assert event["ts"] >= last, f"time goes back from {last}: {event}"
        last = event["ts"]
        if phase == "X":
            assert event["dur"] >= 0, event
            threads[thread].append((event["ts"], event["ts"] + event["dur"]))
        elif phase in "sf":
            arrows[event["id"]][phase == "f"].append(event)
        elif phase == "C":
            cells = event["args"].values()
            assert min(cells) >= 0 and sum(cells) <= 128 * 512, event
        else:
            assert phase == "i" and event["s"] == "t", event
    for thread, slices in threads.items():
        assert names.get(thread) and names.get(thread[0]), f"{thread} has no name"
        check_nesting(names[thread], slices)
    check_arrows(arrows, {thread: {start for start, _ in slices} for thread, slices in threads.items()})
    used = sorted(names[thread] for thread in threads)
    print("threads:", ", ".join(used))
    print(f"slices: {counts['X']}, arrows: {len(arrows)}, marks: {counts['i']}, counters: {counts['C']}")
    print("instructions:", trace["otherData"]["instructions"], "cycles:", trace["otherData"]["cycles"])


main(sys.argv[1])
