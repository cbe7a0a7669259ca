"""How fast `compare` streams, against reading the same files and exponentiating them, and in how much memory.

Run: python -m benchmarks.comparison [positions]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.table import Row, show
from spec_math import SCHEMES
from spec_math.files.law_files import open_laws
from spec_math.studies.positions.comparison import chunk_rows, compare
from spec_math.studies.positions.stream import from_files

V = 32_000


def write_logits(folder: Path, positions: int) -> list[Path]:
    """Write two float32 files of logits: a target, and a draft that is the target with noise."""
    rng = np.random.default_rng(0)
    paths = [folder / "target.npy", folder / "draft.npy"]
    shape = (positions, V)
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    with paths[0].open("wb") as target, paths[1].open("wb") as draft:
        for file in (target, draft):
            np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, positions, 100):
            block = rng.standard_normal((min(100, positions - start), V), dtype=np.float32) * 3
            target.write(block.tobytes())
            draft.write((block + rng.standard_normal(block.shape, dtype=np.float32)).tobytes())
    return paths


def peak_gigabytes(paths: list[Path]) -> float:
    """Compare once in a process of its own, and return the most memory that it held."""
    code = (
        "import resource, sys; from pathlib import Path; from benchmarks.comparison import compare_seconds;"
        "compare_seconds([Path(p) for p in sys.argv[1:]]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 2**20


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
        memory = peak_gigabytes(paths)
    ratios = [ours / theirs for ours, theirs, _ in times]
    single = [ours / theirs for ours, _, theirs in times]
    what = f"compare, {positions:,} positions × V = {V:,}"
    spread = f"{min(ratios):.3g}..{max(ratios):.3g}; {median(t[0] for t in times) / positions * 1e6:.0f} µs a position"
    other = f"{min(single):.3g}..{max(single):.3g}"
    return [
        Row(what, median(ratios), 13, "×", spread, "reading and exponentiating in float64, as sums are taken"),
        Row(
            what, median(single), float("inf"), "×", other, "for comparison: exponentiating in float32, the files' type"
        ),
        Row(f"{what}: peak memory", memory, 1, "GB", "", "a process of its own, mapped pages of the files included"),
    ]


if __name__ == "__main__":
    show(rows(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000), "compare")
