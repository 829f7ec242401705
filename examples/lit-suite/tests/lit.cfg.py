"""The suite of a project that uses pto. PTO_PREFIX says where pto is installed, LLVM_PREFIX where LLVM."""

import os
import sys

import lit.formats

config.name = "a suite that uses pto"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]

prefix = os.environ["PTO_PREFIX"]
sys.path.append(os.path.join(prefix, "share", "pto", "lit"))
import pto_kit

pto_kit.use(config, lit_config, prefix, os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22"))
