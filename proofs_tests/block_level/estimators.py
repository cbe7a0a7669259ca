"""Estimates of tokens per call along texts that the target writes.

`python -m proofs_tests.block_level.estimators` prints three tables in some minutes: each estimate against the exact
value on small tables; mean, spread and processor time on both default pairs of models at three temperatures; and the
same of trees of distinct siblings, from drafted trees and along texts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from proofs_tests.block_level.methods_on_trees import RULES
from spec_math import array_coin
from spec_math.arrays import exact
from spec_math.block_level import planned_tree, traversal, univer
from spec_math.block_level.lengths import target_text
from spec_math.block_level.lengths.drafted_chains import GatheredLaws, extended
from spec_math.block_level.lengths.given_drafts import AlongTree
from spec_math.block_level.lengths.recorded_text import drawn
from spec_math.block_level.lengths.target_text import accepted, bound
from spec_math.block_level.methods import METHODS, Method
from spec_math.block_level.tree import grow
from spec_math.chance import sample
from spec_math.language import Table
from spec_math.studies.frontier.contenders import at, defaults
from spec_math.token_level import without_replacement

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
    for title, models, starts in _regimes(heats):
        made = bounds = along_texts(models, starts, None, K, LOOKAHEAD)
        for method in METHODS:
            if method.along and not method.name.startswith("optimal plan"):
                made = along_texts(models, starts, method, 1 if method.one_chain else K, LOOKAHEAD)
                yield title, method.name, made
        yield title, BOUND, bounds
        # The last method is chain priorities, on the same texts.
        yield title, "bound less chain priorities", Estimate(bounds.values - made.values, made.seconds + bounds.seconds)


SHAPES = {"4 distinct first tokens, 8 levels": (4, *[1] * 7), "two distinct a node, 5 levels": (2,) * 5}
DRAFTED = 100
"""Drafted trees of each estimate on the default models."""


def on_tree(along: AlongTree, laws: GatheredLaws, widths: Sequence[int], rng: Any) -> float:
    """Return the tokens of a call along one text that the target writes."""
    text = extended(laws, [()], len(widths), rng, of_target=True)[0]
    laws.gather([text[:place] for place in range(len(text))])
    levels = along(laws, text, widths, lambda masses: int(array_coin.drawn(masses[None], rng.random(1))[0]))
    return float(1 + sum(levels[: len(text) - laws.ends(text)]))


def drafted(name: str, laws: GatheredLaws, widths: tuple[int, ...], rng: Any) -> float:
    """Return the tokens of a call from one drafted tree, with the coins averaged out where the library can."""
    if name in ("recursive rejection", "traversal"):
        tree = sample(lambda coin: grow(coin, laws, widths, without_replacement.draw), rng)
        return 1 + sum(traversal.chances(laws, tree, len(widths), afresh=name == "recursive rejection"))
    program: Any = {"UniVer": univer.generate, "planned tree": planned_tree.generate}[name]
    return len(sample(lambda coin: program(coin, *laws.models, laws.prefix, widths), rng))


def measured(models: Any, prefixes: Sequence[Any], value: Callable[[GatheredLaws, Any], float]) -> Estimate:
    """Return the estimate of a value, from each prefix once."""
    rng, start = np.random.default_rng(3), process_time()
    values = np.array([value(GatheredLaws(*models, prefix), rng) for prefix in prefixes])
    return Estimate(values, (process_time() - start) / len(values))


def trees_against_exact(samples: int = 3000) -> Iterator[tuple[str, float, Estimate, Estimate]]:
    """Yield (name, exact value, from drafts, along texts) of trees with two distinct drafts a node, on small tables."""
    exactly = [_table([exact(row) for row in side]) for side in ROWS]
    floats = [_table([exact(row).astype(float) for row in side]) for side in ROWS]
    for name, (along, expected) in RULES.items():
        value = float(expected(*exactly, (), (2, 2)))
        starts: list[Any] = [()] * samples
        before = measured(floats, starts, lambda laws, rng, name=name: drafted(name, laws, (2, 2), rng))
        yield name, value, before, measured(floats, starts, lambda laws, rng, a=along: on_tree(a, laws, (2, 2), rng))


def trees_on_defaults(heats: Sequence[float] = (1.0, 0.7, 0.4)) -> Iterator[tuple[str, str, Estimate, Estimate]]:
    """Yield (regime, name with shape, from drafts, along texts) on the default models."""
    for title, models, starts in _regimes(heats):
        for (name, (along, _)), (shape, widths) in product(RULES.items(), SHAPES.items()):
            if name == "UniVer" and widths[0] > 2:
                continue  # one favourite
            before = measured(models, starts[:DRAFTED], lambda laws, rng, n=name, w=widths: drafted(n, laws, w, rng))
            after = measured(models, starts, lambda laws, rng, a=along, w=widths: on_tree(a, laws, w, rng))
            yield title, f"{name}, {shape}", before, after


def _regimes(heats: Sequence[float]) -> Iterator[tuple[str, Any, list[Any]]]:
    for name, pair in defaults():
        for heat in heats:
            regime = at(name, pair, heat)
            rng = np.random.default_rng(0)
            starts = [pair.prefixes[int(place)] for place in rng.integers(len(pair.prefixes), size=SAMPLES)]
            yield regime.title, (regime.models.target, regime.models.draft), starts


def lines() -> Iterator[str]:
    """Yield the lines of the tables."""
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
    yield f"\n| three tokens, widths 2, 2 | exact | from drafts | errors | along texts | errors |\n|{'---|' * 6}"
    for name, value, *both in trees_against_exact():
        cells = (f"{one.mean:.4f} ± {one.error:.4f} | {one.gap(value):+.1f}" for one in both)
        yield f"| {name} | {value:.4f} | {' | '.join(cells)} |"
    yield f"\n| trees | from drafts | sd | ms | along texts | sd | ms | cost before / after |\n|{'---|' * 8}"
    for title, name, *both in trees_on_defaults():
        if title != regime:
            regime = title
            yield f"| **{title}** | | | | | | | |"
        cells = (f"{one.mean:.3f} ± {one.error:.3f} | {one.spread:.2f} | {1e3 * one.seconds:.2f}" for one in both)
        costs = [one.spread**2 * one.seconds for one in both]
        yield f"| {name} | {' | '.join(cells)} | {costs[0] / costs[1]:.1f} |"


if __name__ == "__main__":
    for line in lines():
        _ = sys.stdout.write(line + "\n")
        _ = sys.stdout.flush()
