"""A theorem about laws: its statement is a program, which decides one case with Fractions and all with symbols.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from spec_math.chance import Coin
from spec_math.notebook import BAD, card, law_table
from spec_math.number_types import as_text
from spec_math.verdict import Lossy, Reason, Undecided


Masses = tuple[tuple[str, int], ...]
"""A product of masses: pairs of a distribution's name and a token."""


@dataclass(frozen=True)
class Evidence:
    """The program behind a statement, and what the statement says of it, for a certificate.

    wanted: the probability of each outcome as a product of masses, {outcome: masses}. formulas: the mean of a number
    that an outcome has, and the value that it should have, {what: (number of an outcome, value)}. bounds: values that
    are at least 0. hypothesis: a value that is at most 0 where the statement speaks. drafts: how many first draws are
    i.i.d. drafts from `d`; None where the drafts are no such draws.

    Made by the `evidence` of a `Theorem`.
    """

    program: Callable[[Coin], Any] = lambda _: ""
    wanted: Mapping[Any, Masses] = field(default_factory=dict[Any, Masses])
    formulas: Mapping[str, tuple[Callable[[Any], Any], Any]] = field(
        default_factory=dict[str, tuple[Callable[[Any], Any], Any]]
    )
    bounds: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hypothesis: Any = None
    drafts: int | None = None


@dataclass(frozen=True)
class Theorem:
    """A statement about some laws, and scalars of at least 1: `scope` says in words for which laws it speaks.

    The statement is a program like any other, called with `laws` {name: number of tokens} and then the scalars. It
    returns a verdict: true or false, as `Lossless` and `Lossy` are, or None where its hypotheses do not hold. Given
    Fractions it decides one case, given symbols all. `seconds` is about what the proof takes on one core. `formal`
    names the theorem in Rocq that says the same for every vocabulary, if there is one. `evidence` takes what the
    statement takes.

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
    evidence: Callable[..., Evidence] | None = None


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
        return Undecided(
            Reason.RANDOMNESS_NOT_SEEN,
            f"on {_written(parameters)} the statement gave two verdicts in two runs: {verdict}; {again}",
        )
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


def equal(pairs: Mapping[str, tuple[Any, Any]]) -> Literal[True] | Fails:
    """Compare what a program does with what a formula says, {what: (program, formula)}."""
    for what, (found, wanted) in pairs.items():
        if found != wanted:
            return Fails(what, found, wanted)
    return True
