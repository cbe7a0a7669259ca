"""Prove a statement about laws for ALL laws: run it with symbols, split where it compares, judge every region.

Source: worked out here; regions are discarded by z3, de Moura and Bjorner 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from spec_math.notebook import BAD, GOOD, PLAIN, card, law_table
from spec_math.symbolic import signs
from spec_math.symbolic.number import number
from spec_math.symbolic.points import Points
from spec_math.symbolic.region import EmptyRegion, Region, Space, Split

TRIED = 40
"""How many rational laws of a region are tried for a counterexample."""
_SHOWN = {1: "< 0", 2: "= 0", 3: "≤ 0", 4: "> 0", 5: "≠ 0", 6: "≥ 0"}


@dataclass(frozen=True)
class Theorem:
    """A statement about some laws, and scalars of at least 1: `scope` says in words for which laws it speaks.

    The statement is a program like any other, called with `laws` {name: number of tokens} and then the scalars. It
    returns a verdict: true or false, as `Lossless` and `Lossy` are, or None where its hypotheses do not hold. Given
    Fractions it decides one case, given symbols all. `seconds` is about what the proof takes on one core.

    >>> Theorem("nothing is negative", "all laws on 2 tokens", lambda law: min(law) >= 0, {"t": 2}).scope
    'all laws on 2 tokens'
    """

    name: str
    scope: str
    statement: Callable[..., Any]
    laws: Mapping[str, int]
    scalars: tuple[str, ...] = ()
    seconds: float = 1.0


@dataclass(frozen=True)
class Counterexample:
    """Rational laws and scalars by name, and the verdict of the statement on them, run with Fractions.

    Made by `prove`.
    """

    parameters: dict[str, Any]
    verdict: Any

    def __str__(self) -> str:
        written = (
            f"{name} = ({', '.join(map(str, value))})" if isinstance(value, np.ndarray) else f"{name} = {value}"
            for name, value in self.parameters.items()
        )
        return f"{'; '.join(written)}: {self.verdict}"

    def _repr_html_(self) -> str:
        return _counterexample_card(self)


@dataclass(frozen=True)
class Broken:
    """The verdict on a statement that raised an exception."""

    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Proof:
    """What came of a theorem: `proved`, `refuted` by a counterexample, or `open` with the reason.

    regions: how many regions the statement was judged on; outside: those that its hypotheses leave out; discarded: how
    often z3 has proved that a region holds no law.

    Made by `prove`.
    """

    name: str
    scope: str
    verdict: str
    regions: int
    outside: int
    discarded: int
    seconds: float
    counterexample: Counterexample | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def _repr_html_(self) -> str:
        counts = {"regions judged": self.regions, "outside the hypotheses": self.outside, "seconds": self.seconds}
        shown = _counterexample_card(self.counterexample) if self.counterexample else ""
        colour = {"proved": GOOD, "refuted": BAD}.get(self.verdict, PLAIN)
        facts = {"for": self.scope, **counts, "reason": self.reason or None}
        return card(f"{self.verdict.capitalize()}: {self.name}", facts, shown, colour)


def _counterexample_card(found: Counterexample) -> str:
    laws = {name: law.tolist() for name, law in found.parameters.items() if isinstance(law, np.ndarray)}
    scalars = {name: value for name, value in found.parameters.items() if name not in laws}
    # Laws on as many tokens share a table.
    sizes = dict.fromkeys(len(law) for law in laws.values())
    tables = (law_table({name: law for name, law in laws.items() if len(law) == size}) for size in sizes)
    return card("Counterexample", {**scalars, "verdict": str(found.verdict)}, "".join(tables), BAD)


class Judged(NamedTuple):
    """A region, and what the statement says of all its laws: a verdict, or None outside of its hypotheses."""

    region: Region
    verdict: Any


def prove(theorem: Theorem, watch: Callable[[int, int], None] | None = None) -> Proof:
    """Prove a theorem for all laws, or return rational laws that refute it.

    The statement runs on symbols. A comparison with two answers splits the region in two, and a part that z3 proves
    impossible is dropped; whatever it cannot prove stays. On each region left the statement must hold: the masses it
    compares are then one rational function. One that fails is searched for rational laws on which the statement, run
    with Fractions, is false; there is no other way to be refuted. `watch` is told the regions judged and waiting.

    >>> from spec_math import check_lossless
    >>> from spec_math.token_level import single
    >>> def statement(target, draft):
    ...     return check_lossless(single.verify, target, draft)
    >>> prove(Theorem("maximal coupling", "all laws on 2 tokens", statement, {"t": 2, "d": 2})).verdict
    'proved'
    >>> def hopeful(target, draft):
    ...     return check_lossless(lambda coin, tokens, target, draft: tokens[0], target, draft)
    >>> print(prove(Theorem("no test", "all laws on 2 tokens", hopeful, {"t": 2, "d": 2})).counterexample)
    t = (1/12, 11/12); d = (0, 1): Lossy: token 0 is emitted with probability 0 where the target has 1/12 (total ...
    """
    started = perf_counter()
    space, root = _opened(theorem)
    counted = {"regions": 0, "outside": 0}
    for region, verdict in _judged(theorem, root, watch):
        counted["outside" if verdict is None else "regions"] += 1
        if verdict is not None and not verdict:
            found = _counterexample(theorem, region)
            reason = "" if found else f"{verdict} where {_described(region)}"
            named = "refuted" if found else "open"
            break
    else:
        found, reason, named = None, "", "proved"
    return Proof(
        theorem.name,
        theorem.scope,
        named,
        **counted,
        discarded=space.discarded,
        seconds=perf_counter() - started,
        counterexample=found,
        reason=reason,
    )


def regions(theorem: Theorem) -> Iterator[Judged]:
    """Split the laws of a theorem into regions with one verdict each; every law lies in exactly one of them.

    >>> from spec_math import check_lossless
    >>> from spec_math.token_level import single
    >>> def statement(target, draft):
    ...     return check_lossless(single.verify, target, draft)
    >>> law_pairs = Theorem("maximal coupling", "all laws on 2 tokens", statement, {"t": 2, "d": 2})
    >>> sum(region.holds((Fraction(1, 2), Fraction(1, 3))) for region, _ in regions(law_pairs))
    1
    """
    return _judged(theorem, _opened(theorem)[1], None)


def _judged(theorem: Theorem, root: Region, watch: Callable[[int, int], None] | None) -> Iterator[Judged]:
    waiting, judged = [root], 0
    while waiting:
        region = waiting.pop()
        try:
            verdict = _decided(theorem, [number(value, region) for value in region.values])
            if region.open is not None:  # somebody caught it on its way here
                raise region.open
        except Split as split:
            waiting += reversed(_parts(region, split))
            continue
        except EmptyRegion:
            continue
        failed = verdict is not None and not verdict
        # A chance that is 0 here was followed, perhaps, or no law is here at all. A point that refutes tells at once.
        if failed and not region.strict and _counterexample(theorem, region) is None:
            if not region.impossible():
                waiting.append(region.made_strict())
            continue
        judged += 1
        yield Judged(region, verdict)
        if watch is not None:
            watch(judged, len(waiting))


def _opened(theorem: Theorem) -> tuple[Space, Region]:
    sizes = list(theorem.laws.values())
    names = [f"{name}({token})" for name, size in theorem.laws.items() for token in range(size - 1)]
    points = Points(sizes, len(theorem.scalars))
    space = Space([*names, *theorem.scalars], points)
    ring = space.field.ring
    conditions: dict[Any, int] = {}
    place = 0
    for size in sizes:
        rest = ring.number(-1)
        for variable in ring.variables[place : place + size - 1]:
            conditions[variable] = signs.NONNEGATIVE
            rest = ring.plus(rest, variable)
        if size > 1:
            conditions[rest] = signs.NONPOSITIVE
        place += size - 1
    for variable in ring.variables[place:]:
        conditions[ring.plus(variable, ring.number(-1))] = signs.NONNEGATIVE
    return space, Region(space, conditions, space.field.variables, np.arange(len(points)))


def _arranged(theorem: Theorem, coordinates: list[Any]) -> list[Any]:
    """Return laws and scalars from their coordinates: the last mass of a law is what the others leave."""
    parameters: list[Any] = []
    place = 0
    for size in theorem.laws.values():
        own = coordinates[place : place + size - 1]
        masses = np.empty(size, dtype=object)
        masses[:] = [*own, Fraction(1) - sum(own, Fraction(0))]
        parameters.append(masses)
        place += size - 1
    return parameters + coordinates[place:]


def _decided(theorem: Theorem, coordinates: list[Any]) -> Any:
    """Run the statement; one that breaks is false."""
    try:
        return theorem.statement(*_arranged(theorem, coordinates))
    except Exception as error:
        return Broken("; ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]))


def _parts(region: Region, split: Split) -> list[Region]:
    parts: list[Region] = []
    for wanted in split.parts:
        try:
            parts.append(region.split(split.polynomial, wanted))
        except EmptyRegion:
            continue
    return parts


def _counterexample(theorem: Theorem, region: Region) -> Counterexample | None:
    """Look for rational laws of the region on which the statement, run with Fractions, is false."""
    for point in islice(region.points(), TRIED):
        verdict = _decided(theorem, list(point))
        if verdict is not None and not verdict:
            return Counterexample(
                dict(zip([*theorem.laws, *theorem.scalars], _arranged(theorem, list(point)), strict=True)), verdict
            )
    return None


def _described(region: Region) -> str:
    shown = sorted((f"{polynomial} {_SHOWN[wanted]}" for polynomial, wanted in region.conditions.items()), key=len)
    more = f", and {len(shown) - 8} conditions more" if len(shown) > 8 else ""
    return ", ".join(shown[:8]) + more
