"""Estimators of tokens per call before and after: from drafted chains, and along texts that the target writes.

`python -m proofs_tests.block_level.estimators` prints two tables in some two minutes: each estimator's mean against the
exact value on small tables, then mean, spread and processor time on both default pairs of models at three temperatures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from spec_math.arrays import exact
from spec_math.block_level.lengths import target_text
from spec_math.block_level.lengths.monte_carlo import Setting, sample
from spec_math.block_level.lengths.recorded_text import drawn
from spec_math.block_level.lengths.target_text import Text, accepted, bound
from spec_math.block_level.methods import METHODS, Method
from spec_math.language import Table
from spec_math.studies.frontier.contenders import at, defaults

BOUND = "bound by levels"
K, LOOKAHEAD = 4, 8
BEFORE, AFTER = 60, 400
"""Samples of each estimator on the default models."""

ROWS = (
    (["1/2", "1/3", "1/6"], ["1/6", "2/3", "1/6"], ["3/5", "1/5", "1/5"]),
    (["1/4", "1/2", "1/4"], ["1/3", "1/6", "1/2"], ["1/5", "1/5", "3/5"]),
)
"""Distributions of target and draft at the start, and after token 0 and 1; after token 2 those at the start."""


@dataclass(frozen=True)
class Estimate:
    """Values of single samples, and the processor seconds of one."""

    values: Any
    seconds: float

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.values.mean())

    @property
    def error(self) -> float:
        """The standard error."""
        return float(self.values.std(ddof=1) / len(self.values) ** 0.5)

    @property
    def spread(self) -> float:
        """The standard deviation of a sample."""
        return float(self.values.std(ddof=1))

    def gap(self, value: float) -> float:
        """The gap of the mean to a value, in standard errors."""
        return (self.mean - value) / max(self.error, 1e-9)

    @property
    def cost(self) -> float:
        """Seconds to a variance of 1: what an error of ±1 costs, and ±1/10 a hundred times that."""
        return self.spread**2 * self.seconds


def before(models: Any, prefixes: Sequence[Any], method: Method | None, k: int, lookahead: int) -> Estimate:
    """Return the estimator of drafted chains; of the bound its weights along a chain that the draft writes."""
    rng, start = np.random.default_rng(1), process_time()
    if method is not None:
        setting = Setting(models[0], models[1], prefixes, (k,), lookahead, in_turn=True)
        (found,) = sample(setting, len(prefixes), rng, methods=[method])
        values = 1 + found.accepted.sum(axis=1)
    else:
        text = drawn(models[1], models[0], prefixes, lookahead, rng)
        own = [rows[np.arange(len(rows)), text.tokens] for rows in (text.targets, text.drafts)]
        chains = Text(text.drafts, text.targets, text.tokens, text.windows, _ends(text), own[0])
        values = 1 + accepted(bound, chains, k).sum(axis=1)
    return Estimate(values, (process_time() - start) / len(values))


def after(models: Any, prefixes: Sequence[Any], method: Method | None, k: int, lookahead: int) -> Estimate:
    """Return the estimator along the target's texts: the same texts for every method, and for the bound."""
    rng, start = np.random.default_rng(2), process_time()
    text = drawn(models[0], models[1], prefixes, lookahead, rng)
    values = 1 + accepted((method and method.along) or bound, text, k).sum(axis=1)
    return Estimate(values, (process_time() - start) / len(values))


def _ends(text: Text) -> Any:
    """The positions that hold an end token, for which a window counts nothing."""
    ends = np.zeros(len(text.tokens) + 1, bool)
    ends[text.windows[~text.counted]] = True
    return ends[:-1]


def against_exact(samples: int = 3000) -> list[tuple[str, float, Estimate, Estimate]]:
    """Return (name, exact value, estimator before, estimator after) for every method and the bound, on small tables."""
    exactly = [_table([exact(row) for row in side]) for side in ROWS]
    floats = [_table([exact(row).astype(float) for row in side]) for side in ROWS]
    found = list[tuple[str, float, Estimate, Estimate]]()
    for method in (*(one for one in METHODS if one.along), None):
        k = 1 if method and method.one_chain else 3
        along = (method and method.along) or bound
        value = float(target_text.exact(along, exactly[0], exactly[1], (), 3, k))
        old, new = (way(floats, [()] * samples, method, k, 3) for way in (before, after))
        found.append((method.name if method else BOUND, value, old, new))
    return found


def _table(rows: Sequence[Any]) -> Table:
    return Table({(): rows[0], (0,): rows[1], (1,): rows[2], (2,): rows[0]}, context=1)


def on_defaults(heats: Sequence[float] = (1.0, 0.7, 0.4)) -> Any:
    """Yield (regime, name, estimator before, estimator after), and of the share that is missing to the bound."""
    for name, pair in defaults():
        for heat in heats:
            regime = at(name, pair, heat)
            models = regime.models.target, regime.models.draft
            rng = np.random.default_rng(0)
            starts = [pair.prefixes[int(place)] for place in rng.integers(len(pair.prefixes), size=AFTER)]
            bounds = before(models, starts, None, K, LOOKAHEAD), after(models, starts, None, K, LOOKAHEAD)
            made = bounds
            for method in METHODS:
                if method.along and not method.name.startswith("optimal plan"):
                    k = 1 if method.one_chain else K
                    made = (
                        before(models, starts[:BEFORE], method, k, LOOKAHEAD),
                        after(models, starts, method, k, LOOKAHEAD),
                    )
                    yield regime.title, method.name, *made
            yield regime.title, BOUND, *bounds
            # The last method is chain priorities; from drafts the two means are sampled apart.
            apart = made[0].spread ** 2 + bounds[0].spread ** 2
            yield regime.title, "bound less chain priorities", apart, (bounds[1].values - made[1].values).var(ddof=1)


def lines() -> Iterator[str]:
    """Yield the lines of both tables."""
    yield "| three tokens, L = 3 | exact | from drafts | errors | along texts | errors |\n|---|---|---|---|---|---|"
    for name, value, old, new in against_exact():
        cells = (f"{one.mean:.4f} ± {one.error:.4f} | {one.gap(value):+.1f}" for one in (old, new))
        yield f"| {name} | {value:.4f} | {' | '.join(cells)} |"
    yield f"\n| K = {K}, L = {LOOKAHEAD} | from drafts | sd | ms | along texts | sd | ms | cost before / after |"
    yield "|---|---|---|---|---|---|---|---|"
    regime = ""
    for title, name, old, new in on_defaults():
        if title != regime:
            regime = title
            yield f"| **{title}** | | | | | | | |"
        if isinstance(old, Estimate):
            cells = (
                f"{one.mean:.3f} ± {one.error:.3f} | {one.spread:.2f} | {1e3 * one.seconds:.2f}" for one in (old, new)
            )
            yield f"| {name} | {' | '.join(cells)} | {old.cost / new.cost:.1f} |"
        else:
            yield f"| variance of the {name} | | {old:.2f} | | | {new:.4f} | | {old / new:.0f} |"


if __name__ == "__main__":
    for line in lines():
        _ = sys.stdout.write(line + "\n")
        _ = sys.stdout.flush()
