"""A stream of positions: pairs of float laws [n, V], from files or from models, each row checked before it is used."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec_math import distribution
from spec_math.arrays import SUM_BOUND, count
from spec_math.files.law_files import LawFile, LawFileError, open_laws
from spec_math.invariants import SHIFT_INVARIANCE, Watch
from spec_math.language import Corpus, NGram, documentation
from spec_math.language.context_tree import windows
from spec_math.mean import FLOAT
from spec_math.studies.arguments import spaced

SHIFT = 512.0
"""What is added to all logits of a row to take their softmax again."""

SHIFTED = 8
"""Rows of a file of logits whose softmax is taken again, evenly spaced."""


class Batch(NamedTuple):
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

    def laws(self, wanted: Container[int]) -> Iterator[tuple[FLOAT, FLOAT]]:
        """Yield the laws [V] of target and draft at each position that is wanted, in order."""
        for batch in self.batches(8):
            for place, (t, d) in enumerate(zip(batch.targets, batch.drafts, strict=True), batch.start):
                if place in wanted:
                    yield t / t.sum(), d / d.sum()


def from_files(
    target: LawFile, draft: LawFile, logits: bool, temperatures: tuple[float, float] = (1.0, 1.0)
) -> Positions:
    """Return the positions of two files of one shape, as probabilities or as logits, divided by the temperatures.

    Probabilities must be laws within the bound of their type in the file; logits may hold −inf, for mass 0.

    Raises:
        LawFileError: the shapes differ; while streaming, a row that is not a probability distribution, with its
            position.
        BrokenInvariantError: while streaming, a softmax changes when all its logits are raised by one number.
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
            yield Batch(start, t, d, error, logs if logits else None)
            start += len(chunks[0])

    return Positions(*target.shape, batches, f"{target.path} and {draft.path}")


def from_rows(
    targets: Callable[[int, int], FLOAT], drafts: Callable[[int, int], FLOAT], shape: tuple[int, int]
) -> Positions:
    """Return the positions of two functions (start, stop) -> laws [stop − start, V], as models give them."""

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


def _exponentials(chunk: Any, heat: float, into: tuple[FLOAT, FLOAT], place: tuple[LawFile, int]) -> None:
    """Fill (logit − largest)/heat and its exponential: a row's largest is 1, whatever is added to all its logits.

    The two may be one array, which is then filled with the exponentials.
    """
    logs, masses = into
    np.copyto(logs, chunk, casting="unsafe")
    largest = logs.max(axis=1)
    faulty = np.flatnonzero(~np.isfinite(largest))  # NaN too
    if len(faulty):
        raise LawFileError(f"{place[0].path}: position {place[1] + faulty[0]}: {_logit_fault(logs[faulty[0]])}")
    with np.errstate(over="ignore"):  # a logit that is lower by more than floats hold has mass 0
        np.subtract(logs, largest[:, None], out=logs)
        if heat != 1.0:
            logs /= heat
    np.exp(logs, out=masses)


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
        cure = "half precision cannot hold probabilities: store logits and pass --logits"
    return f"masses stored as {dtype} must sum to 1 within {bound:.2g}; these sum to 1 {gap:+.3g}; {cure}"


TAKES = (
    "[target.|draft.]temperature, top_k, top_p or min_p, or union.top_k, each with =VALUE, separated by commas, such "
    "as target.temperature=0.7,draft.top_k=50"
)
MOST = 50
"""The most values of a sweep."""


@dataclass(frozen=True)
class Side:
    """The filters of one side's laws, in this order; None leaves a rule out."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None


@dataclass(frozen=True)
class Filters:
    """The filters of both sides; `union` then restricts both to so many best tokens of either."""

    target: Side = field(default_factory=Side)
    draft: Side = field(default_factory=Side)
    union: int | None = None

    def put(self, name: str, value: float) -> Filters:
        """Return these with one value put: a rule of one side, target.top_p, or of both, top_p, or union.top_k.

        Raises:
            ValueError, TypeError: no such name, or a value that the rule does not take.
        """
        if name == "union.top_k":
            return replace(self, union=count(_whole(value), name))
        side, dot, rule = name.rpartition(".")
        if rule not in ("temperature", "top_k", "top_p", "min_p") or side not in ("", "target", "draft") or dot == name:
            raise ValueError(f"a filter is one of {TAKES}; got {name!r}")
        given: dict[str, Any] = {rule: _filter_value(name, rule, value)}
        sides = [side] if side else ["target", "draft"]
        return replace(self, **{one: replace(getattr(self, one), **given) for one in sides})


def parsed_filters(texts: Sequence[str]) -> Filters:
    """Read --filter, which may be given several times.

    Raises:
        ValueError, TypeError: no such rule, or a value that it does not take.
    """
    found = Filters()
    for part in ",".join(texts).split(",") if texts else ():
        name, _, value = part.strip().partition("=")
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"--filter takes {TAKES}; got {part.strip()!r}") from None
        found = found.put(name, number)
    return found


class Sweep(NamedTuple):
    """A filter that takes several values in turn."""

    name: str
    values: tuple[float, ...]

    @property
    def label(self) -> str:
        """The name in words."""
        side, _, rule = self.name.rpartition(".")
        rule = rule.replace("_", "-")
        return f"{rule} of the {side}" if side in ("target", "draft") else f"{rule} of {side or 'both'}"


def parsed_sweep(text: str) -> Sweep:
    """Read --sweep, NAME=FROM:TO:HOW MANY, both ends included.

    Raises:
        ValueError, TypeError: no such filter, or values that it does not take.
    """
    name, _, numbers = text.partition("=")
    try:
        low, high, many = (float(part) for part in numbers.split(":"))
        steps = _whole(many)
    except (ValueError, OverflowError):
        low, high, steps = 0.0, -1.0, 0
    if not (2 <= steps <= MOST and -inf < low < high < inf):
        raise ValueError(
            f"--sweep takes NAME=FROM:TO:HOW MANY, 2 to {MOST} values with both ends, such as "
            f"draft.temperature=0.5:1.5:5, where NAME is as in --filter; got {text!r}"
        )
    values = tuple(round(low + (high - low) * step / (steps - 1), 10) for step in range(steps))
    for value in values:
        _ = Filters().put(name, value)
    return Sweep(name, values)


def filtered(positions: Positions, filters: Filters, heated: bool = False) -> Positions:
    """Return positions with their laws [V] filtered; `heated` where positive temperatures have been taken of logits.

    Raises:
        ValueError: while streaming, top_k exceeds the vocabulary, or the draft has no mass on the union.
    """
    rules = [_rules(side, heated) for side in (filters.target, filters.draft)]
    if any(rules):
        inner = positions.batches

        def batches(rows: int) -> Iterator[Batch]:
            for batch in inner(rows):
                t, d = map(_filtered, (batch.targets, batch.drafts), rules)
                yield Batch(batch.start, t, d, batch.sum_error)

        positions = replace(positions, batches=batches)
    return positions if filters.union is None else compressed(positions, filters.union)


def filtered_files(target: str | Path, draft: str | Path, logits: bool, filters: Filters) -> Positions:
    """Return the positions of two files, filtered.

    A temperature divides logits, where files hold them; T = 0 is the first maximum of the law.

    Raises:
        LawFileError, ValueError, BrokenInvariantError: as `open_laws`, `from_files` and `filtered`.
    """
    heats = filters.target.temperature or 1.0, filters.draft.temperature or 1.0
    return filtered(from_files(open_laws(target), open_laws(draft), logits, heats), filters, heated=logits)


def _rules(side: Side, heated: bool) -> list[tuple[Callable[..., Any], Any]]:
    """Return the rules that change a law, in their order, each with its value."""
    heat = side.temperature if side.temperature == 0 or (not heated and side.temperature != 1) else None
    every = {**vars(side), "temperature": heat}
    return [(getattr(distribution, rule), value) for rule, value in every.items() if value is not None]


def _filtered(masses: FLOAT, rules: list[tuple[Callable[..., Any], Any]]) -> FLOAT:
    x = masses / masses.sum(axis=1, keepdims=True)
    for rule, value in rules:
        x = rule(x, value)
    return x


def _filter_value(name: str, rule: str, value: float) -> float | int:
    if rule == "top_k":
        return count(_whole(value), name)
    if rule == "temperature" and not 0 <= value < inf:
        raise ValueError(f"{name} must be finite and >= 0; got {value:g}")
    if rule == "top_p" and not 0 < value <= 1:
        raise ValueError(
            f"{name} must lie above 0 and not above 1; got {value:g}; top_k=1 keeps the likeliest token alone"
        )
    if rule == "min_p" and not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1; got {value:g}")
    return value


def _whole(value: float) -> Any:
    return int(value) if value == int(value) else value


TARGET_ORDER, DRAFT_ORDER = 5, 2


class DefaultModels(NamedTuple):
    """The corpus, the target (order 5) and the draft (order 2) learnt from its training part."""

    corpus: Corpus
    target: NGram
    draft: NGram


@cache
def default_models() -> DefaultModels:
    """Learn both models, once in a process."""
    corpus = documentation()
    learn = [NGram.learn(corpus.training, order, corpus.size) for order in (TARGET_ORDER, DRAFT_ORDER)]
    return DefaultModels(corpus, *learn)


def default_positions(limit: int = 2000) -> Positions:
    """Return evenly spaced held-out positions, at most `limit`, each with both models' laws there."""
    found = default_models()
    target, draft = (_contexts(found.corpus.held_out, order, limit) for order in (TARGET_ORDER, DRAFT_ORDER))
    result = from_rows(
        lambda start, stop: found.target.rows(target[start:stop]),
        lambda start, stop: found.draft.rows(draft[start:stop]),
        (len(target), found.corpus.size),
    )
    source = (
        f"n-gram models of orders {TARGET_ORDER} and {DRAFT_ORDER} learnt from CPython's documentation, "
        f"at {len(target):,} held-out words"
    )
    return replace(result, source=source, names=found.corpus.names)


def _contexts(tokens: Any, order: int, limit: int) -> Any:
    contexts, _ = windows(tokens, order)
    return contexts[spaced(len(contexts), limit)]
