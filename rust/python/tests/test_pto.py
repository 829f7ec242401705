"""The package as a user sees it."""

import concurrent.futures

import ml_dtypes
import numpy as np
import pytest

import pto

KERNEL = """
!w = memref<128x4x{t}, #pto.mem<sbuf>>
!x = memref<128x8x{t}, #pto.mem<sbuf>>
!acc = memref<4x8xf32, #pto.mem<psum>>
func.func @main(%w: memref<128x4x{t}>, %x: memref<128x8x{t}>, %y: memref<4x8xf32>) {{
  %a = pto.psum_alloc bank(0) : !acc
  %ws = pto.sbuf_alloc : !w
  %xs = pto.sbuf_alloc : !x
  pto.copy %w, %ws : memref<128x4x{t}>, !w
  pto.copy %x, %xs : memref<128x8x{t}>, !x
  pto.tmatmul_acc ins(%a, %ws, %xs : !acc, !w, !x) outs(%a : !acc)
  pto.tmatmul_acc ins(%a, %ws, %xs : !acc, !w, !x) outs(%a : !acc)
  pto.copy %a, %y : !acc, memref<4x8xf32>
  return
}}
"""

WRONG = KERNEL.replace("outs(%a : !acc)\n", "outs(%a : !acc) acc<start>\n")


def test_legalize_gives_flags():
    legal = pto.legalize(KERNEL.format(t="bf16"), target="trn2", validate=True)
    assert legal.count("acc<start>") == 1
    assert legal.count("acc<stop>") == 1
    assert pto.verify(legal) == []


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("f32", np.float32),
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
        ("f8E5M2", ml_dtypes.float8_e5m2),
    ],
)
def test_run_computes(name, dtype):
    generator = np.random.default_rng(0)
    w = generator.integers(-2, 3, (128, 4)).astype(dtype)
    x = generator.integers(-2, 3, (128, 8)).astype(dtype)
    result = pto.run(pto.legalize(KERNEL.format(t=name)), {"arg0": w, 1: x})
    expected = 2 * (w.astype(np.float32).T @ x.astype(np.float32))
    assert result.ok
    assert result.outputs["arg2"].dtype == np.float32
    np.testing.assert_array_equal(result.outputs["arg2"], expected)
    np.testing.assert_array_equal(result.outputs["arg0"].astype(np.float32), w.astype(np.float32))
    assert result.stats["macs"] == 2 * 128 * 4 * 8


def test_integers_and_strided_inputs():
    text = KERNEL.format(t="i8").replace("f32", "i32")
    w = np.arange(128 * 4, dtype=np.int8).reshape(4, 128).T
    x = np.ones((128, 8), np.int8)
    result = pto.run(pto.legalize(text), {0: w, 1: x})
    np.testing.assert_array_equal(result.outputs["arg2"], 2 * (w.astype(np.int32).T @ x.astype(np.int32)))


def test_verify_names_both_sites():
    found = pto.verify(WRONG.format(t="f32"))
    errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
    assert errors[0].tag == "pto:wrong-mode"
    assert errors[0].notes
    line = int(errors[0].location.split(":")[0])
    assert "tmatmul_acc" in WRONG.splitlines()[line - 1]


def test_run_reports_hazards():
    result = pto.run(WRONG.format(t="f32"), random_inputs=True, seed=3)
    assert not result.ok
    tags = [hazard.tag for hazard in result.hazards if hazard.severity == "error"]
    assert tags == ["pto:diverging-read"]


def test_one_model():
    legal = pto.legalize(KERNEL.format(t="f32"))
    runs = [pto.run(legal, random_inputs=True, model=m) for m in ("reference", "written-bit", "eager-zero")]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.outputs["arg2"], runs[0].outputs["arg2"])


@pytest.mark.parametrize(
    "call",
    [
        lambda: pto.legalize("this is no module"),
        lambda: pto.legalize(KERNEL.format(t="f32"), target="trn9"),
        lambda: pto.legalize(KERNEL.format(t="f32"), no_such_option=1),
        lambda: pto.transform(KERNEL.format(t="f32"), "no-such-pass"),
        lambda: pto.run("func.func @f() { return", {}),
        lambda: pto.run(KERNEL.format(t="f32"), {7: np.zeros((1, 1), np.float32)}),
        lambda: pto.run(KERNEL.format(t="f32"), {0: np.zeros((2, 2), np.float32)}),
        lambda: pto.run(KERNEL.format(t="f32"), no_such_option=1),
        lambda: pto.run(KERNEL.format(t="f32"), model="written-bit"),
    ],
)
def test_errors_are_exceptions_with_diagnostics(call):
    with pytest.raises(pto.Error) as caught:
        call()
    assert caught.value.diagnostics
    assert str(caught.value)


def test_a_bad_key_is_a_value_error():
    with pytest.raises(ValueError, match="arg0"):
        pto.run(KERNEL.format(t="f32"), {"weights": np.zeros((128, 4), np.float32)})


def test_deep_nesting_is_no_crash():
    depth = 5000
    text = "func.func @main() { " + "scf.execute_region { " * depth + "scf.yield } " * depth + "return }"
    assert pto.legalize(text).count("scf.execute_region") == depth


def test_threads():
    texts = [KERNEL.format(t=t) for t in ("f32", "bf16", "f16")] * 4
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(pto.legalize, texts))
    assert together == [pto.legalize(text) for text in texts]
