"""The whole hunt in pieces: each is a file of results, written whole, so that a run goes on where it was stopped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from proofs_tests.soundness.hunt import STREAMS, Count, hunted, prepared

PIECE = {"coin": 2_500, "python": 500, "numpy": 500, "torch": 500}
"""How many cases a piece has."""


@dataclass(frozen=True)
class Piece:
    """Some cases of one stream, and the file that their results go to."""

    seed: int
    stream: str
    first: int
    size: int
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / f"{self.seed}-{self.stream}-{self.first}-{self.size}.json"


def pieces_of(seed: int, wanted: dict[str, int], folder: Path) -> list[Piece]:
    """Cut a run into pieces, the streams in turn, so that a run that is stopped has some of each."""
    cut = {
        stream: [
            Piece(seed, stream, first, min(PIECE[stream], wanted[stream] - first), folder)
            for first in range(0, wanted[stream], PIECE[stream])
        ]
        for stream in STREAMS
    }
    spread = [(place / len(listed), piece) for listed in cut.values() for place, piece in enumerate(listed)]
    return [piece for _, piece in sorted(spread, key=lambda one: (one[0], one[1].stream))]


def run(piece: Piece) -> Path:
    """Hunt through a piece and write what was found, whole or not at all."""
    start = process_time()
    torch = prepared(piece.stream)
    if torch is not None:
        torch.set_num_threads(1)
    count = hunted(piece.seed, piece.stream, range(piece.first, piece.first + piece.size), torch=torch)
    found = {
        "cases": [[*key, number] for key, number in sorted(count.cases.items())],
        "wrong": count.wrong,
        "seconds": process_time() - start,
    }
    piece.folder.mkdir(parents=True, exist_ok=True)
    unfinished = piece.file.with_suffix(".part")
    unfinished.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return unfinished.replace(piece.file)


def read(files: list[Path]) -> tuple[Count, float]:
    """Add up the results of pieces, and the seconds of processor time that they took."""
    total, seconds = Count(Counter()), 0.0
    for file in files:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        for *key, number in found["cases"]:
            total.cases[tuple(key)] += number
        total.wrong += [{**one, "seed": file.name.partition("-")[0]} for one in found["wrong"]]
        seconds += found["seconds"]
    return total, seconds


def run_all(pieces: list[Piece], processes: int) -> list[Path]:
    """Run the pieces that have no results yet, and return the files of all."""
    left = [piece for piece in pieces if not piece.file.exists()]
    done = sum(piece.size for piece in pieces) - sum(piece.size for piece in left)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task("cases", total=sum(piece.size for piece in pieces), completed=done)
        for piece, wrong in _finished(left, processes):
            progress.advance(task, piece.size)
            if wrong:
                progress.console.print(f"{wrong} wrong in {piece.file.name}")
    return [piece.file for piece in pieces]


def _finished(left: list[Piece], processes: int) -> Iterator[tuple[Piece, int]]:
    # Fresh processes: what one case leaves behind would else grow with the run. Python 3.11's ProcessPoolExecutor can
    # hang where it replaces a process that has done its tasks; a Pool does not.
    with get_context("spawn").Pool(processes, maxtasksperchild=20) as pool:
        of_file = {piece.file: piece for piece in left}
        for file in pool.imap_unordered(run, left):
            yield of_file[file], len(json.loads(file.read_text(encoding="utf-8"))["wrong"])
