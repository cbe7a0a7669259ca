"""A tie between a theorem's program in Rocq and the library: instances, the term that asks, and what is asserted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from proofs_tests.formal import rocq
from spec_math import law
from spec_math.scheme import Emission

Numbers = list[Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


class Tie(NamedTuple):
    """Instances of one theorem, how Rocq is asked about one, and what is asserted of its answer."""

    instances: list[Any]
    term: Callable[..., str]
    check: Callable[..., None]


def split(values: Numbers, *sizes: int) -> list[Numbers]:
    """Cut a list into parts of given sizes, which are all of it."""
    assert sum(sizes) == len(values)
    return [values[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]


def emissions(program: Any, size: int) -> Numbers:
    """The law of (token, accepted) of a program of the library, token by token."""
    found: Any = law(program)
    return [found.get(Emission(token, accepted), ZERO) for token in range(size) for accepted in (True, False)]


def emitted(found: Numbers) -> Numbers:
    return [found[i] + found[i + 1] for i in range(0, len(found), 2)]


def pairs(accepted: Iterable[Fraction], drawn: Iterable[Fraction]) -> Numbers:
    return [mass for both in zip(accepted, drawn, strict=True) for mass in both]


def excess(t: Numbers, d: Numbers, scale: Fraction = ONE) -> Numbers:
    return [max(a - scale * b, ZERO) for a, b in zip(t, d, strict=True)]


def overlap(t: Numbers, d: Numbers) -> Numbers:
    return list(map(min, t, d))


def asked(name: str, *given: str | int | Numbers | tuple[int, ...] | Fraction) -> str:
    """Write the term that asks: numbers, lists of fractions and tuples of tokens; a text is written already."""
    return " ".join([name, *map(_written, given)])


def _written(value: str | int | Numbers | tuple[int, ...] | Fraction) -> str:
    if isinstance(value, Fraction):
        return rocq.fraction(value)
    if isinstance(value, list):
        return rocq.masses(value)
    return rocq.tokens(value) if isinstance(value, tuple) else str(value)


def answers(folder: Path, module: str, ties: dict[str, Tie]) -> dict[str, list[Numbers]]:
    """Ask Rocq about all instances of some ties, terms of one module, in one run."""
    terms = [tie.term(*case) for tie in ties.values() for case in tie.instances]
    found = iter(rocq.values(folder, module, terms))
    return {theorem: [next(found) for _ in tie.instances] for theorem, tie in ties.items()}
