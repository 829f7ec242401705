"""files.py make|check DIR: arguments for files.mlir, and what must have become of them."""

import sys
from pathlib import Path

import numpy as np

BF16_ONES = np.full((2, 2), 0x3F80, dtype=np.uint16)


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(folder / "matrix.npy", matrix)
    np.save(folder / "columns.npy", np.asfortranarray(matrix))
    np.save(folder / "wrong-shape.npy", matrix.T.copy())
    np.save(folder / "wrong-type.npy", matrix.astype(np.int32))
    np.save(folder / "words.npy", BF16_ONES)
    np.save(folder / "void.npy", BF16_ONES.view("V2"))
    np.save(folder / "three.npy", np.array(3, dtype=np.int64))
    np.save(folder / "bytes.npy", np.array([-1, 2, 3], dtype=np.int8))
    (folder / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00")


def check(folder):
    expected = {
        "arg0": np.array([[0, 2, 2], [6, 4, 10]], dtype=np.float32),
        "arg1": BF16_ONES.view("V2"),
        "arg3": np.array([-1, 2, 3], dtype=np.int8),
        "arg4": np.array([7, 0], dtype=np.int32),
        "res0": np.array(9.5, dtype=np.float64),
        "res1": np.array([True, False]),
    }
    found = {path.stem: np.load(path) for path in sorted(folder.glob("*.npy"))}
    assert list(found) == list(expected), list(found)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, (name, found[name].dtype)
        assert found[name].tobytes() == array.tobytes(), (name, found[name])
    print(f"{len(expected)} files are as expected")


{"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
