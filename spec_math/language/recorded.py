"""Laws of a model that were recorded once: the likeliest tokens of each, the rest spread evenly, kept in a folder.

Source: our own; what it costs is said at `Recorded`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.files.whole import replaced
from spec_math.mean import FLOAT

Ask = Callable[[Sequence[tuple[int, ...]]], Any]
"""A live model asked for the laws [n, V] after many prefixes at once."""

SHARD = 512
"""Laws after which they are written to a file."""

SECONDS = 20.0
"""After so long what was told is written too, so that a run that is killed loses no more than that and one answer."""


class Recorded:
    """A model that answers from a folder, asks a live model for what is missing, and writes down what it was told.

    The law kept is that of the `keep` likeliest tokens, in float32, and of what is left over spread evenly over all
    others. So a kept law is off by a total variation of at most its rest (plus 2^-24 of rounding), and whatever is said
    of these models is exact for models that are so near. One plain chain of L accepts i tokens with Σ Π min(t, d), a
    product of i kernels of which each moves by at most 2(r + r') in L1, r and r' the largest rests: its tokens per call
    move by at most L(L + 1)(r + r'). Runs that ask for the same prefixes need no live model any more, and one that was
    interrupted goes on where it was.

    Args:
        folder: where the laws are; it is made where it is missing.
        role: the name its files begin with.
        size: the number of tokens V.
        keep: how many tokens of each law are kept.
        ask: the live model; None answers from the folder alone.

    Raises:
        TypeError, ValueError: size or keep is not a positive integer.
        LookupError: a law is asked for that is not recorded, without a live model.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = Recorded(Path(folder), "target", 4, 2, lambda prefixes: [[0.5, 0.25, 0.125, 0.125]] * len(prefixes))
    ...     model((0,)).tolist(), model.largest_rest
    ([0.5, 0.25, 0.125, 0.125], 0.25)
    """

    def __init__(self, folder: Path, role: str, size: int, keep: int, ask: Ask | None = None) -> None:
        self.folder, self.role = folder, role
        self.size, self.keep = count(size, "size"), min(count(keep, "keep"), size)
        self._ask = ask
        self._kept: dict[tuple[int, ...], tuple[Any, Any]] = {}
        self._fresh: list[tuple[int, ...]] = []
        self._shards, self._written = 0, monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(folder.glob(f"{role}-*.npz")):
            self._read(file)

    def __call__(self, prefix: Sequence[int]) -> FLOAT:
        """Return the law [V] after a prefix."""
        return self.rows_after([tuple(prefix)])[0]

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def largest_rest(self) -> float:
        """The largest mass that any law has beyond its kept tokens: its total variation is at most that."""
        return max((self._rest(masses) for _, masses in self._kept.values()), default=0.0)

    def rows_after(self, prefixes: Sequence[tuple[int, ...]]) -> list[FLOAT]:
        """Return the laws [V] after many prefixes; those that are missing are asked for together."""
        missing = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in self._kept]
        if missing and self._ask is None:
            raise LookupError(
                f"{self.folder}: the {self.role} after a prefix of {len(missing[0])} tokens is not recorded; ask "
                "for what was recorded (samples, seed, budgets), or give the models once more"
            )
        if missing and self._ask is not None:
            for prefix, row in zip(missing, self._ask(missing), strict=True):
                self._kept[prefix] = self._compact(np.asarray(row, dtype=np.float64))
            self._fresh += missing
            if len(self._fresh) >= SHARD or monotonic() - self._written >= SECONDS:
                self.write()
        return [self._row(*self._kept[prefix]) for prefix in prefixes]

    def write(self) -> None:
        """Write down what is not in the folder yet."""
        self._written = monotonic()
        if not self._fresh:
            return
        sizes = np.array([len(prefix) for prefix in self._fresh], dtype=np.int64)
        tokens = np.array([token for prefix in self._fresh for token in prefix], dtype=np.int64)
        kept = np.stack([self._kept[prefix][0] for prefix in self._fresh])
        masses = np.stack([self._kept[prefix][1] for prefix in self._fresh])
        with replaced(self.folder / f"{self.role}-{self._shards:05d}.npz") as partial, partial.open("wb") as file:
            np.savez_compressed(file, sizes=sizes, tokens=tokens, kept=kept, masses=masses)
        self._shards += 1
        self._fresh = []

    def _read(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as stored:
            sizes, tokens, kept, masses = (stored[name] for name in ("sizes", "tokens", "kept", "masses"))
        if kept.shape[1:] != (self.keep,) or kept.max(initial=-1) >= self.size:
            raise ValueError(
                f"{file}: recorded with other sizes than V = {self.size}, {self.keep} kept; use a new folder"
            )
        ends = np.cumsum(sizes)
        for at, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
            self._kept[tuple(tokens[end - size : end].tolist())] = kept[at], masses[at]
        self._shards = max(self._shards, int(file.stem.rpartition("-")[2]) + 1)

    def _compact(self, row: FLOAT) -> tuple[Any, Any]:
        places = np.sort(np.argpartition(-row, self.keep - 1)[: self.keep]).astype(np.int32)
        return places, row[places].astype(np.float32)

    def _rest(self, masses: Any) -> float:
        return max(0.0, 1.0 - float(masses.sum(dtype=np.float64))) if self.keep < self.size else 0.0

    def _row(self, places: Any, masses: Any) -> FLOAT:
        others = self.size - self.keep
        row = np.full(self.size, self._rest(masses) / others if others else 0.0)
        row[places] = masses
        return row / row.sum()
