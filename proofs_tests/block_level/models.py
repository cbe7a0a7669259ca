"""Models for the proofs of blocks: rational laws that depend on the whole prefix, with zeros, ties and an end token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from proofs_tests.strategies import laws
from spec_math.arrays import Array, proportional_to

SHAPES = [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)]
"""Sizes of vocabulary and lookaheads that tests enumerate."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A model on every prefix from a few laws: the prefix, read as a number to the base V + 1, picks its law.

    With more than one law, and their number coprime to V + 1, each token of the prefix bears on the law that follows.
    It refuses a prefix that holds the end token, so that no proof rests on a law that nobody may ask for.
    """

    rows: tuple[Array, ...]
    end: int | None = None

    def __call__(self, prefix: tuple[int, ...]) -> Array:
        if self.end is not None and self.end in prefix:
            raise ValueError(f"asked for the law after {prefix}, which has ended")
        base, code = len(self.rows[0]) + 1, 0
        for token in prefix:
            code = base * code + token + 1
        return self.rows[code % len(self.rows)]

    def __repr__(self) -> str:
        return f"Rows({[[str(mass) for mass in row] for row in self.rows]}, end={self.end})"


def weighted(seed: str, size: int = 2) -> Callable[[tuple[int, ...]], Array]:
    """Return a model with a law of its own after every prefix: whole weights 0 to 9."""
    known: dict[tuple[int, ...], Array] = {}

    def after(prefix: tuple[int, ...]) -> Array:
        if prefix not in known:
            random = Random(f"{seed} {prefix}")
            weights = [random.randint(0, 9) for _ in range(size)]
            known[prefix] = proportional_to(weights if any(weights) else [1] * size)
        return known[prefix]

    return after


@st.composite
def model_pairs(draw: st.DrawFn, size: int, end: bool | None = None, small: bool = False) -> tuple[Rows, Rows]:
    """A target and a draft on `size` tokens with a common end token; end None lets chance say whether there is one.

    Two in three are random laws of whole weights 0 to 5, busy on every prefix; the others are what Hypothesis makes of
    `strategies.laws`, with one-hot laws and masses of 2^-60 (not where `small`). The draft is unrelated to the target,
    the same, or the same with one law changed.
    """
    ends = draw(st.booleans()) if end is None else end
    last = size - 1 if ends else None
    busy = draw(st.sampled_from([True, True, False])) or small
    random = Random(draw(st.integers(0, 2**32 - 1)))
    number = draw(st.sampled_from([1, 2, 5, 7] if size == 2 else [1, 3, 5, 7]))
    row = st.builds(lambda: _weighed(random, size)) if busy else laws(size)
    target = [draw(row) for _ in range(number)]
    kind = draw(st.sampled_from(["any", "any", "any", "any", "same", "near"]))
    draft = list(target)
    if kind == "near":
        draft[draw(st.integers(0, number - 1))] = draw(row)
    if kind == "any":
        draft = [draw(row) for _ in range(number)]
    return Rows(tuple(target), last), Rows(tuple(draft), last)


def _weighed(random: Random, size: int) -> Array:
    weights = [random.choice([0, 1, 1, 2, 3, 5]) for _ in range(size)]
    weights[random.randrange(size)] += 1
    return proportional_to(weights)
