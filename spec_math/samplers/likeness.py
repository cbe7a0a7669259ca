"""The known bug that a sampler resembles, by what each of them emits on the toy case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from spec_math.block_level.lossless import emitted_law
from spec_math.samplers.case import Case, default
from spec_math.samplers.judgement import Judgement, beginnings, distance, judge
from spec_math.samplers.subject import Subject
from spec_math.samplers.walk import Text
from spec_math.verdict import Lossless
from spec_math.zoo import ZOO, Specimen, toy

CLOSE = 3
"""How many bugs are named."""
PLAIN = Fraction(1)
"""The temperature of the toy's own target."""


@dataclass(frozen=True)
class Likeness:
    """A known bug, and how far what it emits on the toy is from what the sampler emits there.

    Made by `likenesses`.
    """

    specimen: Specimen
    distance: Any

    @property
    def same(self) -> bool:
        """True if the two emit one law, but for the toy's last digits."""
        return float(self.distance) < 1e-7


def comparable(heat: Fraction = PLAIN) -> tuple[Specimen, ...]:
    """Return the bugs whose law on the toy can be compared, modelled ones that emit tokens, at one temperature.

    At temperature 1 they are those of the toy's own target.
    """
    known = (one for one in ZOO if one.contract and one.emits_tokens and one.heat == heat)
    return tuple(one for one in known if heat != PLAIN or one.target is toy.target)


@cache
def _law(specimen: Specimen) -> dict[Text, Any]:
    if specimen.generate is None:
        return {}
    return emitted_law(specimen.generate, specimen.target, toy.HORIZON, specimen.rounds)


def likenesses(
    subject: Subject,
    lookahead: int,
    budget: int,
    progress: Callable[[int], None] = lambda _: None,
    asked: Case | None = None,
) -> list[Likeness]:
    """Return the known bugs nearest to a sampler that fails on the toy, nearest first; none where it passes or breaks.

    A sampler of one position is compared in its first token, one of chains in the joint law of three tokens. A bug
    farther from the sampler than the sampler is from the target is left out. Of a case that was `asked` for, the
    temperature is taken, and its number of drafts where a single one shows nothing.

    >>> from spec_math.samplers.subject import subject_of
    >>> [one.specimen.name for one in likenesses(subject_of(lambda tokens, target, draft: tokens[0]), 0, 1000)]
    ['M7', 'M8', 'M10']
    """
    if subject.fixed:
        return []
    heat, drafts = (asked.heat, asked.k) if asked else (PLAIN, 1)
    found = _judged(subject, lookahead, 1, heat, budget)
    if drafts > 1 and not lookahead and isinstance(found.verdict, Lossless):
        found = _judged(subject, lookahead, drafts, heat, budget)
    if found.kind != "law" or found.walk.unexplored:
        return []
    near: list[Likeness] = []
    for number, specimen in enumerate(comparable(heat)):
        progress(number + 1)
        apart = distance(beginnings(_law(specimen), found.case.horizon), found.law)
        if apart < found.joint:
            near.append(Likeness(specimen, apart))
    near.sort(key=lambda one: one.distance)
    same = [one for one in near if one.same]
    return (same if same or subject.said else near)[:CLOSE]


def _judged(subject: Subject, lookahead: int, drafts: int, heat: Fraction, budget: int) -> Judgement:
    return judge(subject, replace(default(toy.LOOKAHEAD if lookahead else 0, drafts), heat=heat), budget)
