"""Recorded logits along 20 documents of 500 tokens at V = 32,000 in bfloat16: all candidates' values, time and memory.

Run from the project's folder: python -m benchmarks.recorded_text
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import process_time

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

from benchmarks.table import Row
from spec_math.block_level.lengths.recorded_text import recorded
from spec_math.block_level.methods import METHODS
from spec_math.files.law_files import open_laws
from spec_math.studies.positions.stream import from_files

DOCUMENTS, LENGTH, SIZE = 20, 500, 32_000
LOOKAHEAD, KS = 8, (2, 4, 8)
CHUNK = 8
SECONDS, GIGABYTES = 60.0, 1.0


def write(folder: Path) -> None:
    """Write logits of target and draft, half of a position's spread in common, and tokens that the target draws."""
    rng, positions = np.random.default_rng(0), DOCUMENTS * LENGTH
    noise = rng.normal(size=(3, 4 * SIZE)).astype(np.float32)
    rows = np.empty((2, positions, SIZE), ml_dtypes.bfloat16)
    tokens = np.empty(positions, np.int64)
    for position in range(positions):
        both, *own = (
            row[start : start + SIZE] for row, start in zip(noise, rng.integers(3 * SIZE, size=3), strict=True)
        )
        # From sharp positions to flat ones, and drafts from near to far, as of language models.
        sharp, apart = 2.5 + 2.5 * rng.random(), 0.4 * rng.random()
        for side in range(2):
            rows[side, position] = sharp * (both + apart * own[side])
        masses = np.exp(rows[0, position].astype(np.float64))
        tokens[position] = np.searchsorted(np.cumsum(masses), rng.random() * masses.sum())
    for side, name in enumerate(("target", "draft")):
        save_file({"logits": rows[side]}, folder / f"{name}.safetensors")
    np.save(folder / "tokens.npy", tokens)


def measure(folder: Path) -> dict[str, float]:
    """Return the processor seconds from both files to all candidates' values, and the peak of resident memory."""
    tokens = np.load(folder / "tokens.npy")
    candidates = [(method, k) for method in METHODS if method.along for k in ((1,) if method.one_chain else KS)]
    before, found = process_time(), []
    files = [open_laws(folder / f"{name}.safetensors") for name in ("target", "draft")]
    rows = ((batch.targets, batch.drafts) for batch in from_files(files[0], files[1], logits=True).batches(CHUNK))
    for values in recorded(rows, tokens, [LENGTH] * DOCUMENTS, candidates, LOOKAHEAD):
        found.append([values.accepted[one].sum(1).mean() for one in candidates])
    seconds = process_time() - before
    for (method, k), mean in zip(candidates, np.mean(found, axis=0), strict=True):
        print(f"{method.name}, k = {k}: {1 + mean:.3f}", file=sys.stderr)
    return {"seconds": seconds, "bytes": getrusage(RUSAGE_SELF).ru_maxrss * 1024}


def measured() -> list[Row]:
    with TemporaryDirectory() as folder:
        part = "from benchmarks import recorded_text as own; from pathlib import Path; import sys, json; "
        for call in ("own.write({0})", "print(json.dumps(own.measure({0})))"):
            told = subprocess.run(
                [sys.executable, "-c", part + call.format("Path(sys.argv[1])"), folder],
                check=True,
                capture_output=True,
                text=True,
            )
        found = json.loads(told.stdout)
    return found


if __name__ == "__main__":
    print(measured())
