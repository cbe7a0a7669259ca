"""Recorded logits along 20 documents of 500 tokens at V = 32,000 in bfloat16: time and memory to an advice.

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

from benchmarks.table import Row, show
from spec_math.studies.advice.recording import AdviceRequest
from spec_math.studies.advice.study import study
from spec_math.studies.arguments import no_progress

DOCUMENTS, LENGTH, SIZE = 20, 500, 32_000
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


def measure(folder: Path) -> list[float]:
    """Return the processor seconds from the files to an advice, and the gigabytes held at the most."""
    before, files = process_time(), [str(folder / f"{name}.safetensors") for name in ("target", "draft")]
    documents = ",".join([str(LENGTH)] * DOCUMENTS)
    found = study(AdviceRequest(*files, str(folder / "tokens.npy"), documents, logits=True), no_progress)
    assert found.finding.startswith("Take "), found.finding
    return [process_time() - before, getrusage(RUSAGE_SELF).ru_maxrss / 2**20]


def rows() -> list[Row]:
    """Measure every promise, in processes of their own: what writes the files holds them whole."""
    given = "20 documents × 500 tokens, V = 32,000, bfloat16; every method on chains, K ≤ 8, L ≤ 8, all starts"
    code = "import sys; from benchmarks.recorded_text import *; print({}(Path(sys.argv[1])))"
    with TemporaryDirectory() as folder:
        _, done = (
            subprocess.run(
                [sys.executable, "-c", code.format(name), folder], check=True, capture_output=True, text=True
            )
            for name in ("write", "measure")
        )
    seconds, held = json.loads(done.stdout)
    return [
        Row(f"a recording to an advice: {given}", seconds, SECONDS, "s", "processor time", "the stated bound"),
        Row("the most memory that it held", held, GIGABYTES, "GB", "resident", "the stated bound"),
    ]


if __name__ == "__main__":
    sys.exit(0 if show(rows(), "Recorded logits to tokens per call") else 1)
