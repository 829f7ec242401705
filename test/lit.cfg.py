"""How the tests run. Every line of a test ends in FileCheck, diff, `not` or
-verify-diagnostics, so that it can fail."""

import os
import shutil

import lit.formats

config.name = "pto"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pto_binary_dir, "test")

# FileCheck, not, diff, mlir-tblgen and the like are those of the LLVM that the
# project is built with, never what PATH has.
config.environment["PATH"] = os.pathsep.join(
    [config.llvm_tools_dir, config.environment["PATH"]]
)


def built(*path):
    return os.path.join(config.pto_binary_dir, *path)


config.substitutions += [
    ("%pto_opt", built("bin", "pto-opt")),
    ("%pto_run", built("bin", "pto-run")),
    ("%pto_lsp_server", built("bin", "pto-lsp-server")),
    ("%pto_translate", built("bin", "pto-translate")),
    ("%capi_test", built("test", "bin", "pto-capi-test")),
    ("%functions_test", built("test", "bin", "pto-functions-test")),
    ("%mdbook", built("tools", "bin", "mdbook")),
    ("%plugin", built("lib", "PTOPlugin.so")),
    ("%foreign_dialect", built("test", "lib", "foreign-dialect.so")),
    ("%mlir_opt", os.path.join(config.llvm_tools_dir, "mlir-opt")),
    ("%build_dir", config.pto_binary_dir),
    ("%llvm_prefix", os.path.dirname(config.llvm_tools_dir)),
    ("%cmake", config.cmake),
    ("%cargo", config.cargo),
    ("%source_dir", config.pto_source_dir),
    ("%build_dir", config.pto_binary_dir),
    ("%tablegen_include", config.tablegen_include),
    # Makes each case of a test once for every variant of the matmul.
    (
        "%each_matmul",
        f"{config.python} {config.test_source_root}/dialect/Inputs/each_matmul.py",
    ),
    ("%python", config.python),
]

# The timeline page is tested in a browser where there is one. `./x test` installs it.
if any(map(shutil.which, ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])):
    config.available_features.add("chromium")
else:
    lit_config.warning("no chromium: the timeline page is NOT tested in a browser")

# `./x test` installs mdBook under the build folder.
if os.path.exists(built("tools", "bin", "mdbook")):
    config.available_features.add("mdbook")
else:
    lit_config.warning("no mdbook in the build folder: the site is NOT built")
