"""Of a document with an accumulation as its second instruction, that instruction alone."""

import json
import sys

document = json.load(sys.stdin)
function = document["functions"][0]
function["instructions"] = function["instructions"][1:2]
json.dump(document, sys.stdout)
