"""Reads the remark of pto-schedule for one block: its time may be so many times the lower bound, and not more
than before."""

import re
import sys

found = re.search(r"takes (\d+) cycles, (\d+) in the order it had; no order takes less than (\d+)", sys.stdin.read())
if not found:
    sys.exit("no remark")
takes, had, bound = map(int, found.groups())
if not bound <= takes <= min(had, float(sys.argv[1]) * bound):
    sys.exit(f"takes {takes}, had {had}, bound {bound}")
print(f"near enough: takes {takes}, had {had}, bound {bound}")
