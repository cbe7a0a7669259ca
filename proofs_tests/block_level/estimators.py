"""Estimates of tokens per call along texts that the target writes.

`python -m proofs_tests.block_level.estimators` prints two tables in a minute: each estimate against the exact value on
small tables, then mean, spread and processor time on both default pairs of models at three temperatures.
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
from spec_math.block_level.lengths.recorded_text import drawn
from spec_math.block_level.lengths.target_text import accepted, bound
from spec_math.block_level.methods import METHODS, Method
from spec_math.language import Table
from spec_math.studies.frontier.contenders import at, defaults

BOUND = "bound by levels"
K, LOOKAHEAD = 4, 8
SAMPLES = 400
"""Texts of each estimate on the default models."""

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


def along_texts(models: Any, prefixes: Sequence[Any], method: Method | None, k: int, lookahead: int) -> Estimate:
    """Return the estimate along the target's texts: the same texts for every method, and for the bound."""
    rng, start = np.random.default_rng(2), process_time()
    text = drawn(models[0], models[1], prefixes, lookahead, rng)
    values = 1 + accepted((method and method.along) or bound, text, k).sum(axis=1)
    return Estimate(values, (process_time() - start) / len(values))


def against_exact(samples: int = 3000) -> list[tuple[str, float, Estimate]]:
    """Return (name, exact value, estimate along texts) for every method and the bound, on small tables."""
    exactly = [_table([exact(row) for row in side]) for side in ROWS]
    floats = [_table([exact(row).astype(float) for row in side]) for side in ROWS]
    found = list[tuple[str, float, Estimate]]()
    for method in (*(one for one in METHODS if one.along), None):
        k = 1 if method and method.one_chain else 3
        value = float(target_text.exact((method and method.along) or bound, exactly[0], exactly[1], (), 3, k))
        estimate = along_texts(floats, [()] * samples, method, k, 3)
        found.append((method.name if method else BOUND, value, estimate))
    return found


def _table(rows: Sequence[Any]) -> Table:
    return Table({(): rows[0], (0,): rows[1], (1,): rows[2], (2,): rows[0]}, context=1)


def on_defaults(heats: Sequence[float] = (1.0, 0.7, 0.4)) -> Iterator[tuple[str, str, Estimate]]:
    """Yield (regime, name, estimate along texts) on the default models, and what is missing to the bound."""
    for name, pair in defaults():
        for heat in heats:
            regime = at(name, pair, heat)
            models = regime.models.target, regime.models.draft
            rng = np.random.default_rng(0)
            starts = [pair.prefixes[int(place)] for place in rng.integers(len(pair.prefixes), size=SAMPLES)]
            made = bounds = along_texts(models, starts, None, K, LOOKAHEAD)
            for method in METHODS:
                if method.along and not method.name.startswith("optimal plan"):
                    made = along_texts(models, starts, method, 1 if method.one_chain else K, LOOKAHEAD)
                    yield regime.title, method.name, made
            yield regime.title, BOUND, bounds
            # The last method is chain priorities, on the same texts.
            less = Estimate(bounds.values - made.values, made.seconds + bounds.seconds)
            yield regime.title, "bound less chain priorities", less


def lines() -> Iterator[str]:
    """Yield the lines of both tables."""
    yield "| three tokens, L = 3 | exact | along texts | errors |\n|---|---|---|---|"
    for name, value, one in against_exact():
        yield f"| {name} | {value:.4f} | {one.mean:.4f} ± {one.error:.4f} | {one.gap(value):+.1f} |"
    yield f"\n| K = {K}, L = {LOOKAHEAD} | along texts | sd | ms |\n|---|---|---|---|"
    regime = ""
    for title, name, one in on_defaults():
        if title != regime:
            regime = title
            yield f"| **{title}** | | | |"
        yield f"| {name} | {one.mean:.3f} ± {one.error:.3f} | {one.spread:.2f} | {1e3 * one.seconds:.2f} |"


if __name__ == "__main__":
    for line in lines():
        _ = sys.stdout.write(line + "\n")
        _ = sys.stdout.flush()
