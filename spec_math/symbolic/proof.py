"""Prove a statement about laws for ALL laws: run it with symbols, split where it compares, judge every region.

Source: worked out here; regions are discarded by z3, de Moura and Bjorner 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from spec_math.notebook import BAD, GOOD, PLAIN, card
from spec_math.symbolic.number import Number, number
from spec_math.symbolic.points import Points
from spec_math.symbolic.polynomial import NONNEGATIVE, NONPOSITIVE
from spec_math.symbolic.region import BrokenOff, EmptyRegion, Region, SignNode, Space, Spent, Split
from spec_math.symbolic.theorem import Counterexample, Theorem, decided, tried
from spec_math.symbolic.trial import SEED, Faces, laws_to_try
from spec_math.verdict import Reason, Undecided

_DISAGREES = (
    "the proof on symbols is withdrawn: on this distribution, in Fractions, the program does something else; it may "
    "use what symbols cannot refuse, such as `is`, `id` or type(mass) is Fraction"
)
_KEEPS_STATE = (
    "followed a second time on the same distributions, the program asks other questions or gets another verdict: it "
    "keeps state between two calls, or draws from something else than its coin"
)
LEAST = 10
"""On so many laws a theorem is tried at least, however short the time."""
_SHOWN = {1: "< 0", 2: "= 0", 3: "≤ 0", 4: "> 0", 5: "≠ 0", 6: "≥ 0"}


@dataclass(frozen=True)
class Proof:
    """The outcome of a theorem: `proved`, `refuted` by a counterexample, or `open` with the reason.

    regions: how many regions the statement was judged on; outside: those that its hypotheses leave out; discarded: how
    often z3 has proved that a region holds no law; tried: on how many laws it was run with Fractions afterwards;
    not_judged: on how many of them it gave no verdict; undecided: why it was left open, for programs to read.

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
    tried: int = 0
    not_judged: int = 0
    undecided: Reason | None = None

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def _repr_html_(self) -> str:
        counts = {"regions judged": self.regions, "outside the hypotheses": self.outside, "cases tried": self.tried}
        shown = self.counterexample._repr_html_() if self.counterexample else ""  # pyright: ignore[reportPrivateUsage]
        colour = {"proved": GOOD, "refuted": BAD}.get(self.verdict, PLAIN)
        facts = {"for": self.scope, **counts, "seconds": self.seconds, "reason": self.reason or None}
        return card(f"{self.verdict.capitalize()}: {self.name}", facts, shown, colour)


def prove(
    theorem: Theorem,
    watch: Callable[[int, int], None] | None = None,
    limit: float | None = None,
    seed: int = SEED,
    tree: SignNode | None = None,
) -> Proof:
    """Prove a theorem for all laws, or return rational laws that refute it.

    The statement runs on symbols. A comparison with two answers splits the region in two, and a part that z3 proves
    impossible is dropped; whatever it cannot prove stays. On each region left the statement must hold: the masses it
    compares are then one rational function. What is proved is then tried on rational laws with zeros and ties, `seed`
    chooses which; one that is false there is no longer proved. One that fails is searched for rational laws on which
    the statement, run with Fractions, is false; there is no other way to be refuted. A program that asks a symbol for
    what only single masses have is refuted or left open. `watch` gets the regions judged and waiting; `limit` is in
    seconds of processor time, for the proof and again for the trial, after which the theorem is left open. `tree` is
    filled with the signs that split the regions, and with what was judged on each.

    >>> from spec_math import check_lossless
    >>> from spec_math.token_level import single
    >>> def statement(target, draft):
    ...     return check_lossless(single.verify, target, draft)
    >>> prove(Theorem("maximal coupling", "all laws on 2 tokens", statement, {"t": 2, "d": 2})).verdict
    'proved'
    >>> def hopeful(target, draft):
    ...     return check_lossless(lambda coin, tokens, target, draft: tokens[0], target, draft)
    >>> print(prove(Theorem("no test", "all laws on 2 tokens", hopeful, {"t": 2, "d": 2})).counterexample)
    t = (1/12, 11/12); d = (0, 1): Lossy for 1 draft: token 0 is emitted with probability 0 where ...
    """
    started = perf_counter()
    root, faces = opened(theorem, limit), Faces()
    if tree is not None:
        root.node, tree.space = tree, root.space
    counted = {"regions": 0, "outside": 0}
    stopped: Judged | Undecided | None = None
    try:
        for region, verdict in judged(theorem, root, watch):
            faces.add(region)
            counted["outside" if verdict is None else "regions"] += 1
            if tree is not None and tree.kept is not None and region.node is not None:
                region.node.held = tree.kept()
            if verdict is not None and not verdict:
                stopped = Judged(region, verdict)
                break
    except Spent:
        stopped = Undecided(Reason.BUDGET, f"{limit:g} s were not enough: {counted['regions']} regions were judged")
    answer, tries, not_judged = _answered(theorem, stopped, faces, seed, limit)
    found = answer if isinstance(answer, Counterexample) else None
    return Proof(
        theorem.name,
        theorem.scope,
        "refuted" if found else "open" if isinstance(answer, Undecided) else "proved",
        **counted,
        discarded=root.space.discarded,
        seconds=perf_counter() - started,
        counterexample=found,
        reason=_DISAGREES if found and stopped is None else answer.explanation if isinstance(answer, Undecided) else "",
        tried=tries,
        not_judged=not_judged,
        undecided=answer.reason if isinstance(answer, Undecided) else None,
    )


def _answered(
    theorem: Theorem, stopped: Judged | Undecided | None, faces: Faces, seed: int, limit: float | None
) -> tuple[Counterexample | Undecided | None, int, int]:
    """Return what is to be said of a theorem, on how many laws it was tried for that, and how many gave no verdict."""
    answer = _on_the_region(theorem, stopped) if isinstance(stopped, Judged) else stopped
    if isinstance(answer, Counterexample):
        return answer, 0, 0
    tries = not_judged = spent = 0
    ends = None if limit is None else process_time() + limit
    for point in laws_to_try(theorem, faces, seed):
        if spent == ENOUGH or (ends is not None and tries >= LEAST and process_time() > ends):
            if answer is None:
                answer = Undecided(Reason.BUDGET, f"proved on symbols, tried on only {tries} distributions")
            break
        tries += 1
        found = tried(theorem, point)
        if isinstance(found, Counterexample):
            return found, tries, not_judged
        if found is not None:
            not_judged += 1
            spent += found.reason is Reason.BUDGET
            answer = found if answer is None else answer
    return answer, tries, not_judged


def _on_the_region(theorem: Theorem, stopped: Judged) -> Counterexample | Undecided:
    """Return a law of the region that refutes the theorem, or why it is left open there."""
    try:
        answer = counterexample(theorem, stopped.region)
    except Spent:
        answer = None
    if answer is not None:
        return answer
    own = stopped.verdict
    if isinstance(own, Undecided):
        return own
    return Undecided(Reason.NOT_JUDGED, f"{own} where {_described(stopped.region)}")


def _described(region: Region) -> str:
    shown = sorted((f"{polynomial} {_SHOWN[wanted]}" for polynomial, wanted in region.conditions.items()), key=len)
    more = f", and {len(shown) - 8} conditions more" if len(shown) > 8 else ""
    return ", ".join(shown[:8]) + more


TRIED = 40
"""How many rational laws of a region are tried for a counterexample."""
ENOUGH = 3
"""After so many laws on which the statement gives no verdict, no more are tried."""


class Judged(NamedTuple):
    """A region, and what the statement says of all its laws: a verdict, or None outside of its hypotheses."""

    region: Region
    verdict: Any


def regions(theorem: Theorem) -> Iterator[Judged]:
    """Split the laws of a theorem into regions with one verdict each; every law lies in exactly one of them.

    >>> from fractions import Fraction
    >>> from spec_math import check_lossless
    >>> from spec_math.token_level import single
    >>> def statement(target, draft):
    ...     return check_lossless(single.verify, target, draft)
    >>> law_pairs = Theorem("maximal coupling", "all laws on 2 tokens", statement, {"t": 2, "d": 2})
    >>> sum(region.holds((Fraction(1, 2), Fraction(1, 3))) for region, _ in regions(law_pairs))
    1
    """
    return judged(theorem, opened(theorem))


def judged(theorem: Theorem, root: Region, watch: Callable[[int, int], None] | None = None) -> Iterator[Judged]:
    """Split a region as `regions` does; `watch` is called with how many regions are judged, and how many wait.

    Raises:
        Spent: the time of the region's space is used up.
    """
    waiting, done = [root], 0
    while waiting:
        root.space.look_at_the_clock()
        region = waiting.pop()
        try:
            verdict = _followed(theorem, region, waiting)
        except Split as split:
            waiting += reversed(region.parts(split))
            continue
        except EmptyRegion:
            continue
        held = verdict is None or bool(verdict)
        # A chance that is 0 here was followed, perhaps, or no law is here at all. A point that refutes tells at once.
        if not held and not region.strict and not isinstance(counterexample(theorem, region), Counterexample):
            if not region.impossible():
                waiting.append(region.made_strict())
            continue
        done += 1
        yield Judged(region, verdict)
        if watch is not None:
            watch(done, len(waiting))


def opened(theorem: Theorem, limit: float | None = None) -> Region:
    """Return the region of all laws of a theorem; `limit` is in seconds of processor time from now."""
    sizes = list(theorem.laws.values())
    names = [f"{name}({token})" for name, size in theorem.laws.items() for token in range(size - 1)]
    points = Points(sizes, len(theorem.scalars))
    space = Space([*names, *theorem.scalars], points, limit)
    ring = space.field.ring
    conditions: dict[Any, int] = {}
    place = 0
    for size in sizes:
        rest = ring.number(-1)
        for variable in ring.variables[place : place + size - 1]:
            conditions[variable] = NONNEGATIVE
            rest = ring.plus(rest, variable)
        if size > 1:
            conditions[rest] = NONPOSITIVE
        place += size - 1
    for variable in ring.variables[place:]:
        conditions[ring.plus(variable, ring.number(-1))] = NONNEGATIVE
    return Region(space, conditions, space.field.variables, np.arange(len(points)))


def counterexample(theorem: Theorem, region: Region) -> Counterexample | Undecided | None:
    """Look for rational laws of the region on which the statement, run with Fractions, is false.

    Raises:
        Spent: the time of the region's space is used up.
    """
    left_open: list[Undecided] = []
    for point in islice(region.points(), TRIED):
        region.space.look_at_the_clock()
        answer = tried(theorem, point)
        if isinstance(answer, Counterexample):
            return answer
        if answer is not None:
            left_open.append(answer)
        if len(left_open) == ENOUGH:
            break
    return left_open[0] if left_open else None


def _followed(theorem: Theorem, region: Region, waiting: list[Region]) -> Any:
    """Run the statement with the symbols of a region; one that asks them for what they have not is left open.

    A question with two answers may leave the region smaller, and the rest of it waiting. A statement that holds is run
    again: other questions, answers or another verdict show state between two calls, and it is left open. In between it
    is run halfway, so that a program that counts its calls does not come out even.
    """
    verdict = _run(theorem, region, waiting)
    if region.refused is not None or not verdict:
        return verdict
    halfway, again = region.copied(), region.copied()
    halfway.most_questions = len(region.asked) // 2
    try:
        with suppress(BrokenOff):
            _ = _run(theorem, halfway, None)
        same = halfway.asked == region.asked[: len(halfway.asked)]
        same = same and bool(_run(theorem, again, None)) and again.asked == region.asked
    except (Split, EmptyRegion):
        same = False
    return verdict if same else Undecided(Reason.NOT_JUDGED, _KEEPS_STATE)


def _run(theorem: Theorem, region: Region, waiting: list[Region] | None) -> Any:
    """Run the statement once; `waiting` takes what a question splits off, and None allows no split."""
    region.space.running, region.later, region.asked = region, waiting, []
    try:
        verdict = decided(theorem, [number(value, region) for value in region.values])
        if isinstance(verdict, Number):
            verdict = bool(verdict)
    except Split:
        if region.refused is None:
            raise
        verdict = None
    finally:
        region.space.running, region.later, region.over = None, None, True
    if region.refused is not None:  # caught on its way here, perhaps: what came after it is worth nothing
        return Undecided(Reason.NOT_JUDGED, str(region.refused))
    if region.open is not None:
        raise region.open
    return verdict
