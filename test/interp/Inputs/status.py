"""status.py N COMMAND...: runs COMMAND, whose exit status must be N, and passes on what it prints."""

import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
found = subprocess.run(command, stderr=subprocess.STDOUT).returncode
if found != expected:
    sys.exit(f"expected exit status {expected}, found {found}: {' '.join(command)}")
