"""Counts what is in a graph: python3 check_dot.py FILE. Every end of an arrow must be a node, drawn once."""

import re
import sys

with open(sys.argv[1]) as file:
    lines = file.read().splitlines()
nodes = [match[1] for line in lines if (match := re.match(r'("[^"]+") \[label="#\d+ ', line))]
arrows = [match.groups() for line in lines if (match := re.match(r'("[^"]+") -> ("[^"]+") \[', line))]
boxes = [line for line in lines if line.startswith("subgraph ")]
assert len(nodes) == len(set(nodes)), "a node is drawn twice"
assert {end for arrow in arrows for end in arrow} <= set(nodes), "an arrow leads nowhere"
assert sum(line.count("{") - line.count("}") for line in lines) == 0, "boxes do not close"
print(f"nodes: {len(nodes)}, arrows: {len(arrows)}, boxes: {len(boxes)}")
