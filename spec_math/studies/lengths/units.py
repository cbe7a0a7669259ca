"""Units of a race of lengths: a prefix with texts that the target writes after it, and drafts after the same prefix.

A unit is known by its number and the seed alone, so that methods can be measured on it in any order. Contenders are
methods in a shape of their drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spec_math import array_coin
from spec_math.block_level.lengths import recorded_text, target_text
from spec_math.block_level.lengths.drafted_chains import GatheredLaws, extended
from spec_math.block_level.methods import SEQUENCES, TREES, Drafts, Method
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.sequential.decision import FLOAT, Candidate, Decision

TEXTS = 1
"""Texts that the target writes in a unit: two units of one text tell more than one of two."""


class Key(NamedTuple):
    """A group of measurements: a method or a kind of drafts, its number of chains (0 of a tree), and their stem.

    Of a chosen tree `stem` is its depth.
    """

    of: Method | Drafts
    k: int
    stem: int = 0


Stream = Callable[[int], Any]
"""A number -> a NumPy Generator, the same for a unit whatever else is measured on it."""

Rows = Iterator[tuple[Key, Any]]
"""Keys with P(at least i accepted | drafts), i = 1, 2, …."""

Source = Callable[[GatheredLaws, Stream, Mapping[Key, int]], Rows]
"""(laws, stream, levels of keys) -> for each key that it knows P(at least i accepted | drafts), i = 1, 2, …."""

Bound = Callable[[GatheredLaws, Sequence[Tokens], Sequence[Key], int], dict[Key, FLOAT]]
"""(laws, texts, keys of kinds, lookahead) -> for each kind its bound of P(at least i accepted), i = 1, 2, …."""


@dataclass
class Units:
    """Units of two float models: `texts` texts of `lookahead` tokens after each of some prefixes, drawn one by one.

    `sources` measure what no text of the target tells, each from a stream of its own; `bound` gives the bounds.
    """

    target: Model
    draft: Model
    prefixes: Sequence[Tokens]
    lookahead: int
    seed: int
    sources: tuple[Source, ...]
    bound: Bound
    texts: int = TEXTS
    _written: dict[int, list[Tokens]] = field(default_factory=dict)

    def laws(self, number: int) -> GatheredLaws:
        """Return the distributions after the prefix of a unit."""
        place = int(np.random.default_rng([self.seed, 2, number]).integers(len(self.prefixes)))
        return GatheredLaws(self.target, self.draft, self.prefixes[place])

    def written(self, number: int, laws: GatheredLaws) -> list[Tokens]:
        """Return the texts that the target writes in a unit, of `lookahead` tokens or up to the end token."""
        if number not in self._written:
            rng = np.random.default_rng([self.seed, 3, number])
            self._written[number] = extended(laws, [()] * self.texts, self.lookahead, rng, of_target=True)
        return self._written[number]

    def accepted(self, numbers: range, keys: Mapping[Key, int]) -> dict[Key, FLOAT]:
        """Return for each key P(at least i accepted), averaged over what is not drawn in a unit, [units, levels]."""
        on_text, on_tree, others = dict[Key, int](), dict[Key, int](), dict[Key, int]()
        for key, size in keys.items():
            kind = others
            if isinstance(key.of, Method):
                kind = on_text if key.of.along is not None else on_tree if key.of.along_tree is not None else others
            kind[key] = size
        levels = max([*on_text.values(), *on_tree.values()], default=0)
        reduced = _Reduced(levels)
        found: dict[Key, list[Any]] = {key: [] for key in keys}
        for number in numbers if keys else ():
            laws, texts = self.read(number, levels) if levels else (self.laws(number), [])
            for text in texts if on_text else ():
                reduced.add(laws, text)
            for key, size in on_tree.items():
                rng = _stream([self.seed, 4, number], key.k)
                found[key].append(np.mean([_on_tree(laws, text, key, size, rng) for text in texts], axis=0))
            for at, source in enumerate(self.sources if others else ()):
                stream = partial(_stream, [self.seed, 4, number, at])
                for key, row in source(laws, stream, others):
                    found[key].append(row)
        if on_text:
            read, shape = reduced.text(), (len(numbers), self.texts, levels)
            for key in on_text:
                rows = target_text.accepted(key.of.along, read, key.k)  # type: ignore[union-attr, arg-type]
                found[key] = rows.reshape(shape).mean(axis=1)
        return {key: np.array(rows, dtype=np.float64) for key, rows in found.items()}

    def read(self, number: int, levels: int | None = None) -> tuple[GatheredLaws, list[Tokens]]:
        """Return the beginnings of the texts of a unit with both models' distributions along them."""
        laws = self.laws(number)
        texts = [text[:levels] for text in self.written(number, laws)]
        laws.gather([text[:place] for text in texts for place in range(len(text))])
        return laws, texts

    def bounds(self, numbers: range, keys: Mapping[Key, int]) -> dict[Key, FLOAT]:
        """Return for each kind of drafts its bound on P(at least i accepted), on the same texts, [units, levels]."""
        found: dict[Key, list[Any]] = {key: [] for key in keys}
        levels = max(keys.values(), default=0)
        for number in numbers if keys else ():
            laws, texts = self.read(number, levels)
            for key, row in self.bound(laws, texts, list(keys), levels).items():
                found[key].append(row)
        return {key: np.array(rows) for key, rows in found.items()}


class _Reduced:
    """Texts with the reduced distributions along them, one after another, of so many levels at most."""

    def __init__(self, levels: int) -> None:
        self._levels = levels
        self._rows: list[tuple[FLOAT, FLOAT, int, float]] = []
        self._windows: list[list[int]] = []
        self._ends: list[bool] = []

    def add(self, laws: GatheredLaws, text: Tokens) -> None:
        first, behind = len(self._rows), self._levels - len(text)
        self._windows.append([*range(first, first + len(text)), *[-1] * behind])
        for place, token in enumerate(text):
            t, d = laws.target(text[:place]), laws.draft(text[:place])
            self._rows.append((*recorded_text.reduced(t, d, token), float(t[token])))
            self._ends.append(laws.ends(text[: place + 1]))

    def text(self) -> target_text.Text:
        return recorded_text.of_rows(self._rows, np.array(self._windows), np.array(self._ends))


def _on_tree(laws: GatheredLaws, text: Tokens, key: Key, size: int, rng: Any) -> FLOAT:
    """Return the numbers of a method on distinct siblings along a text, [levels], with coins of its own."""

    def pick(masses: FLOAT) -> int:
        return int(array_coin.drawn(masses[None], rng.random(1))[0])

    method: Any = key.of
    chances = method.along_tree(laws, text, method.widths(size, key.k), pick)
    # What ends the text is no accepted token that something follows.
    held = chances[: len(text) - laws.ends(text)]
    return np.array([*held, *[0.0] * (size - len(held))])


def _stream(numbers: list[int], which: int) -> Any:
    return np.random.default_rng([*numbers, which])


@dataclass(frozen=True)
class Shape:
    """The shape of drafts: nodes, levels, the `widest` level's nodes; K chains where k > 0.

    The chains share their first `stem` tokens, which are counted once.

    >>> str(Shape(48, 6, 8, 8)), str(Shape(32, 4, 32))
    ('8 chains of 6', 'a tree of 32, depth 4')
    """

    nodes: int
    levels: int
    widest: int
    k: int = 0
    stem: int = 0

    def __str__(self) -> str:
        if self.stem:
            return f"a stem of {self.stem}, then {self.k} chains of {self.levels - self.stem}"
        if self.k == 1:
            return f"one chain of {self.levels}"
        return f"{self.k} chains of {self.levels}" if self.k else f"a tree of {self.nodes}, depth {self.levels}"


class Contender(NamedTuple):
    """A method with a shape: 1 + the first `size` numbers of what its key measures are its tokens per call.

    One that is `dear` to measure enters a race later.
    """

    method: Method
    shape: Shape
    key: Key
    size: int
    dear: bool = False

    @property
    def bound(self) -> Key:
        """The key of the bound of its drafts."""
        return Key(self.method.drafts, self.key.k, self.key.stem)


def chains(method: Method, k: int, size: int, stem: int = 0) -> Contender:
    """Return a method for k chains of `size` tokens, below a stem or not.

    >>> from spec_math.block_level.methods import AS_A_BLOCK
    >>> str(chains(AS_A_BLOCK, 1, 2).shape)
    'one chain of 2'
    """
    untold = method.along is None and method.along_tree is None
    return Contender(method, Shape(stem + k * (size - stem), size, k, k, stem), Key(method, k, stem), size, untold)


@dataclass(frozen=True)
class Measured:
    """The values of contenders in units: tokens per call over the latency of a call, 0 < `calls`."""

    units: Units
    found: Sequence[Contender]
    calls: Sequence[float]

    def candidates(self, names: Sequence[str], beside: Sequence[bool] = ()) -> list[Candidate]:
        """Return the candidates of the race by these names; those `beside` it are measured alone."""
        longest, aside = self.units.lookahead, beside or [False] * len(self.found)
        return [
            Candidate(
                name,
                1 / call,
                (1 + one.shape.levels) / call,
                dear=one.dear,
                bounded=one.method.drafts is not TREES,
                family=None if one.method.drafts in (TREES, SEQUENCES) else one.key,
                steps=tuple((1 + min(level, one.size)) / call for level in range(longest + 1)),
                beside=apart,
            )
            for name, one, call, apart in zip(names, self.found, self.calls, aside, strict=True)
        ]

    def in_tokens(self, decision: Decision) -> Decision:
        """Return a decision with its values in tokens per call."""
        counted = [
            one._replace(least=1.0, most=one.most * call, steps=tuple(step * call for step in one.steps))
            for one, call in zip(decision.candidates, self.calls, strict=True)
        ]
        both = decision.values, decision.bounds
        values, bounds = ([rows * call for rows, call in zip(held, self.calls, strict=True)] for held in both)
        return replace(decision, candidates=counted, values=values, bounds=bounds)

    def __call__(
        self, numbers: range, places: Sequence[int], bounds: bool, step: Callable[[int], None] = lambda _: None
    ) -> FLOAT:
        """Return the values of contenders in some units, or their bounds, [units, places]."""
        keys = {place: self.found[place].bound if bounds else self.found[place].key for place in places}
        levels: dict[Key, int] = {}
        for place, key in keys.items():
            levels[key] = max(levels.get(key, 0), self.found[place].size)
        measure: Any = self.units.bounds if bounds else self.units.accepted
        rows = measure(numbers, levels)
        step(numbers.stop)
        columns = [(1 + rows[keys[at]][:, : self.found[at].size].sum(axis=1)) / self.calls[at] for at in places]
        return np.stack(columns, axis=1)
