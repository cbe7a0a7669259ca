"""How fast `compare` streams, against reading the same files and exponentiating them, and in how much memory.

Run: python -m benchmarks.comparison [positions]
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.table import Row, show
from spec_math import SCHEMES
from spec_math.report.comparison import chunk_rows, compare
from spec_math.report.law_files import open_laws
from spec_math.report.positions import from_files

V = 32_000


def write_logits(folder: Path, positions: int) -> list[Path]:
    """Write two float32 files of logits: a target, and a draft that is the target with noise."""
    rng = np.random.default_rng(0)
    paths = [folder / "target.npy", folder / "draft.npy"]
    shape = (positions, V)
    files = [np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape) for path in paths]
    for start in range(0, positions, 100):
        block = rng.standard_normal((min(100, positions - start), V), dtype=np.float32) * 3
        files[0][start : start + 100] = block
        files[1][start : start + 100] = block + rng.standard_normal(block.shape, dtype=np.float32)
    for file in files:
        file.flush()
    return paths


def floor_seconds(paths: list[Path], dtype: type) -> float:
    """Read both files and exponentiate them, in chunks, into memory that is reused."""
    start = perf_counter()
    rows = chunk_rows(V)
    held = np.empty((rows, V), dtype=dtype)
    for chunks in zip(*(open_laws(path).chunks(rows) for path in paths), strict=True):
        for chunk in chunks:
            into = held[: len(chunk)]
            np.copyto(into, chunk)
            np.exp(into, out=into)
    return perf_counter() - start


def ignore(_done: int) -> None:
    """No progress bar."""


def compare_seconds(paths: list[Path]) -> float:
    """Compare all schemes for k = 1, 2, 4, 8 over both files."""
    start = perf_counter()
    files = [open_laws(path) for path in paths]
    compare(from_files(files[0], files[1], logits=True), SCHEMES, (1, 2, 4, 8), ignore)
    return perf_counter() - start


def rows(positions: int = 10_000, repeats: int = 3) -> list[Row]:
    """Measure, A B C A B C …, after a small run that compiles and one pass that brings the files into memory."""
    with tempfile.TemporaryDirectory() as folder:
        small = write_logits(Path(folder), 16)
        compare_seconds(small)
        paths = write_logits(Path(folder), positions)
        floor_seconds(paths, np.float64)
        times = [
            (compare_seconds(paths), floor_seconds(paths, np.float64), floor_seconds(paths, np.float32))
            for _ in range(repeats)
        ]
    ratios = [ours / theirs for ours, theirs, _ in times]
    single = [ours / theirs for ours, _, theirs in times]
    what = f"compare, {positions:,} positions × V = {V:,}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    spread = f"{min(ratios):.3g}..{max(ratios):.3g}; {median(t[0] for t in times) / positions * 1e6:.0f} µs a position"
    other = f"{min(single):.3g}..{max(single):.3g}"
    return [
        Row(what, median(ratios), 3, "×", spread, "reading and exponentiating in float64, as sums are taken"),
        Row(what, median(single), 3, "×", other, "reading and exponentiating in float32, the files' type"),
        Row(f"{what}: peak memory", memory, 1, "GB", "", "whole process, mapped pages of the files included"),
    ]


if __name__ == "__main__":
    show(rows(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000), "compare")
