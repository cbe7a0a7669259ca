"""How fast recorded shards are audited on two cores, against reading them and exponentiating, and in how much memory.

Run: python -m benchmarks.traces [gigabytes]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.table import Row, show
from spec_math.traces import write_shard
from spec_math.traces.run import audit_shards, cluster
from spec_math.traces.shard_file import chunk_rows

V = 32_000
SHARDS, CORES = 8, 2


def write_shards(folder: Path, gigabytes: float, size: int = V, dtype: Any = np.float32) -> list[Path]:
    """Write shards of random logits: a target, and a draft that is the target with noise; a row in five has none."""
    rng = np.random.default_rng(0)
    rows = max(1, int(gigabytes * 1e9 / SHARDS / (2 * size * np.dtype(dtype).itemsize)))
    paths: list[Path] = []
    for number in range(SHARDS):
        target = rng.standard_normal((rows, size), dtype=np.float32) * 3
        draft = target + rng.standard_normal((rows, size), dtype=np.float32)
        tokens = (target + rng.gumbel(size=target.shape).astype(np.float32)).argmax(axis=1)
        drafted = np.where(np.arange(rows) % 5 == 4, -1, rng.integers(0, size, rows))
        columns = {
            "target_logits": target.astype(dtype),
            "draft_logits": draft.astype(dtype),
            "emitted": tokens,
            "drafted": drafted,
            "accepted": (tokens == drafted).astype(np.int64),
            "request": np.full(rows, number),
            "position": np.arange(rows),
            "depth": np.zeros(rows, dtype=np.int64),
        }
        paths.append(write_shard(folder / f"{number}.safetensors", columns, 4))
    return paths


def read_and_exponentiate(path: Path, size: int, dtype: Any) -> None:
    """Read a bare file from its beginning to its end and take exponentials in float32, in memory that is reused."""
    rows = 2 * chunk_rows(size)
    held, shown = np.empty((rows, size), dtype=dtype), np.empty((rows, size), dtype=np.float32)
    whole = memoryview(held.view(np.uint8)).cast("B")
    # The bytes of the header and of the integers are exponentiated too.
    with path.open("rb", buffering=0) as file, np.errstate(all="ignore"):
        while taken := file.readinto(whole):
            part = slice(0, max(1, taken // (size * held.itemsize)))
            if dtype is not np.float32:
                np.copyto(shown[part], held[part], casting="unsafe")
            np.exp(held[part] if dtype is np.float32 else shown[part], out=shown[part])


def floor_seconds(paths: Sequence[Path], cores: int, size: int = V, dtype: Any = np.float32) -> float:
    """Time bare reading and exponentiating of all files on so many threads."""
    start = perf_counter()
    with ThreadPoolExecutor(cores) as executor:
        list(executor.map(lambda path: read_and_exponentiate(path, size, dtype), paths))
    return perf_counter() - start


def audit_seconds(paths: Sequence[Path], cores: int) -> float:
    """Time the audit of all shards on so many threads."""
    start = perf_counter()
    with ThreadPoolExecutor(cores) as executor:
        audit_shards(paths, executor)
    return perf_counter() - start


def peak_gigabytes(paths: Sequence[Path], folder: Path) -> float:
    """Run the command, pictures and page included, in a process of its own: the most memory that it held (VmHWM)."""
    code = (
        "import re, sys; from pathlib import Path\nfrom spec_math.cli import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print('peak', re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    arguments = ["trace", *map(str, paths), "--out", str(folder), "--workers", str(CORES)]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout.rpartition("peak")[2]) / 2**20


def scaling(folder: Path, gigabytes: float) -> list[Row]:
    """Take one and two workers over a quarter, a half and all of the shards: what a gigabyte costs stays the same.

    Processor time is what is held to a bound: it tells what a worker adds also where other programs, or a quota, leave
    no second core. The clock on the wall is shown beside it.
    """
    paths = write_shards(folder, gigabytes)
    numbers = (SHARDS // 4, SHARDS // 2, SHARDS)
    costs = {(workers, n): _cost(paths[:n], workers) for workers in (1, CORES) for n in numbers}
    a_shard = gigabytes / SHARDS
    least = costs[1, numbers[0]][1] / (numbers[0] * a_shard)
    found: list[Row] = []
    for workers in (1, CORES):
        each = [costs[workers, n][1] / (n * a_shard) for n in numbers]
        spread = f"{each[0]:.3g}, {each[1]:.3g}, {each[2]:.3g} processor seconds a GB"
        name = f"traces: {workers} worker(s), 1/4, 1/2 and all of {gigabytes:g} GB: the dearest GB"
        found.append(Row(name, max(each) / least, 1.5, "×", spread, "one worker, a quarter"))
    walls = costs[1, SHARDS][0], costs[CORES, SHARDS][0]
    found.append(_gain("threads", walls, gigabytes))
    if find_spec("distributed") is not None:
        found.append(_gain("Dask workers", (_cluster_seconds(paths, 1), _cluster_seconds(paths, CORES)), gigabytes))
    return found


def _cost(paths: Sequence[Path], workers: int) -> tuple[float, float]:
    """Return the least seconds on the wall and on the processor of three audits."""
    pairs: list[tuple[float, float]] = []
    for _ in range(3):
        start = process_time()
        wall = audit_seconds(paths, workers)
        pairs.append((wall, process_time() - start))
    return min(wall for wall, _ in pairs), min(spent for _, spent in pairs)


def _gain(kind: str, walls: tuple[float, float], gigabytes: float) -> Row:
    spread = f"{walls[0] / gigabytes:.3g} and {walls[1] / gigabytes:.3g} s a GB on the wall"
    name = f"traces: two {kind} against one"
    return Row(name, walls[0] / walls[1], float("-inf"), "×", spread, "2, where two cores are free", at_least=True)


def _cluster_seconds(paths: Sequence[Path], workers: int) -> float:
    """Time the audit on a Dask cluster of processes, after a run that compiles in each."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
        cluster(local.scheduler_address) as executor,
    ):
        audit_shards(paths, executor)
        times: list[float] = []
        for _ in range(3):
            start = perf_counter()
            audit_shards(paths, executor)
            times.append(perf_counter() - start)
    return min(times)


def _processor_row(paths: Sequence[Path], gigabytes: float, repeats: int) -> Row:
    """Compare processor time, which other programs on the machine disturb less than the clock on the wall."""
    pairs: list[tuple[float, float]] = []
    for _ in range(repeats):
        start = process_time()
        audit_seconds(paths, CORES)
        middle = process_time()
        floor_seconds(paths, CORES)
        pairs.append((middle - start, process_time() - middle))
    ratios = [ours / theirs for ours, theirs in pairs]
    least = f"{min(ours for ours, _ in pairs) / gigabytes:.3g} s a GB"
    spread = f"{min(ratios):.3g}..{max(ratios):.3g}; {least}"
    return Row("traces: processor time on the same files", median(ratios), 2, "×", spread, "reading and exponentiating")


def _speed(folder: Path, gigabytes: float, size: int, dtype: Any, bound: float, repeats: int) -> tuple[Row, list[Path]]:
    paths = write_shards(folder, gigabytes, size, dtype)
    ours: Callable[[], float] = lambda: audit_seconds(paths, CORES)  # noqa: E731
    theirs: Callable[[], float] = lambda: floor_seconds(paths, CORES, size, dtype)  # noqa: E731
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(repeats)]
    ratios = [bare / audit for audit, bare in pairs]
    name = f"traces: speed on {gigabytes:g} GB of {np.dtype(dtype).name}, V = {size:,}, {CORES} threads"
    spread = f"{min(ratios):.3g}..{max(ratios):.3g}; best {gigabytes / min(a for a, _ in pairs):.3g} GB/s"
    against = f"reading and exponentiating, best {gigabytes / min(b for _, b in pairs):.3g} GB/s"
    return Row(name, median(ratios), bound, "×", spread, against, at_least=True), paths


def rows(gigabytes: float = 1.0, repeats: int = 9) -> list[Row]:
    """Measure, A B A B …, after a run of each that compiles and brings the files into memory."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        speed, paths = _speed(Path(folder), gigabytes, V, np.float32, 0.5, repeats)
        memory = peak_gigabytes(paths, Path(folder) / "out")
        found += [speed, _processor_row(paths, gigabytes, repeats)]
        found.append(Row("traces: peak memory of spec-math trace", memory, 1.0, "GB", "VmHWM", "the whole command"))
    for size, dtype in ((152_000, np.float32), (V, ml_dtypes.bfloat16)):
        with tempfile.TemporaryDirectory() as folder:
            found.append(_speed(Path(folder), gigabytes / 2, size, dtype, 0.5, repeats)[0])
    with tempfile.TemporaryDirectory() as folder:
        found += scaling(Path(folder), gigabytes)
    return found


if __name__ == "__main__":
    show(rows(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0), "traces")
