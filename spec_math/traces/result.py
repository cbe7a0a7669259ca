"""The result of auditing one shard, as sums: results of shards add up, in any order, on any machine."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any

import numpy as np

from spec_math.kernels import kernel
from spec_math.sequential.evidence import log_mean, log_shares

Table = np.ndarray[Any, Any]

_TABLES = ("by_depth", "by_place", "by_entropy", "by_repetition")
_ARRAYS = ("checks", "emitted", "drafted", "accepted", *_TABLES)


@dataclass(frozen=True, eq=False)
class ShardResult:
    """Sums over a shard. Log wealths: `emitted` [checks, 8, stakes, 2] after `checks` rows, `drafted` and `accepted` at
    the end; tables of sums; `counts` by their names; a few `examples` in words.
    """

    counts: dict[str, int]
    checks: Table
    emitted: Table
    drafted: Table
    accepted: Table
    by_depth: Table
    by_place: Table
    by_entropy: Table
    by_repetition: Table
    loop: tuple[int, int]
    predicted: bool
    verification: str
    size: int
    examples: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Return the result as the bytes of an .npz file: what is stored so that a later run need not do it again."""
        notes = vars(self).copy()
        arrays: dict[str, Any] = {name: notes.pop(name) for name in _ARRAYS}
        held = io.BytesIO()
        np.savez(held, notes=np.frombuffer(json.dumps(notes).encode(), dtype=np.uint8), **arrays)
        return held.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> ShardResult:
        """Read back what `to_bytes` made.

        Raises:
            ValueError, KeyError, OSError: these are no such bytes.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as held:
            notes = json.loads(held["notes"].tobytes())
            notes["loop"], notes["examples"] = tuple(notes["loop"]), tuple(notes["examples"])
            return cls(**notes, **{name: held[name] for name in _ARRAYS})


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log evidence against a null, and the curve (rows, log evidence) that led there, where it was followed.

    It is infinite where something of mass 0 happened. `highest` is what the alarm is raised by: by Ville's inequality
    the evidence ever reaches 1/α with probability α at most.
    """

    log: float
    curve: tuple[tuple[int, float], ...] = ()

    @property
    def highest(self) -> float:
        """The highest log evidence on the way."""
        return max([self.log, *(value for _, value in self.curve)])

    def alarms(self, alpha: float) -> bool:
        """True if the null is rejected with false alarms in at most a share `alpha` of all audits."""
        return self.highest >= -log(alpha)


@dataclass(frozen=True, eq=False)
class Summary:
    """All shards together: three evidences, tables, counts; which shards were left out, and why."""

    shards: int
    skipped: tuple[tuple[str, str], ...]
    counts: dict[str, int]
    emitted: Evidence
    drafted: Evidence
    accepted: Evidence | None
    by_depth: Table
    by_place: Table
    by_entropy: Table
    by_repetition: Table
    loop: tuple[int, int]
    verifications: tuple[str, ...]
    size: int
    examples: tuple[str, ...]

    def share(self, alpha: float) -> float:
        """Return the rate of false alarms of each claim, of which there are two or three, so that all keep to `alpha`.

        Each claim alone is refuted with the chance of its own rate at most; that any is, with their sum.
        """
        return alpha / (2 if self.accepted is None else 3)

    def lossy(self, alpha: float) -> bool:
        """True if the emitted tokens, or the drafts, break their contract; a right engine's do with `alpha` at most."""
        each = self.share(alpha)
        return self.emitted.alarms(each) or self.drafted.alarms(each) or self.counts["contradictions"] > 0


def merge(results: Sequence[ShardResult], skipped: Sequence[tuple[str, str]] = ()) -> Summary:
    """Add up the results of shards, in the order given; evidence is that of one long trace.

    Raises:
        ValueError: no result at all.

    >>> merge([])
    Traceback (most recent call last):
    ValueError: no shard could be audited
    """
    if not results:
        raise ValueError("no shard could be audited")
    counts = {name: sum(result.counts[name] for result in results) for name in results[0].counts}
    predicted = [result.accepted for result in results if result.predicted]
    return Summary(
        shards=len(results),
        skipped=tuple(skipped),
        counts=counts,
        emitted=_followed(results, counts["impossible tokens"]),
        drafted=_at_end([result.drafted for result in results], counts["impossible drafts"]),
        accepted=_at_end(predicted, 0) if predicted else None,
        **{name: _padded([getattr(result, name) for result in results]) for name in _TABLES},
        loop=max((result.loop for result in results), key=lambda found: found[0]),
        verifications=tuple(dict.fromkeys(result.verification for result in results)),
        size=max(result.size for result in results),
        examples=tuple(example for result in results for example in result.examples)[:20],
    )


def _followed(results: Sequence[ShardResult], impossible: int) -> Evidence:
    before = np.zeros_like(results[0].emitted[0])
    rows, curve = 0, [(0, 0.0)]
    for result in results:
        for check, wealth in zip(result.checks.tolist()[1:], result.emitted[1:], strict=True):
            curve.append((rows + check, log_evidence(before + wealth)))
        before = before + result.emitted[-1]
        rows += result.counts["rows"]
    return Evidence(inf if impossible else log_evidence(before), tuple(curve))


def _at_end(wealths: Sequence[Table], impossible: int) -> Evidence:
    return Evidence(inf if impossible else log_evidence(np.sum(np.stack(wealths), axis=0)))


def _padded(tables: Sequence[Table]) -> Table:
    """Add up tables of different lengths."""
    total = np.zeros((max(len(table) for table in tables), tables[0].shape[1]))
    for table in tables:
        total[: len(table)] += table
    return total


STAKES = np.array([63 / 64 * 2.0**-step for step in range(13)])
"""Shares of the wealth that are bet: a mean of size m and variance v is found at rate m²/2v by the stake m/v."""

_FLUSH = 32
"""Rows after which wealths are turned into logs: 64^−32 is still far from underflow."""


def log_wealths(s: np.ndarray[Any, Any], tolerance: float, checks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the log wealth [checks, features, stakes, 2] after so many rows of S [n, features], from 1 before.

    >>> log_wealths(np.full((10, 1), 0.5), 0.0, np.array([10]))[0, 0, 0].round(2).tolist()
    [4.0, -6.78]
    """
    found = np.zeros((len(checks), s.shape[1], len(STAKES), 2))
    _bet(np.ascontiguousarray(s), tolerance, STAKES / (1 + tolerance), checks, found)
    return found


def log_evidence(log_wealth: np.ndarray[Any, Any]) -> float:
    """Return the log of the average wealth, over all axes.

    >>> log_evidence(np.zeros((8, 13, 2)))
    0.0
    """
    return log_mean(log_wealth.ravel(), log_shares(log_wealth.size))


@kernel(nogil=True)
def _bet(s: Any, tolerance: float, stakes: Any, checks: Any, found: Any) -> None:
    count, features = s.shape
    wealth, logs = np.ones((features, len(stakes), 2)), np.zeros((features, len(stakes), 2))
    check = 0
    for unit in range(count + 1):
        at_check = check < len(checks) and checks[check] == unit
        if at_check or unit % _FLUSH == 0:
            logs += np.log(wealth)
            wealth[:] = 1.0
        while check < len(checks) and checks[check] == unit:
            found[check] = logs
            check += 1
        if unit == count:
            break
        for f in range(features):
            up, down = np.float64(s[unit, f]) - tolerance, -np.float64(s[unit, f]) - tolerance
            for j in range(len(stakes)):
                wealth[f, j, 0] *= 1.0 + stakes[j] * up
                wealth[f, j, 1] *= 1.0 + stakes[j] * down
