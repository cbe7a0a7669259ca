"""A theorem about laws: its statement is a program, which decides one case with Fractions and all with symbols.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from spec_math.chance import Coin, law
from spec_math.notebook import BAD, card, law_table
from spec_math.number_types import as_text
from spec_math.verdict import Lossy, Reason, Undecided


@dataclass(frozen=True)
class Theorem:
    """A statement about some laws, and scalars of at least 1: `scope` says in words for which laws it speaks.

    The statement is a program like any other, called with `laws` {name: number of tokens} and then the scalars. It
    returns a verdict: true or false, as `Lossless` and `Lossy` are, or None where its hypotheses do not hold. Given
    Fractions it decides one case, given symbols all. `seconds` is about what the proof takes on one core. `formal`
    names the theorem in Rocq that says the same for every vocabulary, if there is one. `hypothesis` takes what the
    statement takes, and is at most 0 where the statement is not None.

    >>> Theorem("nothing is negative", "all laws on 2 tokens", lambda law: min(law) >= 0, {"t": 2}).scope
    'all laws on 2 tokens'
    """

    name: str
    scope: str
    statement: Callable[..., Any]
    laws: Mapping[str, int]
    scalars: tuple[str, ...] = ()
    seconds: float = 1.0
    formal: str = ""
    hypothesis: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Counterexample:
    """Rational laws and scalars by name, and the verdict of the statement on them, run with Fractions.

    Made by `prove`.
    """

    parameters: dict[str, Any]
    verdict: Any

    def __str__(self) -> str:
        return f"{_written(self.parameters)}: {self.verdict}"

    def _repr_html_(self) -> str:
        laws = {name: law.tolist() for name, law in self.parameters.items() if isinstance(law, np.ndarray)}
        scalars = {name: value for name, value in self.parameters.items() if name not in laws}
        # Laws on as many tokens share a table.
        sizes = dict.fromkeys(len(law) for law in laws.values())
        tables = (law_table({name: law for name, law in laws.items() if len(law) == size}) for size in sizes)
        return card("Counterexample", {**scalars, "verdict": str(self.verdict)}, "".join(tables), BAD)


@dataclass(frozen=True)
class Broken:
    """The verdict on a statement that raised an exception."""

    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.reason


def fails(verdict: Any) -> bool:
    """Say whether a verdict is false: neither true, nor left open, nor None for laws outside of the hypotheses."""
    return verdict is not None and not isinstance(verdict, Undecided) and not verdict


def arranged(theorem: Theorem, coordinates: Sequence[Any]) -> list[Any]:
    """Return laws and scalars from their coordinates: the last mass of a law is what the others leave."""
    parameters: list[Any] = []
    place = 0
    for size in theorem.laws.values():
        own = coordinates[place : place + size - 1]
        masses = np.empty(size, dtype=object)
        masses[:] = [*own, Fraction(1) - sum(own, Fraction(0))]
        parameters.append(masses)
        place += size - 1
    return [*parameters, *coordinates[place:]]


def decided(theorem: Theorem, coordinates: Sequence[Any]) -> Any:
    """Run the statement and return its verdict; one that breaks is false."""
    try:
        return theorem.statement(*arranged(theorem, coordinates))
    except Exception as error:
        return Broken("; ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]))


def tried(theorem: Theorem, point: Sequence[Fraction]) -> Counterexample | Undecided | None:
    """Run the statement with Fractions; one that is false there is run again before it counts as a counterexample.

    A statement that gives two verdicts on the same laws draws from something else than its coin, and is left open.
    """
    verdict = decided(theorem, point)
    if isinstance(verdict, Undecided):
        return verdict
    if not fails(verdict):
        return None
    parameters = dict(zip([*theorem.laws, *theorem.scalars], arranged(theorem, point), strict=True))
    again = decided(theorem, point)
    if again != verdict and not (_breaks(verdict) and _breaks(again)):
        why = f"on {_written(parameters)} the statement gave two verdicts in two runs: {verdict}; {again}"
        return Undecided(Reason.RANDOMNESS_NOT_SEEN, why)
    return Counterexample(parameters, verdict)


def _breaks(verdict: Any) -> bool:
    """Say whether a verdict is false since the program breaks: the text of an exception may differ between two runs."""
    return isinstance(verdict, Broken) or (isinstance(verdict, Lossy) and verdict.emitted is None)


def _written(parameters: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{name} = ({', '.join(map(str, value))})" if isinstance(value, np.ndarray) else f"{name} = {value}"
        for name, value in parameters.items()
    )


@dataclass(frozen=True)
class Fails:
    """The claim is false of these laws: `what` is `found` by the program, where the formula says `wanted`."""

    what: str
    found: Any
    wanted: Any

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"{self.what} is {as_text(self.found)}, not {as_text(self.wanted)}"


class AsFormulas(NamedTuple):
    """A program has the means of its formulas: {what: (the number of an outcome, its mean)}."""

    program: Callable[[Coin], Any]
    formulas: Mapping[str, tuple[Callable[[Any], Any], Any]]


def equal(
    program: Callable[[Coin], Any], formulas: Mapping[str, tuple[Callable[[Any], Any], Any]]
) -> AsFormulas | Fails:
    """Compare means of a program, walked path by path, with formulas: {what: (the number of an outcome, its mean)}."""
    masses = law(program)
    for what, (number, wanted) in formulas.items():
        found = sum((number(outcome) * mass for outcome, mass in masses.items()), Fraction(0))
        if found != wanted:
            return Fails(what, found, wanted)
    return AsFormulas(program, formulas)
