"""Turns the order of the functions of a printed module around."""

import re
import sys

text = sys.stdin.read()
functions = list(re.finditer(r"^  func\.func .*?^  }\n", text, flags=re.MULTILINE | re.DOTALL))
if len(functions) < 2:
    sys.exit("expected at least two functions")
first, last = functions[0].start(), functions[-1].end()
middle = "".join(function.group() for function in reversed(functions))
if len(middle) != last - first:
    sys.exit("expected nothing between the functions")
sys.stdout.write(text[:first] + middle + text[last:])
