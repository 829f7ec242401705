"""Wrong results that the comparison of examples/models must find, and right ones that it must accept."""

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import bounds  # noqa: E402
import compare  # noqa: E402
import numpy as np  # noqa: E402


def is_refused(model, kind, inputs, expected, found):
    try:
        compare.compare(model, kind, inputs, expected, found)
    except compare.Failed:
        return True
    return False


def products(inputs, order):
    """The fp8 model in f32, the terms of each sum in `order`."""
    a, b = (array.astype(np.float32) for array in inputs)
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in order:
        total += np.outer(a[:, k], b[k])
    return total * np.float32(0.5)


def main():
    assert Path(sys.argv[1]).is_dir()
    model = compare.Model("fp8")
    small, normal = model.make_inputs("small", 1), model.make_inputs("normal", 1)
    terms = range(small[0].shape[1])
    right = products(small, terms)
    flipped = right.copy()
    flipped.view(np.int32)[3, 4] ^= 1
    assert not is_refused(model, "small", small, right, right)
    assert is_refused(model, "small", small, right, flipped)
    print("a bit is found")

    ascending, descending = products(normal, terms), products(normal, reversed(terms))
    wrong = ascending.copy()
    wrong[128:] = products(normal, list(terms)[128:])[128:]
    assert is_refused(model, "normal", normal, ascending, wrong)
    assert is_refused(model, "normal", normal, wrong, ascending)
    print("a wrong tile is found")

    assert not np.array_equal(ascending, descending)
    assert not is_refused(model, "normal", normal, ascending, descending)
    exact = bounds.MODELS["fp8"](*map(bounds.Approx.exact, normal))
    assert np.max(exact.error) < 1e-3 * np.sqrt(np.mean(exact.value**2))
    print("the bound holds what sums in another order give, and not much more")


if __name__ == "__main__":
    main()
