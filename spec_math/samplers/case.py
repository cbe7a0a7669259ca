"""A case that a sampler is judged on: the target's and the draft's rows, and how many drafts there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from spec_math.arrays import as_law as checked
from spec_math.arrays import count, exact, is_exact
from spec_math.distribution import temperature
from spec_math.samplers.subject import Row

FEWER = 3, 2
"""The tokens of the built-in cases that are judged where those of five tokens take long."""


@dataclass(frozen=True)
class Case:
    """Exact laws: one position with k i.i.d. drafts (lookahead 0), or a chain of `lookahead` drafts by position.

    A chain has lookahead + 1 target rows and `lookahead` draft rows; what is judged is the joint law of the first
    `horizon` tokens, the target going on by its rows, over and over. What is emitted is to follow the target at the
    temperature `heat`, where code that is judged is given the laws at temperature 1. A case that is `built_in` may be
    left for a smaller one where its walk takes long.
    """

    target: tuple[Row, ...]
    draft: tuple[Row, ...]
    k: int = 1
    lookahead: int = 0
    horizon: int = 1
    heat: Fraction = Fraction(1)
    built_in: bool = False

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.target[0])

    @property
    def rows(self) -> tuple[Any, Any]:
        """The target's and the draft's laws as code is given them: by position in a chain, and else one of each."""
        return (self.target, self.draft) if self.lookahead else (self.target[0], self.draft[0])

    @property
    def drafted_from(self) -> tuple[Row, ...]:
        """The law of each drafted token."""
        return self.draft if self.lookahead else self.draft * self.k

    def row(self, prefix: tuple[int, ...]) -> list[Fraction]:
        """Return the law [V] that is asked for after a prefix: the target's row for that length, at the temperature."""
        row = self.target[len(prefix) % len(self.target)]
        return list(row) if self.heat == 1 else list(_at(row, self.heat))

    def with_laws(self, target: Sequence[Row], draft: Sequence[Row]) -> Case:
        """Return the case with other rows."""
        return replace(self, target=tuple(target), draft=tuple(draft))


def position(target: Any, draft: Any, k: int = 1) -> Case:
    """Return the case of one position with k i.i.d. drafts, for laws [V].

    Raises:
        ValueError, TypeError: target or draft is not an exact probability distribution, they differ in size, or k is
            not a positive integer.
    """
    return _fitting(Case((_row(target, "target"),), (_row(draft, "draft"),), count(k)))


def chain(target: Sequence[Any], draft: Sequence[Any], horizon: int | None = None) -> Case:
    """Return the case of a chain of L drafts, for L + 1 target rows and L draft rows; horizon L + 1 by default.

    Raises:
        ValueError, TypeError: a row is not an exact probability distribution, the numbers or sizes of rows do not fit,
            or horizon is not a positive integer.

    >>> chain([["1/4", "3/4"]] * 3, [["1/2", "1/2"]] * 2).lookahead
    2
    """
    lookahead = len(draft)
    if not lookahead or len(target) != lookahead + 1:
        raise ValueError(
            f"a chain of L ≥ 1 drafts needs L + 1 target rows and L draft rows; got {len(target)} and {len(draft)}"
        )
    rows = [tuple(_row(row, name) for row in given) for given, name in ((target, "target"), (draft, "draft"))]
    return _fitting(Case(rows[0], rows[1], 1, lookahead, count(horizon or lookahead + 1, "horizon")))


def smaller(case: Case, size: int) -> Case:
    """Return a case like a given one on fewer tokens: masses in proportion to 1, 2, …, forwards and backwards in turn.

    >>> [[str(mass) for mass in row] for row in smaller(default(1), 2).target]
    [['1/3', '2/3'], ['2/3', '1/3']]
    """
    up = tuple(Fraction(2 * place, size * (size + 1)) for place in range(1, size + 1))
    rows = (up, up[::-1]) * len(case.target)
    return case.with_laws(rows[: len(case.target)], rows[1 : len(case.draft) + 1])


def default(lookahead: int = 0, k: int = 1, horizon: int | None = None) -> Case:
    """Return the zoo's toy as a case: five tokens, rows by position."""
    from spec_math.zoo import toy

    if not lookahead:
        return position(toy.TARGET[0], toy.DRAFT[0], k)
    targets = [toy.TARGET[place % len(toy.TARGET)] for place in range(lookahead + 1)]
    return chain(targets, [toy.DRAFT[place % len(toy.DRAFT)] for place in range(lookahead)], horizon)


@cache
def _at(row: Row, heat: Fraction) -> Row:
    return tuple(temperature(list(row), heat).tolist())


def _row(values: Any, name: str) -> Row:
    row = checked(values if hasattr(values, "dtype") else exact(values), name)
    if not is_exact(row) or row.ndim != 1:
        raise ValueError(f"{name} must be a distribution [V] in exact numbers; write strings, such as '1/3' or '0.2'")
    return tuple(row.tolist())


def _fitting(case: Case) -> Case:
    sizes = {len(row) for row in (*case.target, *case.draft)}
    if len(sizes) > 1:
        raise ValueError(f"all rows of a case must be of one size; these have {sorted(sizes)} tokens")
    return case
