"""tile_files.py make|check DIR: arguments for tiles.test, and what must have become of them."""

import sys
from pathlib import Path

import numpy as np


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "halves.npy", np.full((4, 8), 0x3800, dtype=np.uint16))  # 0.5
    np.save(folder / "halves-as-floats.npy", np.full((4, 8), 0.5, dtype=np.float16))
    np.save(folder / "nibbles.npy", np.array([[0x0F, 1, 7]], dtype=np.uint8))
    np.save(folder / "words.npy", np.array([[3, -1, 5]], dtype=np.int64))
    np.save(folder / "c.npy", np.full((4, 4), 7.0, dtype=np.float32))
    np.save(folder / "bytes.npy", np.zeros((4, 8), dtype=np.uint8))
    # Rows 0 to 39 of a Shared left operand.
    np.save(folder / "shared.npy", np.repeat(np.arange(40, dtype=np.float32), 2).reshape(40, 2))
    np.save(folder / "ones.npy", np.ones((2, 8), dtype=np.float32))


def check(folder):
    for path in sorted(folder.glob("*.npy")):
        array = np.load(path)
        print(f"{path.stem}: {array.dtype} {array.shape} {array.ravel()[:3].tolist()}")


{"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
