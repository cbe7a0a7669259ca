"""Shapes of drafts, methods in a shape, and what a race of them measures unit by unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from spec_math.block_level.methods import SEQUENCES, TREES, Drafts, Method
from spec_math.sequential.decision import FLOAT, Candidate, Decision
from spec_math.studies.lengths.units import Key, Units


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
    """A method with a shape: 1 + the first `size` numbers of what its key measures are its tokens per call."""

    method: Method
    shape: Shape
    key: Key
    size: int

    @property
    def drafts(self) -> Drafts:
        """The kind of its drafts."""
        return self.method.drafts

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
    return Contender(method, Shape(stem + k * (size - stem), size, k, k, stem), Key(method, k, stem), size)


@dataclass(frozen=True)
class Measured:
    """The values of contenders in units: tokens per call over the latency of a call, 0 < `calls`."""

    units: Units
    found: Sequence[Contender]
    calls: Sequence[float]

    def candidates(self, names: Sequence[str], beside: Sequence[bool] = ()) -> list[Candidate]:
        """Return the candidates of the race by these names; those `beside` it are measured alone."""
        longest = self.units.lookahead
        return [
            Candidate(
                name,
                1 / call,
                (1 + one.shape.levels) / call,
                dear=one.method.along is None,
                bounded=one.method.drafts not in (TREES, SEQUENCES),
                family=None if one.method.drafts is TREES else one.key,
                steps=tuple((1 + min(level, one.size)) / call for level in range(longest + 1)),
                beside=apart,
            )
            for name, one, call, apart in zip(
                names, self.found, self.calls, beside or [False] * len(self.found), strict=True
            )
        ]

    def in_tokens(self, decision: Decision) -> Decision:
        """Return a decision with its values in tokens per call."""
        counted = [
            one._replace(least=1.0, most=one.most * call, steps=tuple(step * call for step in one.steps))
            for one, call in zip(decision.candidates, self.calls, strict=True)
        ]
        values, bounds = (
            [rows * call for rows, call in zip(all_rows, self.calls, strict=True)]
            for all_rows in (decision.values, decision.bounds)
        )
        return replace(decision, candidates=counted, values=values, bounds=bounds)

    def __call__(
        self, numbers: range, places: Sequence[int], bounds: bool, step: Callable[[int], None] = lambda _: None
    ) -> FLOAT:
        """Return the values of contenders in some units, or their bounds, [units, places]."""
        keys = {place: self.found[place].bound if bounds else self.found[place].key for place in places}
        measure: Any = self.units.bounds if bounds else self.units.accepted
        rows = measure(numbers, list(dict.fromkeys(keys.values())))
        step(numbers.stop)
        columns = [(1 + rows[keys[at]][:, : self.found[at].size].sum(axis=1)) / self.calls[at] for at in places]
        return np.stack(columns, axis=1)
