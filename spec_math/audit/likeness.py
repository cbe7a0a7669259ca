"""Which known bug a sampler resembles: what each of them emits on the toy case against what the sampler emits there.

Source: the zoo, which names the issues of engines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from spec_math.audit.case import default
from spec_math.audit.exploration.walk import Text
from spec_math.audit.judgement import Judgement, judge
from spec_math.audit.subject import Subject
from spec_math.audit.zoo import ZOO, Specimen, toy
from spec_math.block_level.emitted import emitted_law

CLOSE = 3
"""How many bugs are named."""


@dataclass(frozen=True)
class Likeness:
    """A known bug, and how far what it emits on the toy is from what the sampler emits there.

    Made by `likenesses`.
    """

    specimen: Specimen
    distance: Any

    @property
    def same(self) -> bool:
        """Whether the two emit one law, but for the toy's last digits."""
        return float(self.distance) < 1e-7


def comparable() -> tuple[Specimen, ...]:
    """Return the bugs whose law on the toy can be compared: modelled ones of the toy's own target that emit tokens.

    >>> len(comparable()) > 25
    True
    """
    return tuple(one for one in ZOO if one.contract and one.target is toy.target and one.emits_tokens)


@cache
def _law(specimen: Specimen) -> dict[Text, Any]:
    if specimen.generate is None:
        return {}
    return emitted_law(specimen.generate, specimen.target, toy.HORIZON, specimen.rounds)


def likenesses(
    subject: Subject, lookahead: int, budget: int, progress: Callable[[int], None] = lambda _: None
) -> list[Likeness]:
    """Return the known bugs nearest to a sampler that fails on the toy, nearest first; none where it passes or breaks.

    A sampler of one position is compared in its first token, one of chains in the joint law of three tokens. A bug
    farther from the sampler than the sampler is from the target is left out.

    >>> from spec_math.audit.subject import subject_of
    >>> [one.specimen.name for one in likenesses(subject_of(lambda tokens, target, draft: tokens[0]), 0, 1000)]
    ['M7', 'M8', 'M10']
    """
    if subject.fixed:
        return []
    found = judge(subject, default(toy.LOOKAHEAD if lookahead else 0), budget)
    if found.kind != "law" or found.walk.unexplored:
        return []
    near: list[Likeness] = []
    for number, specimen in enumerate(comparable()):
        progress(number + 1)
        distance = _distance(found, _law(specimen))
        if distance < found.joint:
            near.append(Likeness(specimen, distance))
    near.sort(key=lambda one: one.distance)
    return ([one for one in near if one.same] or near)[:CLOSE]


def _distance(found: Judgement, law: dict[Text, Any]) -> Any:
    size = found.case.horizon
    shown: dict[Text, Any] = {}
    for text, mass in law.items():
        shown[text[:size]] = shown.get(text[:size], 0) + mass
    return sum(abs(shown.get(text, 0) - found.law.get(text, 0)) for text in shown | found.law) / 2
