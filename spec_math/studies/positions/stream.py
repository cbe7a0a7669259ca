"""A stream of positions: pairs of float laws [n, V], from files or from models, each row checked before it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from spec_math.arrays import SUM_BOUND
from spec_math.files.law_files import LawFile, LawFileError
from spec_math.invariants import SHIFT_INVARIANCE, Watch
from spec_math.kernels import Delayed, kernel

SHIFT = 512.0
"""What is added to all logits of a row to take their softmax again."""

SHIFTED = 8
"""Rows of a file of logits whose softmax is taken again, evenly spaced."""

FLOAT = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Batch:
    """Consecutive positions: float64 masses [n, V], not yet divided by their sums, and the first one's number.

    `target_logs` are the natural logarithms of the target's masses, −inf for mass 0, where they are known: the largest
    mass is then 1, and its logarithm 0.
    """

    start: int
    targets: FLOAT
    drafts: FLOAT
    sum_error: float
    target_logs: FLOAT | None = None


@dataclass(frozen=True)
class Positions:
    """Positions to compare at: how many, V, names of tokens where known, and a way to go through them again."""

    count: int
    size: int
    batches: Callable[[int], Iterator[Batch]]
    source: str
    names: Sequence[str] | None = None


def from_files(
    target: LawFile, draft: LawFile, logits: bool, temperatures: tuple[float, float] = (1.0, 1.0)
) -> Positions:
    """Return the positions of two files of one shape, as probabilities or as logits (divided by the temperatures).

    Probabilities must be laws within the bound of their type in the file; logits may hold −inf, for mass 0.

    Raises:
        LawFileError: the shapes differ; while streaming, a row that is not a probability distribution, with its
            position.
        BrokenInvariantError: while streaming, a softmax changes when all its logits are raised by one number.

    >>> import tempfile, pathlib
    >>> from spec_math.files.law_files import open_laws
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "laws.npy"
    >>> np.save(path, np.array([[0.0, 0.0]], dtype=np.float32))
    >>> batch = next(from_files(open_laws(path), open_laws(path), logits=True).batches(8))
    >>> batch.targets.tolist()
    [[1.0, 1.0]]
    >>> folder.cleanup()
    """
    if target.shape != draft.shape:
        raise LawFileError(
            f"target and draft must have one shape [positions, V]; {target.path} has {list(target.shape)}, "
            f"{draft.path} has {list(draft.shape)}"
        )

    def batches(rows: int) -> Iterator[Batch]:
        # The same buffers for all chunks: fresh memory for each would cost more than the exponentials.
        buffers = np.empty((3, rows, target.shape[1]))
        start, step = 0, max(1, target.shape[0] // SHIFTED)
        for chunks in zip(target.chunks(rows), draft.chunks(rows), strict=True):
            error, (t, d, logs) = 0.0, buffers[:, : len(chunks[0])]
            sides = zip((target, draft), chunks, ((logs, t), (d, d)), temperatures, strict=True)
            for file, chunk, into, heat in sides:
                held = into[1]
                if logits:
                    _exponentials(chunk, heat, into, (file, start))
                    for row in range(-start % step, len(chunk), step):
                        _watch_shift(chunk[row : row + 1], heat, held[row : row + 1], (file, start + row))
                else:
                    np.copyto(held, chunk, casting="unsafe")
                    error = max(error, _checked(held, file, start))
                    _heated(held, heat)
            yield Batch(start, t, d, error, logs if logits else None)
            start += len(chunks[0])

    return Positions(*target.shape, batches, f"{target.path} and {draft.path}")


def from_rows(
    targets: Callable[[int, int], FLOAT], drafts: Callable[[int, int], FLOAT], shape: tuple[int, int]
) -> Positions:
    """Return the positions of two functions (start, stop) -> laws [stop − start, V], as models give them.

    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> [batch.start for batch in from_rows(half, half, (3, 2)).batches(2)]
    [0, 2]
    """

    def batches(rows: int) -> Iterator[Batch]:
        for start in range(0, shape[0], rows):
            stop = min(start + rows, shape[0])
            t, d = targets(start, stop), drafts(start, stop)
            error = max(float(np.abs(t.sum(axis=1) - 1).max()), float(np.abs(d.sum(axis=1) - 1).max()))
            yield Batch(start, t, d, error)

    return Positions(*shape, batches, "models")


def compressed(positions: Positions, top: int) -> Positions:
    """Restrict each position to the union of the `top` best tokens of both laws, as SpecTr Fig. 5 does.

    The rows [n, 2·top] hold the union's masses divided by their sums, then zeros.

    Raises:
        ValueError: the draft has no mass on the union.

    >>> rows = lambda start, stop: np.array([[0.5, 0.25, 0.25]])
    >>> next(compressed(from_rows(rows, rows, (1, 3)), 1).batches(1)).targets.tolist()
    [[1.0, 0.0]]
    """

    def batches(rows: int) -> Iterator[Batch]:
        for batch in positions.batches(rows):
            kept = np.zeros((2, len(batch.targets), 2 * top))
            for row, (t, d) in enumerate(zip(batch.targets, batch.drafts, strict=True)):
                union = np.union1d(np.argsort(-t, kind="stable")[:top], np.argsort(-d, kind="stable")[:top])
                kept[0, row, : len(union)] = t[union] / t[union].sum()
                kept[1, row, : len(union)] = d[union] / d[union].sum()
            yield Batch(batch.start, kept[0], kept[1], batch.sum_error)

    return Positions(positions.count, 2 * top, batches, f"{positions.source}, top {top} of both")


def heated(positions: Positions, temperature: float) -> Positions:
    """Return positions whose draft laws are taken at a temperature.

    >>> rows = lambda start, stop: np.array([[0.25, 0.75]])
    >>> next(heated(from_rows(rows, rows, (1, 2)), 0.5).batches(1)).drafts.round(6).tolist()
    [[0.111111, 1.0]]
    """

    def batches(rows: int) -> Any:
        for batch in positions.batches(rows):
            powers = (batch.drafts / batch.drafts.max(axis=1, keepdims=True)) ** (1 / temperature)
            yield replace(batch, drafts=powers)

    return replace(positions, batches=batches)


def _exponentials(chunk: Any, heat: float, into: tuple[FLOAT, FLOAT], place: tuple[LawFile, int]) -> None:
    """Fill (logit − largest)/heat and its exponential: a row's largest is 1, whatever is added to all its logits.

    The two may be one array, which is then filled with the exponentials.
    """
    logs, masses = into
    single = chunk.dtype == np.float32
    if not single:
        np.copyto(logs, chunk, casting="unsafe")
    # In the file's own type where NumPy is fast in it: half the bytes to look at.
    largest = (chunk if single else logs).max(axis=1).astype(np.float64)
    for row, value in enumerate(largest.tolist()):
        if not isfinite(value):  # NaN too
            fault = _logit_fault(np.asarray(chunk[row], dtype=np.float64))
            raise LawFileError(f"{place[0].path}: position {place[1] + row}: {fault}")
    with np.errstate(over="ignore"):  # a logit that is lower by more than floats hold has mass 0
        if single:
            _lower(chunk, largest, logs)
        else:
            np.subtract(logs, largest[:, None], out=logs)
        if heat != 1.0:
            logs /= heat
    np.exp(logs, out=masses)


@kernel
def _lowered(logits: Any, largest: Any, logs: Any) -> None:
    for row in range(logits.shape[0]):
        for token in range(logits.shape[1]):
            logs[row, token] = np.float64(logits[row, token]) - largest[row]


def _lowered_by_rows(logits: Any, largest: Any, logs: Any) -> None:
    np.copyto(logs, logits)
    np.subtract(logs, largest[:, None], out=logs)


_lower = Delayed(_lowered, _lowered_by_rows, calls=6000)
"""Fill float64 logarithms from float32 logits and the largest of each row, in one pass over what is large."""


def _watch_shift(chunk: Any, heat: float, held: FLOAT, place: tuple[LawFile, int]) -> None:
    """Take the softmax of one row of logits again, all raised by one number.

    Raising rounds a logit x by (|x| + SHIFT)·2^-53, and so does taking the largest off again; a mass of the softmax
    changes by at most the largest change of an exponent, times 2, and by the rounding of its sum.

    Raises:
        BrokenInvariantError: the two laws differ by more than that.
    """
    row, again = chunk[0].astype(np.float64) + SHIFT, np.empty((1, held.shape[1]))
    _exponentials(row[None], heat, (again, again), place)
    law, shifted = (masses[0] / masses[0].sum() for masses in (held, again))
    finite = np.abs(row[np.isfinite(row)])
    bound = (8 * (float(finite.max()) + SHIFT) / heat + held.shape[1] + 8) * 2.0**-53
    watch = Watch()
    watch.at_most(SHIFT_INVARIANCE, str(place[0].path), (np.abs(law - shifted).max(), 0.0), bound, place[1])
    watch.hold()


def _logit_fault(row: FLOAT) -> str:
    if np.isnan(row).any():
        return f"logits must not be NaN; token {int(np.flatnonzero(np.isnan(row))[0])} is"
    if (row == np.inf).any():
        return f"logits must be below +inf; token {int(np.flatnonzero(row == np.inf)[0])} is +inf"
    return "every logit is −inf, so no token has mass"


def _checked(held: FLOAT, file: LawFile, start: int) -> float:
    least, gaps = held.min(axis=1), np.abs(held.sum(axis=1) - 1)
    bound = SUM_BOUND[file.dtype]
    # Written so that NaN fails.
    bad = ~((least >= 0) & (gaps <= bound))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise LawFileError(f"{file.path}: position {start + row}: {_law_fault(held[row], file.dtype, bound)}")
    return float(gaps.max())


def _law_fault(row: FLOAT, dtype: str, bound: float) -> str:
    if not np.isfinite(row).all():
        token = int(np.flatnonzero(~np.isfinite(row))[0])
        return f"masses must be finite; token {token} has {row[token]}"
    if row.min() < 0:
        token = int(row.argmin())
        return f"masses must be >= 0; token {token} has {row[token]:.6g}; if these are logits, pass --logits"
    gap = row.sum() - 1
    cure = "if these are logits, pass --logits; weights must be divided by their sum before they are stored"
    if dtype in ("float16", "bfloat16"):
        cure = "half precision cannot hold a law: store logits and pass --logits"
    return f"masses stored as {dtype} must sum to 1 within {bound:.2g}; these sum to 1 {gap:+.3g}; {cure}"


def _heated(held: FLOAT, heat: float) -> None:
    if heat != 1.0:
        held /= held.max(axis=1, keepdims=True)
        np.power(held, 1 / heat, out=held)
