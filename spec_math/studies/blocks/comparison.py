"""Tokens per target call of every method for K paths of L tokens: exact where that is feasible, else by Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import perm
from typing import Any

import numpy as np

from spec_math.arrays import is_exact
from spec_math.block_level import cost, optimum
from spec_math.block_level.methods import AS_A_BLOCK, METHODS, TOKEN_BY_TOKEN, Method, paths
from spec_math.block_level.monte_carlo import Sampled, Setting, ceilings, of_every_prefix, sample
from spec_math.language import NGram, Table
from spec_math.language.model import Model
from spec_math.mean import Mean, known
from spec_math.scheme import Tokens
from spec_math.studies.blocks.models import BlockModels
from spec_math.verdict import Bracket, Optimal

EXACT_TERMS = 20_000
"""An expected length is added up exactly where it has at most so many terms: seconds at most."""

LEAVES = 100
"""The optimum is solved for where the draft reaches at most so many texts of L tokens."""

INDEPENDENT = "i.i.d. chains"

REPEATS = 40
"""Chains drafted after every prefix, for the methods of one chain and the ceilings on n-gram models."""


@dataclass(frozen=True)
class Entry:
    """One method for K paths of L tokens: tokens per call, and how many more than one chain token by token yields.

    `tokens` and `gain` are exact or means with their intervals; `exact` is the Fraction, where
    there is one. `speed_up` is that over plain decoding by SpecTr's latencies, where these are stated for K and L.
    """

    method: str
    k: int
    lookahead: int
    tokens: Mean
    gain: Mean
    speed_up: float | None
    exact: Any = None

    @property
    def sampled(self) -> bool:
        """Whether it is a Monte Carlo estimate."""
        return self.tokens.samples > 0


@dataclass(frozen=True)
class Ceiling:
    """What no verifier of these drafts exceeds, in tokens per call, and whether one is known to reach it.

    Exact with its Fraction, or the mean of `monte_carlo.ceilings`, for k > 1 further above what can be reached.
    """

    drafts: str
    k: int
    lookahead: int
    tokens: Mean
    reached: bool
    exact: Any = None


@dataclass(frozen=True)
class BlockComparison:
    """What `compare_blocks` found."""

    source: str
    size: int
    ks: tuple[int, ...]
    lookaheads: tuple[int, ...]
    samples: int
    entries: list[Entry]
    ceilings: list[Ceiling]

    def entry(self, method: str, k: int, lookahead: int) -> Entry | None:
        """Return the entry of a method for K paths of L tokens; for K = 1 that of the method it is for one chain."""
        name = next((one.alone for one in METHODS if one.name == method and k == 1), method)
        keyed = (name, k, lookahead)
        return next((e for e in self.entries if (e.method, e.k, e.lookahead) == keyed), None)


Progress = Callable[[str, int], Callable[[int], None]]
"""(what is done, how many steps it has) -> a function that is told how many steps more are done."""


@dataclass(frozen=True)
class BlockRequest:
    """What to compare: for all K and L, with `samples` sampled blocks where no value can be added up exactly."""

    models: BlockModels
    ks: tuple[int, ...]
    lookaheads: tuple[int, ...]
    samples: int
    seed: int = 0


def compare_blocks(request: BlockRequest, progress: Progress) -> BlockComparison:
    """Compare every method of `METHODS` for all K and L.

    A table is added up exactly where that takes at most EXACT_TERMS terms, and the optimum of any verifier stands
    beside it where it can be solved for. What is larger is sampled: a method's value is then that of one chain (exact,
    or over all prefixes) plus the mean difference to it on the same drafts.

    Raises:
        ValueError, TypeError: a law is none, named by its prefix; too few samples.

    >>> table = Table({(): ["1/4", "3/4"]}, context=0)
    >>> models = BlockModels(table, Table({(): ["1/2", "1/2"]}, context=0), ((),), 2, "tables")
    >>> found = compare_blocks(BlockRequest(models, (1, 2), (2,), 100), lambda what, steps: lambda done: None)
    >>> found.entry("chain priorities", 2, 2).exact, found.ceilings[1].exact
    (Fraction(23, 8), Fraction(23, 8))
    """
    exactly = _exact_entries(request, progress)
    missing = [
        method
        for method in METHODS
        if any((method.name, k, size) not in exactly for k in _ks_of(method, request.ks) for size in request.lookaheads)
    ]
    sampled = _sampled_entries(request, missing, progress, exactly) if missing else {}
    order = [
        (method.name, k, size)
        for size in request.lookaheads
        for k in request.ks
        for method in METHODS
        if k in _ks_of(method, request.ks)
    ]
    entries = [exactly[keyed] if keyed in exactly else sampled[keyed] for keyed in order]
    models = request.models
    return BlockComparison(
        models.source,
        models.size,
        request.ks,
        request.lookaheads,
        request.samples if missing else 0,
        entries,
        _ceilings(request, progress),
    )


def speed_up(tokens: float, k: int, lookahead: int) -> float | None:
    """Return the speed-up over plain decoding by SpecTr's Tables 1 and 3; None where they do not state K or L.

    >>> speed_up(2.0, 4, 4), speed_up(2.0, 3, 4)
    (1.1235955056179776, None)
    """
    latencies = cost.from_table(cost.SPECTR_TABLE_1), cost.from_table(cost.SPECTR_TABLE_3)
    try:
        latency = cost.of_block(paths(lookahead, k), *latencies)
    except LookupError:
        return None
    return float(cost.speed_up(tokens, float(latency)))


def fastest(result: BlockComparison, method: str) -> Entry | None:
    """Return the K and L of a method with the largest speed-up, the first among equals; None where none is stated.

    >>> fastest(BlockComparison("", 2, (1,), (4,), 0, [], []), "chain priorities") is None
    True
    """
    found = [e for e in result.entries if e.method == method and e.speed_up is not None]
    return max(found, key=lambda e: e.speed_up or 0.0) if found else None


def _ks_of(method: Method, ks: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of paths that a method stands in the table for: 1 for those of one chain, and they alone."""
    return tuple(k for k in ks if (k == 1) == (method.drafts == "one"))


def _entry(method: str, k: int, lookahead: int, means: tuple[Mean, Mean], exact: Any = None) -> Entry:
    return Entry(method, k, lookahead, *means, speed_up(means[0].value, k, lookahead), exact)


Keyed = dict[tuple[str, int, int], Entry]


def _exact_entries(request: BlockRequest, progress: Progress) -> Keyed:
    models = request.models
    wanted = [
        (method, k, size)
        for size in request.lookaheads
        for method in METHODS
        for k in _ks_of(method, request.ks)
        if isinstance(models.target, Table) and method.terms(models.size, size, k) <= EXACT_TERMS
    ]
    found: Keyed = {}
    told = progress("adding up exactly", len(wanted))
    triple = models.target, models.draft, models.prefixes[0]
    for method, k, size in wanted:
        value, plain = method.expected(*triple, size, k), METHODS[0].expected(*triple, size, 1)
        means = known(value), known(value - plain)
        found[method.name, k, size] = _entry(method.name, k, size, means, value)
        told(1)
    return found


def _sampled_entries(request: BlockRequest, methods: list[Method], progress: Progress, exactly: Keyed) -> Keyed:
    models, lookaheads = request.models, request.lookaheads
    setting = Setting(_floats(models.target), _floats(models.draft), models.prefixes, request.ks, max(lookaheads))
    lines = sample(setting, request.samples, request.seed, progress("sampling blocks", request.samples), methods)
    plain = {
        size: exactly[TOKEN_BY_TOKEN, 1, size].tokens for size in lookaheads if (TOKEN_BY_TOKEN, 1, size) in exactly
    }
    blocks: dict[int, tuple[Mean, Mean]] = {}
    if isinstance(models.target, NGram) and isinstance(models.draft, NGram):
        one = of_every_prefix(setting, REPEATS, request.seed)
        plain = {size: one.token_by_token[size - 1] for size in lookaheads}
        blocks = {size: (one.as_a_block[size - 1], one.gain[size - 1]) for size in lookaheads}
    return {
        (line.method.name, line.k, size): _of_sampled(line, size, plain.get(size), blocks.get(size))
        for line in lines
        for size in lookaheads
    }


def _of_sampled(line: Sampled, size: int, plain: Mean | None, block: tuple[Mean, Mean] | None) -> Entry:
    # Plain chains yield no more than themselves, whatever was drawn.
    gain = known(0) if line.method.name == TOKEN_BY_TOKEN else line.gain(size)
    if line.method.name == AS_A_BLOCK and block is not None:
        return _entry(AS_A_BLOCK, 1, size, block)
    tokens = line.tokens(size) if plain is None else plain if line.method.name == TOKEN_BY_TOKEN else plain + gain
    return _entry(line.method.name, line.k, size, (tokens, gain))


class _Floats:
    """An exact table with its laws in floats, as sampling takes them."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.end = table.end

    def __call__(self, prefix: Tokens) -> Any:
        return self._table(prefix).astype(np.float64)


def _floats(model: Model) -> Model:
    if isinstance(model, Table) and is_exact([*model.rows.values(), model.default][0]):
        return _Floats(model)
    return model


def _ceilings(request: BlockRequest, progress: Progress) -> list[Ceiling]:
    models = request.models
    if isinstance(models.target, NGram) and isinstance(models.draft, NGram):
        setting = Setting(models.target, models.draft, models.prefixes, request.ks, max(request.lookaheads))
        means = ceilings(setting, REPEATS, request.seed)
        return [
            Ceiling(INDEPENDENT, k, size, means[k][size - 1], reached=k == 1)
            for size in request.lookaheads
            for k in request.ks
        ]
    if not isinstance(models.target, Table):
        return []
    triple = models.target, models.draft, models.prefixes[0]
    wanted = [(k, size) for size in request.lookaheads for k in request.ks if models.size**size <= LEAVES]
    told = progress("solving for the optimum", len(wanted))
    found: list[Ceiling] = []
    for k, size in wanted:
        found.append(_ceiling(INDEPENDENT, k, size, optimum.chains(*triple, size, k)))
        drawn = min(k, models.size)
        if k > 1 and perm(models.size, drawn) * models.size ** (drawn * (size - 1)) <= EXACT_TERMS // 10:
            found.append(_ceiling("distinct first tokens", k, size, optimum.trees(*triple, paths(size, k))))
        told(1)
    return found


def _ceiling(drafts: str, k: int, lookahead: int, verdict: Optimal | Bracket) -> Ceiling:
    accepted = verdict.acceptance if isinstance(verdict, Optimal) else verdict.upper
    reached = isinstance(verdict, Optimal)
    return Ceiling(drafts, k, lookahead, known(1 + accepted), reached, 1 + accepted)
