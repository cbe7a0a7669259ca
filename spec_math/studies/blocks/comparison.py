"""Tokens per target call of every method for K paths of L tokens: exact where that is feasible, else by Monte Carlo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import is_exact
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths import cost
from spec_math.block_level.lengths.monte_carlo import (
    DraftedMasses,
    Sampled,
    Setting,
    ceilings,
    drafted_after_every_prefix,
    of_every_prefix,
    sample,
)
from spec_math.block_level.methods import AS_A_BLOCK, CHAINS, METHODS, TOKEN_BY_TOKEN, Drafts, Method, paths
from spec_math.block_level.optimum import OptimalLength
from spec_math.invariants import Watch, hoeffding
from spec_math.language import NGram, Table
from spec_math.language.context_tree import windows
from spec_math.language.model import Model
from spec_math.mean import Mean, known, of_independent
from spec_math.scheme import Tokens
from spec_math.studies.arguments import Progress, prefix_of
from spec_math.studies.positions import stream

EXACT_TERMS = 20_000
"""An expected length is added up exactly where it has at most so many terms: seconds at most."""

REPEATS = 40
"""Chains drafted after every prefix, for the methods of one chain and the ceilings on n-gram models."""


@dataclass(frozen=True)
class Entry:
    """One method for K paths of L tokens: tokens per call, and how many more than one chain token by token yields.

    `tokens` and `gain` are exact or means with their intervals; `exact` is the Fraction, where
    there is one. `speed_up` is that over plain decoding by SpecTr's latencies, where these are stated for K and L.
    `draws` are the tokens of each sampled block, of every `effort`-th sample.
    """

    method: Method
    k: int
    lookahead: int
    tokens: Mean
    gain: Mean
    speed_up: float | None
    exact: Any = None
    draws: Any = field(default=None, compare=False)

    @property
    def sampled(self) -> bool:
        """True if it is a Monte Carlo estimate."""
        return self.tokens.samples > 0


@dataclass(frozen=True)
class Ceiling:
    """The bound that no verifier of these drafts exceeds, in tokens per call, and whether one is known to reach it.

    Exact with its Fraction, or the mean of `monte_carlo.ceilings`, for k > 1 further above what can be reached.
    """

    drafts: Drafts
    k: int
    lookahead: int
    tokens: Mean
    reached: bool
    exact: Any = None


@dataclass(frozen=True)
class BlockComparison:
    """The result of `compare_blocks`."""

    source: str
    size: int
    ks: tuple[int, ...]
    lookaheads: tuple[int, ...]
    samples: int
    entries: list[Entry]
    ceilings: list[Ceiling]

    def entry(self, method: Method, k: int, lookahead: int) -> Entry | None:
        """Return the entry of a method for K paths of L tokens; for K = 1 that of the method it is for one chain."""
        keyed = (method.alone or method if k == 1 else method, k, lookahead)
        return next((e for e in self.entries if (e.method, e.k, e.lookahead) == keyed), None)


@dataclass(frozen=True)
class BlockRequest:
    """The request of a comparison: all K and L, with `samples` sampled blocks where no value can be added up."""

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
        ValueError, TypeError: a law is not a probability distribution, named by its prefix; too few samples.

    >>> table = Table({(): ["1/4", "3/4"]}, context=0)
    >>> models = BlockModels(table, Table({(): ["1/2", "1/2"]}, context=0), ((),), 2, "tables")
    >>> found = compare_blocks(BlockRequest(models, (1, 2), (2,), 100), lambda what, steps: lambda done: None)
    >>> found.entry(METHODS[-1], 2, 2).exact, found.ceilings[1].exact
    (Fraction(23, 8), Fraction(23, 8))
    """
    # A method of one chain stands in the table for K = 1 alone, and no other does.
    order = [
        (method, k, size)
        for size in request.lookaheads
        for k in request.ks
        for method in METHODS
        if (k == 1) == method.one_chain
    ]
    known = _exact_entries(request, order, progress)
    missing = {method for method, k, size in order if (method, k, size) not in known}
    masses = _drafted(request)
    if missing:
        # What is known exactly stays so.
        known = _sampled_entries(request, [one for one in METHODS if one in missing], progress, known, masses) | known
    sizes = request.ks, request.lookaheads, request.samples if missing else 0
    entries, found = [known[keyed] for keyed in order], _ceilings(request, progress, masses)
    return BlockComparison(request.models.source, request.models.size, *sizes, entries, found)


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


def fastest(result: BlockComparison, method: Method) -> Entry | None:
    """Return the K and L of a method with the largest speed-up, the first among equals; None where none is stated.

    >>> fastest(BlockComparison("", 2, (1,), (4,), 0, [], []), TOKEN_BY_TOKEN) is None
    True
    """
    found = [e for e in result.entries if e.method == method and e.speed_up is not None]
    return max(found, key=lambda e: e.speed_up or 0.0) if found else None


MARGIN = 0.02
"""More drafts are advised for a gain above this share alone."""


def advised(result: BlockComparison) -> tuple[Entry, Entry] | None:
    """Return the entry to take, and the one of largest speed-up; None where no speed-up is stated.

    The one to take has the fewest drafts of all that the largest is not shown to exceed by more than `MARGIN`.

    >>> advised(BlockComparison("", 2, (1,), (4,), 0, [], [])) is None
    True
    """
    timed = [entry for entry in result.entries if entry.speed_up is not None]
    if not timed:
        return None
    timed.sort(key=lambda entry: (entry.k * entry.lookahead, -(entry.speed_up or 0.0)))
    best = max(timed, key=lambda entry: entry.speed_up or 0.0)
    return next(entry for entry in timed if entry is best or above(best, entry)[0] <= 0), best


def above(one: Entry, other: Entry, margin: float = MARGIN) -> tuple[float, float]:
    """Return a 99 % interval of the speed-up of one less (1 + margin) times that of another, of timed entries.

    Where both were sampled it is that of the differences on the same blocks.
    """
    factors = [(entry.speed_up or 0.0) / entry.tokens.value for entry in (one, other)]
    factors[1] *= 1 + margin
    if one.draws is None or other.draws is None:
        (low, high), (least, most) = one.tokens.interval, other.tokens.interval
        return factors[0] * low - factors[1] * most, factors[0] * high - factors[1] * least
    stride = lcm(one.method.effort, other.method.effort)
    mine, theirs = (
        factor * entry.draws[:: stride // entry.method.effort]
        for factor, entry in zip(factors, (one, other), strict=True)
    )
    most_of_one, most_of_other = (
        factor * (1 + entry.lookahead * entry.method.largest(entry.k))
        for factor, entry in zip(factors, (one, other), strict=True)
    )
    return of_independent(mine - theirs, factors[0] - most_of_other, most_of_one - factors[1]).interval


def _entry(
    method: Method, k: int, lookahead: int, means: tuple[Mean, Mean], exact: Any = None, draws: Any = None
) -> Entry:
    return Entry(method, k, lookahead, *means, speed_up(means[0].value, k, lookahead), exact, draws)


Keyed = dict[tuple[Method, int, int], Entry]


def _exact_entries(request: BlockRequest, order: list[tuple[Method, int, int]], progress: Progress) -> Keyed:
    models = request.models
    tables = isinstance(models.target, Table)
    wanted = [one for one in order if tables and one[0].terms(models.size, one[2], one[1]) <= EXACT_TERMS]
    found: Keyed = {}
    step = progress("adding up exactly", len(wanted))
    triple = models.target, models.draft, models.prefixes[0]
    for method, k, size in wanted:
        value, plain = method.expected(*triple, size, k), TOKEN_BY_TOKEN.expected(*triple, size, 1)
        means = known(value), known(value - plain)
        found[method, k, size] = _entry(method, k, size, means, value)
        step(1)
    return found


def _setting(request: BlockRequest) -> Setting:
    models = request.models
    sides = in_floats(models.target), in_floats(models.draft)
    return Setting(*sides, models.prefixes, request.ks, max(request.lookaheads))


def _drafted(request: BlockRequest) -> DraftedMasses | None:
    """Draft after every prefix, once for the methods of one chain and the ceilings; None where no n-gram is."""
    if not isinstance(request.models.target, NGram) or not isinstance(request.models.draft, NGram):
        return None
    return drafted_after_every_prefix(_setting(request), REPEATS, _another(request.seed))


def _sampled_entries(
    request: BlockRequest, methods: list[Method], progress: Progress, exactly: Keyed, masses: DraftedMasses | None
) -> Keyed:
    rng, step = np.random.default_rng(request.seed), progress("sampling blocks", request.samples)
    lines = sample(_setting(request), request.samples, rng, step, methods)
    plain = {size: entry.tokens for (method, _, size), entry in exactly.items() if method is TOKEN_BY_TOKEN}
    blocks: dict[int, tuple[Mean, Mean]] = {}
    if masses is not None:
        one = of_every_prefix(masses)
        plain = {size: one.token_by_token[size - 1] for size in request.lookaheads}
        blocks = {size: (one.as_a_block[size - 1], one.gain[size - 1]) for size in request.lookaheads}
    return {
        (line.method, line.k, size): _of_sampled(line, size, plain.get(size), blocks.get(size))
        for line in lines
        for size in request.lookaheads
    }


def _another(seed: int) -> Any:
    """Return a stream of its own: gains sampled with the same seed are added to these means as independent."""
    return np.random.default_rng([seed, 1])


def _of_sampled(line: Sampled, size: int, plain: Mean | None, block: tuple[Mean, Mean] | None) -> Entry:
    # Plain chains yield no more than themselves, whatever was drawn.
    gain = known(0) if line.method is TOKEN_BY_TOKEN else line.gain(size)
    draws = 1 + line.accepted[:, :size].sum(axis=1)
    if line.method is AS_A_BLOCK and block is not None:
        return _entry(AS_A_BLOCK, 1, size, block, draws=draws)
    tokens = line.tokens(size) if plain is None else plain if line.method is TOKEN_BY_TOKEN else plain + gain
    return _entry(line.method, line.k, size, (tokens, gain), draws=draws)


def in_floats(model: Model) -> Model:
    """Return an exact table with its laws in float64, as sampling takes them; any other model as it is.

    >>> in_floats(Table({(): ["1/4", "3/4"]}, context=0))(()).tolist()
    [0.25, 0.75]
    """
    if not isinstance(model, Table) or not _is_exact(model):
        return model
    rows = {prefix: row.astype(np.float64) for prefix, row in model.rows.items()}
    default = None if model.default is None else model.default.astype(np.float64)
    return Table(rows, model.context, default, model.end)


def _is_exact(table: Table) -> bool:
    return is_exact([*table.rows.values(), table.default][0])


def _ceilings(request: BlockRequest, progress: Progress, masses: DraftedMasses | None) -> list[Ceiling]:
    models = request.models
    if masses is not None:
        means = ceilings(masses, request.ks)
        return [
            Ceiling(CHAINS, k, size, means[k][size - 1], reached=k == 1)
            for size in request.lookaheads
            for k in request.ks
        ]
    if not isinstance(models.target, Table):
        return []
    triple = models.target, models.draft, models.prefixes[0]
    exact = _is_exact(models.target)
    wanted = [
        (drafts, k, size)
        for size in request.lookaheads
        for k in request.ks
        for drafts in dict.fromkeys(method.drafts for method in METHODS)
        if drafts.solvable(models.size, size, k) and (exact or not drafts.exact)
    ]
    step = progress("solving for the optimum", len(wanted))
    found: list[Ceiling] = []
    for drafts, k, size in wanted:
        if drafts.optimum is not None:
            verdict = drafts.optimum(*triple, size, k)
            reached = isinstance(verdict, OptimalLength)
            most = verdict.tokens_per_call if isinstance(verdict, OptimalLength) else verdict.upper
            found.append(Ceiling(drafts, k, size, known(most), reached, most))
        step(1)
    return found


LENGTH = "a call yields at least one token, and no more than the lookahead and one"
ABOVE_BOUND = "no method exceeds the bound of its own drafts"


def watch(found: BlockComparison) -> Watch:
    """Return what contradicts itself in a comparison of blocks.

    Fractions are held exactly. Floats are sums of at most EXACT_TERMS terms, each off by some roundings of a number up
    to L + 1. A sampled value is a mean over one chain and a mean difference to it, each of independent draws from an
    interval, so that Hoeffding's bound holds for either; so it does for a sampled bound.

    >>> watch(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])).found
    {}
    """
    result = Watch()
    for entry in found.entries:
        slack = _slack(entry.tokens, entry.exact, entry.lookahead, entry.method.largest(entry.k))
        name = f"{entry.method.name}, L = {entry.lookahead}"
        value = entry.tokens.value if entry.exact is None else entry.exact
        result.at_most(LENGTH, name, (1, value), slack, k=entry.k)
        result.at_most(LENGTH, name, (value, entry.lookahead + 1), slack, k=entry.k)
        for ceiling in found.ceilings:
            if (ceiling.drafts, ceiling.k, ceiling.lookahead) == (entry.method.drafts, entry.k, entry.lookahead):
                most = ceiling.tokens.value if ceiling.exact is None else ceiling.exact
                more = _slack(ceiling.tokens, ceiling.exact, entry.lookahead, 1)
                result.at_most(ABOVE_BOUND, name, (value, most), slack + more, k=entry.k)
    return result


def _slack(mean: Mean, exact: object, lookahead: int, largest: int) -> float:
    if mean.samples:
        return 2 * hoeffding(mean.samples, lookahead * (1 + largest))
    return 0.0 if isinstance(exact, Fraction) else (EXACT_TERMS + 100) * (lookahead + 1) * 2.0**-50


@dataclass(frozen=True)
class BlockModels:
    """Two models, the prefixes that blocks start from, what they are, and the tokens' names where they have any."""

    target: Model
    draft: Model
    prefixes: tuple[Tokens, ...]
    size: int
    source: str
    names: Sequence[str] | None = None

    def text(self, tokens: Sequence[int]) -> str:
        """Write tokens as words, or as indices where they have no names."""
        return " ".join(str(token) if self.names is None else self.names[token] for token in tokens)


def embedded() -> BlockModels:
    """Return the embedded default: blocks start at every held-out word.

    >>> len(embedded().prefixes) > 1000
    True
    """
    orders = stream.TARGET_ORDER, stream.DRAFT_ORDER
    return of_n_grams(stream.default_models(), orders, "CPython's documentation")


def of_n_grams(found: stream.DefaultModels, orders: tuple[int, int], learnt_from: str, every: int = 1) -> BlockModels:
    """Return two n-gram models of a corpus, to start from every so many of its held-out words."""
    corpus, (order, draft_order) = found.corpus, orders
    contexts, _ = windows(corpus.held_out, order)
    prefixes = tuple(tuple(token for token in context if token >= 0) for context in contexts[::every].tolist())
    source = (
        f"n-gram models of orders {order} and {draft_order} learnt from {learnt_from}, after {len(prefixes):,} "
        "held-out words"
    )
    return BlockModels(found.target, found.draft, prefixes, corpus.size, source, corpus.names)


def from_tables(target: Path, draft: Path, prefix: str = "") -> BlockModels:
    """Read two tables (`language.Table.load`), to start from one prefix: token indices with blanks between them.

    Raises:
        ValueError, TypeError, OSError: a file is not a table, the two do not fit, or the prefix is none of them; errors
            name the file or the prefix.

    >>> from_tables(Path("none.json"), Path("none.json"))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'none.json'
    """
    models = Table.load(target), Table.load(draft)
    start = prefix_of(prefix)
    laws = Conditionals(*models, start)
    laws.draft()
    source = f"{target} and {draft}, after the prefix {start}" if start else f"{target} and {draft}"
    return BlockModels(*models, (laws.prefix,), laws.size, source)
