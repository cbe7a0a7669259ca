"""Tokens per target call of every method for K paths of L tokens: exact or along sampled texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import is_exact
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths import cost
from spec_math.block_level.methods import CHAINS, METHODS, TOKEN_BY_TOKEN, Drafts, Method, paths
from spec_math.block_level.optimum import OptimalLength
from spec_math.invariants import Watch, hoeffding
from spec_math.language import NGram, Table
from spec_math.language.context_tree import windows
from spec_math.language.model import Model
from spec_math.language.tempered import KeptRows, TemperedNGram
from spec_math.mean import Mean, known
from spec_math.scheme import Tokens
from spec_math.sequential.decision import Decision, Terms, race
from spec_math.studies.arguments import Progress, absolute, prefix_of, stepped
from spec_math.studies.lengths import ceilings
from spec_math.studies.lengths.units import Measured, Units, chains
from spec_math.studies.positions import stream

EXACT_TERMS = 20_000
"""An expected length is added up exactly where it has at most so many terms: seconds at most."""

SHOWN = 240
"""Samples that every method in the table has at least, where the budget allows it."""


@dataclass(frozen=True)
class Entry:
    """One method for K paths of L tokens: tokens per call, and how many more than one chain token by token yields.

    `tokens` and `gain` are exact or means with their intervals; `exact` is the Fraction, where
    there is one. `speed_up` is that over plain decoding by SpecTr's latencies, where these are stated for K and L.
    """

    method: Method
    k: int
    lookahead: int
    tokens: Mean
    gain: Mean
    speed_up: float | None
    exact: Any = None

    @property
    def sizes(self) -> str:
        """K and L in words."""
        return sizes(self.k, self.lookahead)

    @property
    def faster(self) -> Mean | None:
        """The speed-up with its interval."""
        return None if self.speed_up is None else self.tokens.scaled_to(self.speed_up)

    @property
    def sampled(self) -> bool:
        """True if it is an estimate."""
        return self.tokens.samples > 0


@dataclass(frozen=True)
class Ceiling:
    """The bound that no verifier of these drafts exceeds, in tokens per call, and whether one is known to reach it.

    Exact with its Fraction, or the mean of `ceilings` along texts, for k > 1 further above what can be reached.
    """

    drafts: Drafts
    k: int
    lookahead: int
    tokens: Mean
    reached: bool
    exact: Any = None


@dataclass(frozen=True)
class BlockComparison:
    """The result of `compare_blocks`; `decision` and its methods with K and L where not all values are exact."""

    source: str
    size: int
    ks: tuple[int, ...]
    lookaheads: tuple[int, ...]
    samples: int
    entries: list[Entry]
    ceilings: list[Ceiling]
    decision: Decision | None = None
    contenders: tuple[tuple[Method, int, int], ...] = ()

    def entry(self, method: Method, k: int, lookahead: int) -> Entry | None:
        """Return the entry of a method for K paths of L tokens; for K = 1 that of the method it is for one chain."""
        keyed = (method.alone or method if k == 1 else method, k, lookahead)
        return next((e for e in self.entries if (e.method, e.k, e.lookahead) == keyed), None)


class BlockRequest(NamedTuple):
    """The request of a comparison: all K and L, on at most `samples` texts where not all values can be added up."""

    models: BlockModels
    ks: tuple[int, ...]
    lookaheads: tuple[int, ...]
    samples: int
    seed: int = 0


def compare_blocks(request: BlockRequest, progress: Progress) -> BlockComparison:
    """Compare every method of `METHODS` for all K and L.

    A table is added up exactly where that takes at most EXACT_TERMS terms, and the optimum of any verifier stands
    beside it where it can be solved for. Else all methods race along texts that the target writes, and what is not
    known exactly has its mean over them.

    Raises:
        ValueError, TypeError: a law is not a probability distribution, named by its prefix.

    >>> table = Table({(): ["1/4", "3/4"]}, context=0)
    >>> models = BlockModels(table, Table({(): ["1/2", "1/2"]}, context=0), ((),), 2, "tables")
    >>> found = compare_blocks(BlockRequest(models, (1, 2), (2,), 100), lambda what, steps: lambda done: None)
    >>> found.entry(METHODS[-1], 2, 2).exact, found.ceilings[1].exact
    (Fraction(23, 8), Fraction(23, 8))
    """
    # A method of one chain stands in the table for K = 1 alone, and no other does.
    grid = [*product(request.lookaheads, request.ks)]
    order = [(method, k, size) for size, k in grid for method in METHODS if (k == 1) == method.one_chain]
    entries, most = _exact_entries(request, order, progress), _exact_ceilings(request, progress)
    sampled = _Sampled(request, order, progress) if len(entries) < len(order) else None
    if sampled is not None:
        entries, most = sampled.entries(entries) | entries, sampled.ceilings() | most
    shown = [(drafts, k, size) for size, k in grid for drafts in KINDS]
    rows, ceilings = [entries[keyed] for keyed in order], [most[keyed] for keyed in shown if keyed in most]
    about = request.models.source, request.models.size, request.ks, request.lookaheads
    samples, decision = (request.samples, sampled.decision) if sampled else (0, None)
    return BlockComparison(*about, samples, rows, ceilings, decision, sampled.order if sampled else ())


KINDS = tuple(dict.fromkeys(method.drafts for method in METHODS))
"""Kinds of drafts that have bounds."""


def sizes(k: int, lookahead: int) -> str:
    """Return K and L in words.

    >>> sizes(1, 4), sizes(2, 4)
    ('L = 4', 'K = 2 and L = 4')
    """
    return f"L = {lookahead}" if k == 1 else f"K = {k} and L = {lookahead}"


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


CONFIDENCE, MARGIN = 0.99, 0.02
"""The confidence of a decision with all intervals, and within how much two are equivalent."""


def advised(result: BlockComparison) -> tuple[Entry, str] | None:
    """Return the entry to take, or the leader where nothing is decided, and the decision in words; None of no entries.

    Of exact values the entry has the fewest drafts of all that no other one exceeds by more than `MARGIN`.

    >>> advised(BlockComparison("", 2, (1,), (4,), 0, [], [])) is None
    True
    """
    if not result.entries:
        return None
    if result.decision is not None:
        taken = result.entry(*result.contenders[result.decision.taken])
        return None if taken is None else (taken, result.decision.sentence())
    timed = [entry for entry in result.entries if entry.speed_up is not None]

    def gain(entry: Entry) -> Any:
        return entry.speed_up if timed else entry.tokens.value if entry.exact is None else entry.exact

    ordered = sorted(timed or result.entries, key=lambda entry: (entry.k * entry.lookahead, -gain(entry)))
    best = max(ordered, key=gain)
    taken = next(entry for entry in ordered if (1 + Fraction(MARGIN)) * Fraction(gain(entry)) >= gain(best))
    name = f"{taken.method.name} with {taken.sizes}"
    if taken is best:
        return taken, f"Take {name}: no other method is {'faster' if timed else 'better'}."
    other = f"{best.method.name} with {best.sizes}"
    return taken, f"Take {name}: {name} and {other} are equivalent within {MARGIN:.0%}, and {name} drafts less."


Size = tuple[Method, int, int]
"""A method with K and L."""


def _exact_entries(request: BlockRequest, order: list[Size], progress: Progress) -> dict[Size, Entry]:
    models = request.models
    tables = isinstance(models.target, Table)
    wanted = [one for one in order if tables and one[0].terms(models.size, one[2], one[1]) <= EXACT_TERMS]
    found: dict[Size, Entry] = {}
    triple = models.target, models.draft, models.prefixes[0]
    for method, k, size in stepped(wanted, "adding up exactly", progress):
        value, plain = method.expected(*triple, size, k), TOKEN_BY_TOKEN.expected(*triple, size, 1)
        means, speed = (known(value), known(value - plain)), speed_up(float(value), k, size)
        found[method, k, size] = Entry(method, k, size, *means, speed, value)
    return found


class _Sampled:
    """A race of methods with K and L along sampled texts, by speed-up where the latencies are stated for any of them.

    What no latency is stated for is measured beside the race.
    """

    def __init__(self, request: BlockRequest, order: list[Size], progress: Progress) -> None:
        plain = [(TOKEN_BY_TOKEN, 1, size) for size in request.lookaheads if 1 not in request.ks]
        # The simplest first.
        self.order = tuple(sorted([*order, *plain], key=lambda one: one[1] * one[2]))
        models = request.models
        models = kept(replace(models, target=in_floats(models.target), draft=in_floats(models.draft)))
        longest = max(request.lookaheads)
        units = Units(models.target, models.draft, models.prefixes, longest, request.seed, (), ceilings.along)
        speeds = [None if one in plain else speed_up(1.0, *one[1:]) for one in self.order]
        timed = any(speeds)
        beside = [one in plain or (timed and speed is None) for one, speed in zip(self.order, speeds, strict=True)]
        measured = Measured(units, [chains(*one) for one in self.order], [1 / (speed or 1.0) for speed in speeds])
        names = [f"{method.name} with {sizes(k, size)}" for method, k, size in self.order]
        step = absolute(progress("sampling texts", request.samples))
        terms = Terms(request.samples, CONFIDENCE, MARGIN)
        self.decision = race(measured.candidates(names, beside), partial(measured, step=step), terms)
        self.decision.complete(measured, min(SHOWN, request.samples), request.samples)
        self._tokens = measured.in_tokens(self.decision)

    def entries(self, exactly: dict[Size, Entry]) -> dict[Size, Entry]:
        """Return the entries of all methods; where a plain chain is known exactly, by their differences to it."""
        found: dict[Size, Entry] = {}
        for place, (method, k, size) in enumerate(self.order):
            plain = TOKEN_BY_TOKEN, 1, size
            gain = known(0) if method is TOKEN_BY_TOKEN else self._tokens.difference(place, self.order.index(plain))
            tokens = exactly[plain].tokens + gain if plain in exactly else self._tokens.level(place)
            speed = speed_up(tokens.value, k, size)
            found[method, k, size] = Entry(method, k, size, tokens.between(1, 1 + size), gain, speed)
        return found

    def ceilings(self) -> dict[tuple[Drafts, int, int], Ceiling]:
        """Return the bound of each kind of drafts, at least what its methods are estimated to reach."""
        own: dict[tuple[Drafts, int, int], list[int]] = {}
        for place, (method, k, size) in enumerate(self.order):
            own.setdefault((method.drafts, k, size), []).append(place)
        found: dict[tuple[Drafts, int, int], Ceiling] = {}
        for keyed, places in own.items():
            means = [self._tokens.bound(place, self._tokens.level(place)) for place in places]
            most = max(means, key=lambda mean: mean.samples)
            value, low = max(mean.value for mean in means), max(mean.interval[0] for mean in means)
            most = replace(most, value=value, low=low, high=max(value, most.interval[1]))
            found[keyed] = Ceiling(*keyed, most, reached=keyed[:2] == (CHAINS, 1))
        return found


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


def _exact_ceilings(request: BlockRequest, progress: Progress) -> dict[tuple[Drafts, int, int], Ceiling]:
    models = request.models
    if not isinstance(models.target, Table):
        return {}
    triple = models.target, models.draft, models.prefixes[0]
    kinds = [drafts for drafts in KINDS if _is_exact(models.target) or not drafts.exact]
    every = [(drafts, k, size) for size, k, drafts in product(request.lookaheads, request.ks, kinds)]
    wanted = [(drafts, k, size) for drafts, k, size in every if drafts.solvable(models.size, size, k)]
    found: dict[tuple[Drafts, int, int], Ceiling] = {}
    for drafts, k, size in stepped(wanted, "solving for the optimum", progress):
        if drafts.optimum is not None:
            verdict = drafts.optimum(*triple, size, k)
            reached = isinstance(verdict, OptimalLength)
            most = verdict.tokens_per_call if isinstance(verdict, OptimalLength) else verdict.upper
            found[drafts, k, size] = Ceiling(drafts, k, size, known(most), reached, most)
    return found


LENGTH = "a call yields at least one token, and no more than the lookahead and one"
ABOVE_BOUND = "no method exceeds the bound of its own drafts"


def watch(found: BlockComparison) -> Watch:
    """Return what contradicts itself in a comparison of blocks.

    Fractions are held exactly. Floats are sums of at most EXACT_TERMS terms, each off by some roundings of a number up
    to L + 1. A sampled value is a mean and a mean difference to it, each of independent draws from an interval, so that
    Hoeffding's bound holds for either; so it does for a sampled bound. What a text tells of a method is at most the
    bound on that text, sample by sample.

    >>> watch(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])).found
    {}
    """
    result = Watch()
    for entry in found.entries:
        slack = _slack(entry.tokens, entry.exact, entry.lookahead)
        name = f"{entry.method.name}, L = {entry.lookahead}"
        value = entry.tokens.value if entry.exact is None else entry.exact
        result.at_most(LENGTH, name, (1, value), slack, k=entry.k)
        result.at_most(LENGTH, name, (value, entry.lookahead + 1), slack, k=entry.k)
        for ceiling in found.ceilings:
            if (ceiling.drafts, ceiling.k, ceiling.lookahead) == (entry.method.drafts, entry.k, entry.lookahead):
                most = ceiling.tokens.value if ceiling.exact is None else ceiling.exact
                more = _slack(ceiling.tokens, ceiling.exact, entry.lookahead)
                result.at_most(ABOVE_BOUND, name, (value, most), slack + more, k=entry.k)
    for place, (method, k, size) in enumerate(found.contenders):
        raced = found.decision
        # Siblings that are rejected before a text's own token are sampled: those are below the bound on average alone.
        told = raced is not None and method.along is not None
        if raced is not None and told and (both := min(len(raced.values[place]), len(raced.bounds[place]))):
            sides = raced.values[place][:both], raced.bounds[place][:both]
            result.at_most(ABOVE_BOUND, f"{method.name}, L = {size}", sides, _slack(known(0), None, size), k=k)
    return result


def _slack(mean: Mean, exact: object, lookahead: int) -> float:
    if mean.samples:
        return 2 * hoeffding(mean.samples, 2 * lookahead)
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


def kept(models: BlockModels) -> BlockModels:
    """Return n-gram models that keep the laws that they were asked for last, for one comparison; others as they are.

    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> kept(BlockModels(table, table, ((),), 2, "one table")).target is table
    True
    """
    sides = models.target, models.draft
    target, draft = (KeptRows(model) if isinstance(model, NGram | TemperedNGram) else model for model in sides)
    return replace(models, target=target, draft=draft)


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
