"""For the lit suites of other projects: substitutions for an installed pto.

    # lit.cfg.py
    import sys
    sys.path.append("<prefix>/share/pto/lit")
    import pto_kit
    pto_kit.use(config, lit_config, prefix="<prefix>", llvm="/usr/lib/llvm-22")

| substitution | stands for |
|---|---|
| `%pto_opt` | `pto-opt`: mlir-opt with everything linked in |
| `%pto_run` | `pto-run`, the interpreter |
| `%pto_plugin` | the path of PTOPlugin.so |
| `%mlir_opt_pto` | the stock `mlir-opt` with the plugin loaded |

FileCheck and `not` are found in the LLVM given. A stock mlir-opt goes on where a plugin does not load, and
a suite that checks little would pass: so `use` runs it once, and ends the suite if the passes are missing.
"""

import os
import subprocess

_PROBE = """
func.func @probe(%w: memref<1x1xf32, #pto.mem<sbuf>>, %x: memref<1x1xf32, #pto.mem<sbuf>>,
                 %y: memref<1x1xf32>) {
  %a = pto.psum_alloc bank(0) : memref<1x1xf32, #pto.mem<psum>>
  pto.tmatmul ins(%w, %x : memref<1x1xf32, #pto.mem<sbuf>>, memref<1x1xf32, #pto.mem<sbuf>>)
      outs(%a : memref<1x1xf32, #pto.mem<psum>>)
  pto.copy %a, %y : memref<1x1xf32, #pto.mem<psum>>, memref<1x1xf32>
  return
}
"""


def use(config, lit_config, prefix, llvm):
    """Adds the substitutions for the pto installed in `prefix` and the LLVM in `llvm` to `config`."""
    tools = {name: os.path.join(prefix, "bin", name) for name in ("pto-opt", "pto-run")}
    plugin = os.path.join(prefix, "lib", "PTOPlugin.so")
    stock = os.path.join(llvm, "bin", "mlir-opt")
    for path in (*tools.values(), plugin, stock):
        if not os.path.exists(path):
            lit_config.fatal(f"pto_kit: there is no {path}")
    loaded = f"{stock} --load-pass-plugin={plugin}"
    _guard(lit_config, loaded)
    config.environment["PATH"] = os.pathsep.join(
        [os.path.join(llvm, "bin"), config.environment["PATH"]]
    )
    config.substitutions += [
        ("%pto_opt", tools["pto-opt"]),
        ("%pto_run", tools["pto-run"]),
        ("%pto_plugin", plugin),
        ("%mlir_opt_pto", loaded),
    ]


def _guard(lit_config, loaded):
    """Ends the suite if the plugin does not load: mlir-opt itself would go on."""
    run = subprocess.run(
        [*loaded.split(), "--pto-legalize-acc"],
        input=_PROBE,
        capture_output=True,
        text=True,
        check=False,
    )
    if "acc<start|stop>" not in run.stdout:
        lit_config.fatal(f"pto_kit: the plugin did not load:\n{run.stderr}")
