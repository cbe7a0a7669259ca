"""The yield of each method for each shape of its drafts: tokens per call, sample by sample, coins averaged out.

Source: our own; the methods are those of `block_level`.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from spec_math.block_level.lengths.drafted_chains import GatheredLaws
from spec_math.block_level.likeliest_tree import likeliest_of_depths, top
from spec_math.block_level.methods import CHOSEN, STATIC, TREES, Drafts, Method
from spec_math.language import NGram, Table, standard_library
from spec_math.language.tempered import KeptRows, heated
from spec_math.mean import FLOAT
from spec_math.scheme import Tokens
from spec_math.studies.arguments import spaced
from spec_math.studies.blocks.comparison import BlockModels, embedded, in_floats, kept, of_n_grams
from spec_math.studies.lengths import ceilings
from spec_math.studies.lengths.units import Contender, Key, Shape, Stream, chains
from spec_math.studies.positions.stream import DefaultModels

KS = (2, 4, 8)
"""Numbers of chains that are tried; a single one belongs to the methods of one chain."""

LONGEST = 8
"""Drafted tokens in a row, at most."""


def of_chains(method: Method, k: int, stem: int = 0) -> list[Contender]:
    """Return a method for k chains, below a stem or not, at every lookahead up to `LONGEST`.

    >>> str(of_chains(STATIC, 1)[1].shape)
    'one chain of 2'
    """
    return [chains(method, k, size, stem) for size in range(stem + 1, LONGEST + 1)]


DEPTHS = (2, 4, 6, 8)
"""Depth limits of chosen trees that are tried."""


def of_trees(budgets: Sequence[int]) -> list[Contender]:
    """Return the trees that a drafter chooses for each budget and depth, of the drafter's masses and of ranks.

    >>> [str(one.shape) for one in of_trees((2,))]
    ['a tree of 2, depth 2', 'a tree of 2, depth 2']
    """
    return [
        Contender(way, Shape(nodes, min(depth, nodes), nodes), Key(way, 0, depth), place)
        for way in (CHOSEN, STATIC)
        for place, nodes in enumerate(budgets, 1)
        for depth in DEPTHS
        if depth <= nodes or depth == DEPTHS[0]
    ]


class Trees:
    """Chosen trees of one regime as a source: what each budget adds to the tokens per call, for each depth.

    Rates of ranks, for static trees, are those of prefixes that are drawn for them alone.
    """

    def __init__(self, regime: Regime, budgets: Sequence[int], seed: int) -> None:
        self.budgets, self.most = budgets, max(budgets)
        prefixes = regime.models.prefixes
        drawn = np.random.default_rng([seed, 5]).integers(len(prefixes), size=RATED)
        rates = _rates(regime, [prefixes[int(place)] for place in drawn], self.most)
        self.static = likeliest_of_depths(lambda _: top(rates, self.most, None), self.most, DEPTHS)
        self._draft: Any = regime.models.draft
        self._tops = lru_cache(4096)(self._top)

    def __call__(self, laws: GatheredLaws, _: Stream, keys: Iterable[Key]) -> Iterator[tuple[Key, FLOAT]]:
        """Yield what the target gives the drafter's trees and the static ones."""
        depths = sorted({key.stem for key in keys if key.of is CHOSEN})
        if depths:
            chosen = likeliest_of_depths(partial(self._ranked, laws), self.most, depths)
            met = _reached(laws, [path for taken in chosen.values() for _, path in taken])
            yield from self._worth(CHOSEN, {depth: [met[path] for _, path in chosen[depth]] for depth in depths})
        ranked = {key.stem: self.static[key.stem] for key in keys if key.of is STATIC}
        if ranked:
            filled = _filled(laws, ranked)
            worths = {depth: [filled.get(ranks, 0.0) for _, ranks in taken] for depth, taken in ranked.items()}
            yield from self._worth(STATIC, worths)

    def bounds(
        self, laws: GatheredLaws, texts: Sequence[Tokens], keys: Sequence[Key], lookahead: int
    ) -> dict[Key, FLOAT]:
        """Return the bounds of all kinds: of chosen trees the best under each budget and depth, in hindsight."""
        depths = sorted({key.stem for key in keys if key.of is TREES})
        best = likeliest_of_depths(lambda path: top(laws.target(path), self.most, laws.end), self.most, depths)
        own = self._worth(TREES, {depth: [mass for mass, _ in taken] for depth, taken in best.items()})
        return ceilings.along(laws, texts, keys, lookahead) | dict(own)

    def _ranked(self, laws: GatheredLaws, path: Tokens) -> list[tuple[int, Any]]:
        """Return the draft's likeliest tokens after a path; those of an n-gram model are kept by its context."""
        if isinstance(self._draft, KeptRows):
            return self._tops(self._draft.context(laws.prefix + path))
        return top(laws.draft(path), self.most, laws.end)

    def _top(self, context: Tokens) -> list[tuple[int, Any]]:
        return top(self._draft.rows_after([context])[0], self.most, self._draft.end)

    def _worth(self, of: Method | Drafts, worths: dict[int, list[float]]) -> Iterator[tuple[Key, FLOAT]]:
        for depth, masses in worths.items():
            worth = np.cumsum([0.0, *masses])
            yield Key(of, 0, depth), np.diff([worth[min(nodes, len(masses))] for nodes in self.budgets], prepend=0.0)


RATED = 24
"""Prefixes that the rates of static trees are counted on."""


def _reached(laws: GatheredLaws, paths: list[Tokens]) -> dict[Tokens, float]:
    """Return the target's mass of each of these paths, of which all beginnings are among them."""
    shortest_first = sorted(set(paths), key=len)
    laws.gather([path[:-1] for path in shortest_first], "target")
    masses: dict[Tokens, float] = {(): 1.0}
    for path in shortest_first:
        masses[path] = masses[path[:-1]] * float(laws.target(path[:-1])[path[-1]])
    return masses


def _filled(laws: GatheredLaws, static: dict[int, Any]) -> dict[Tokens, float]:
    """Return the target's mass of what paths of ranks become: rank r is the r-th likeliest token of the draft.

    A rank beyond the draft's support is left out with all below it, and so is what follows the end token; a token that
    ends the text counts nothing.
    """
    wanted: dict[Tokens, int] = {}
    for path in {path for taken in static.values() for _, path in taken}:
        wanted[path[:-1]] = max(wanted.get(path[:-1], 0), path[-1] + 1)
    level: dict[Tokens, tuple[Tokens, float]] = {(): ((), 1.0)}
    filled: dict[Tokens, float] = {}
    while level:
        inner = {ranks: held for ranks, held in level.items() if ranks in wanted}
        laws.gather([path for path, _ in inner.values()])
        level = {}
        for ranks, (path, mass) in inner.items():
            target = laws.target(path)
            for rank, (token, _) in enumerate(top(laws.draft(path), wanted[ranks], None)):
                if token != laws.end:
                    reached = mass * float(target[token])
                    filled[*ranks, rank] = reached
                    level[*ranks, rank] = (*path, token), reached
    return filled


def _rates(regime: Regime, prefixes: Sequence[Tokens], most: int) -> FLOAT:
    """Return the target's mean mass on the draft's first, second, … choice, descending."""
    total: Any = np.zeros(min(most, regime.models.size))
    for prefix in prefixes:
        laws = GatheredLaws(regime.models.target, regime.models.draft, prefix)
        laws.gather([()])
        t = laws.target()
        held = [float(t[token]) for token, _ in top(laws.draft(), len(total), laws.end)]
        total[: len(held)] += held
    return -np.sort(-total / len(prefixes))


CODE_TARGET, CODE_DRAFT = 8, 3
"""Orders of the two models of source code."""


class Facts(NamedTuple):
    """Means over prefixes: the mass of the likeliest token and the entropy in bits of both models, their overlap."""

    target_top: float
    target_bits: float
    draft_top: float
    draft_bits: float
    overlap: float

    def __str__(self) -> str:
        """Say them in a sentence."""
        return (
            f"Target: mean top-1 mass {self.target_top:.2f}, {self.target_bits:.1f} bits; draft: {self.draft_top:.2f}, "
            f"{self.draft_bits:.1f} bits; overlap {self.overlap:.2f}"
        )


@dataclass(frozen=True)
class Regime:
    """Two models at their temperatures, from some prefixes on, and the facts of them."""

    name: str
    models: BlockModels
    temperature: float
    draft_temperature: float
    facts: Facts

    @property
    def title(self) -> str:
        """Its name with the target's temperature, and the draft's where it is another."""
        own = "" if self.temperature == self.draft_temperature else f", draft {self.draft_temperature:g}"
        return f"{self.name}, temperature {self.temperature:g}{own}"


def drafting_itself(masses: list[float]) -> Regime:
    """Return a model of one law that drafts for itself, so that all drafts are accepted: for examples.

    >>> drafting_itself([0.5, 0.5]).facts.overlap
    1.0
    """
    model = Table({(): masses}, context=0)
    return at("one distribution", BlockModels(model, model, ((),), len(masses), "one distribution"), 1.0)


def at(name: str, models: BlockModels, temperature: float, draft_temperature: float | None = None) -> Regime:
    """Return two models at a temperature each, the draft's that of the target where none is given.

    Raises:
        ValueError: a temperature that is not positive and finite.

    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> print(at("table", BlockModels(table, table, ((),), 2, "one table"), 0.5).facts)
    Target: mean top-1 mass 0.90, 0.5 bits; draft: 0.90, 0.5 bits; overlap 1.00
    """
    drafts = temperature if draft_temperature is None else draft_temperature
    for value in (temperature, drafts):
        if not 0 < value < float("inf"):
            raise ValueError(f"a temperature must be positive and finite; got {value:g}")
    target, draft = heated(in_floats(models.target), temperature), heated(in_floats(models.draft), drafts)
    warm = replace(models, target=target, draft=draft)
    return Regime(name, warm, temperature, drafts, facts(kept(warm)))


def facts(models: BlockModels) -> Facts:
    """Return the facts of two models at 200 evenly spaced prefixes, or at all where they are fewer.

    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> facts(BlockModels(table, table, ((),), 2, "one table")).overlap
    1.0
    """
    rows: list[list[float]] = []
    prefixes = [models.prefixes[place] for place in spaced(len(models.prefixes), 200)]
    for model in (models.target, models.draft):
        if isinstance(model, KeptRows):
            _ = model.rows_after(prefixes)  # all at once
    for prefix in prefixes:
        t, d = (np.asarray(law, dtype=np.float64) for law in laws_after(models, prefix))
        rows.append([t.max(), _bits(t), d.max(), _bits(d), np.minimum(t, d).sum()])
    return Facts(*(float(mean) for mean in np.mean(rows, axis=0)))


def laws_after(models: BlockModels, prefix: Tokens) -> tuple[Any, Any]:
    """Return both laws [V] after a prefix.

    >>> laws_after(BlockModels(lambda _: [1.0], lambda _: [1.0], ((),), 1, ""), ())[0].tolist()
    [1.0]
    """
    laws = GatheredLaws(models.target, models.draft, prefix)
    laws.gather([()])
    return laws.target(), laws.draft()


@cache
def source_code() -> BlockModels:
    """Return the second embedded default: n-gram models of Python's standard library, from held-out words on.

    >>> source_code().size
    4096
    """
    corpus = standard_library()
    target, draft = (NGram.learn(corpus.training, order, corpus.size) for order in (CODE_TARGET, CODE_DRAFT))
    learnt_from = f"the standard library of Python {platform.python_version()}"
    return of_n_grams(DefaultModels(corpus, target, draft), (CODE_TARGET, CODE_DRAFT), learnt_from, 8)


def defaults() -> tuple[tuple[str, BlockModels], ...]:
    """Return the embedded pairs of models by their names: prose, and source code.

    >>> [name for name, _ in defaults()]
    ['documentation', 'source code']
    """
    return ("documentation", embedded()), ("source code", source_code())


def _bits(law: Any) -> float:
    held = law[law > 0]
    return float(-(held * np.log2(held)).sum())
