"""How often sampled intervals miss the truth, and how often right traces are refuted, over many simulations.

Run from the project's folder: python -m benchmarks coverage
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.table import Row, show
from spec_math.mean import Mean, of_independent, of_strata
from spec_math.studies.traces.table import claims
from spec_math.traces import merge
from spec_math.traces.recorder import as_shard
from spec_math.traces.shard_audit import TOLERANCE, audit_opened

SURPRISE = 1e-6
"""The chance that a promise that is kept looks broken: a bound is the binomial quantile of that."""

LAWS: tuple[tuple[str, float, Callable[[np.random.Generator, Any], Any]], ...] = (
    ("an even coin", 1 / 2, lambda rng, n: (rng.random(n) < 1 / 2).astype(float)),
    ("one in fifty", 1 / 50, lambda rng, n: (rng.random(n) < 1 / 50).astype(float)),
    ("uniform", 1 / 2, lambda rng, n: rng.random(n)),
    ("narrow", 1 / 2, lambda rng, n: 0.45 + 0.1 * rng.random(n)),
    ("skewed", 1 / 16, lambda rng, n: rng.random(n) ** 15),
)


def rate_row(name: str, missed: int, runs: int, promised: float, told: str) -> Row:
    """Return a rate of misses beside the most that is no accident where each run misses with `promised` at most."""
    most = int(stats.binom.isf(SURPRISE, runs, promised))
    return Row(name, missed / runs, most / runs, "", f"{missed} of {runs:,}", told)


def misses(found: list[Mean], truth: float) -> int:
    """Count the intervals that the truth is outside of, but for a rounding."""
    return sum(not low - 2.0**-40 <= truth <= high + 2.0**-40 for low, high in (one.interval for one in found))


def rows() -> list[Row]:
    """Simulate every promise."""
    return [*independent(), *strata(), *traces()]


def independent(runs: int = 4_000) -> list[Row]:
    """Intervals of 99 % by bets, beside those by the normal limit of means."""
    found: list[Row] = []
    for size in (5, 40, 400):
        worst, normal, widths = 0, 0, (0.0, 0.0)
        for number, (_, truth, draw) in enumerate(LAWS):
            rng = np.random.default_rng([size, number])
            draws = draw(rng, (runs, size))
            estimates = [of_independent(row, 0, 1) for row in draws]
            worst = max(worst, misses(estimates, truth))
            reach = stats.norm.isf(0.005) * draws.std(axis=1, ddof=1) / size**0.5
            normal = max(normal, int((abs(draws.mean(axis=1) - truth) > reach + 2.0**-40).sum()))
            ours = float(np.mean([high - low for low, high in (one.interval for one in estimates)]))
            widths = widths[0] + ours / len(LAWS), widths[1] + float(2 * reach.mean()) / len(LAWS)
        told = f"worst of {len(LAWS)} laws; the normal limit misses {normal / runs:.3f} at {widths[1]:.3f} wide, these "
        found.append(rate_row(f"means of {size}, 99 %", worst, runs, 0.01, f"{told}are {widths[0]:.3f}"))
    return found


def strata(runs: int = 4_000) -> list[Row]:
    """Intervals of 99 % of means over strata."""
    found: list[Row] = []
    truth = float(np.mean([mean for _, mean, _ in LAWS]))
    for repeats in (2, 8, 40):
        rng = np.random.default_rng(repeats)
        tables = [np.stack([draw(rng, repeats) for *_, draw in LAWS], axis=1) for _ in range(runs)]
        missed = misses([of_strata(table, 0, 1) for table in tables], truth)
        found.append(rate_row(f"means of {len(LAWS)} strata, {repeats} each, 99 %", missed, runs, 0.01, ""))
    return found


def traces(runs: int = 2_000, length: int = 400) -> list[Row]:
    """Right traces under laws that change with every row, each looked at after every row: any of three claims."""
    rng = np.random.default_rng(1)
    refuted = dict.fromkeys((0.3, 0.05, 0.01), 0)
    for _ in range(runs):
        summary = merge([audit_opened(right_trace(rng, length), TOLERANCE, length)])
        for alpha in refuted:
            refuted[alpha] += any(claim.refuted for claim in claims(summary, alpha))
    told = f"{length} rows, a look at each"
    return [rate_row(f"right traces refuted, alpha {alpha:g}", refuted[alpha], runs, alpha, told) for alpha in refuted]


def right_trace(rng: np.random.Generator, length: int, size: int = 8) -> Any:
    """Return a trace of single drafts that are verified right, in float32."""
    logits = np.log(rng.dirichlet(np.full(size, 0.5), (2, length))).astype(np.float32)
    masses = np.exp(logits.astype(np.float64))
    t, d = masses / masses.sum(axis=2, keepdims=True)
    row = np.arange(length)
    drafted = drawn(rng, d)
    accepted = rng.random(length) * d[row, drafted] < t[row, drafted]
    emitted = np.where(accepted, drafted, drawn(rng, np.maximum(t - d, 0)))
    zero = np.zeros(length, dtype=np.int64)
    ids = {"drafted": drafted, "emitted": emitted, "accepted": accepted.astype(np.int64)}
    places = {"request": zero, "position": row, "depth": zero}
    return as_shard({"target_logits": logits[0], "draft_logits": logits[1], **ids, **places}, 1)


def drawn(rng: np.random.Generator, masses: Any) -> Any:
    """Return one token from each row of masses [n, V]."""
    sums = masses.cumsum(axis=1)
    return (rng.random((len(masses), 1)) * sums[:, -1:] < sums).argmax(axis=1)


if __name__ == "__main__":
    sys.exit(not show(rows(), "Coverage"))
