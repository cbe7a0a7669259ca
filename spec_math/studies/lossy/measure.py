"""One rule at one value of its parameter, over many positions: what it accepts, how far it is, what could be had.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from spec_math.lossy import Rule
from spec_math.lossy.distances import distances
from spec_math.token_level import optimal


@dataclass
class Point:
    """A rule at a value of its parameter: a list for each number, an entry a position.

    `lossless` is the optimum of the rule's own drafts, and `possible` that under a budget of the total variation that
    the rule spends at this position; both divergences are in nats.

    >>> from spec_math.lossy import RULES
    >>> Point(RULES[0], "1/2").gap
    nan
    """

    rule: Rule
    value: str
    acceptance: list[float] = field(default_factory=list[float])
    tested: list[float] = field(default_factory=list[float])
    lossless: list[float] = field(default_factory=list[float])
    possible: list[float] = field(default_factory=list[float])
    total_variation: list[float] = field(default_factory=list[float])
    from_target: list[float] = field(default_factory=list[float])
    to_target: list[float] = field(default_factory=list[float])
    largest_ratio: list[float] = field(default_factory=list[float])
    forbidden: list[float] = field(default_factory=list[float])

    @property
    def gain(self) -> float:
        """What it accepts more than the best lossless rule of its drafts, on average over the positions."""
        return mean(self.acceptance) - mean(self.lossless)

    @property
    def gap(self) -> float:
        """What could be accepted more at its distances, position by position, on average."""
        return mean(self.possible) - mean(self.acceptance)

    @property
    def spent(self) -> float:
        """The total variation, on average over the positions."""
        return mean(self.total_variation)


def mean(values: Sequence[float]) -> float:
    """Return the mean, infinite where one value is, and NaN of none.

    >>> mean([1.0, 2.0]), mean([inf, 1.0])
    (1.5, inf)
    """
    return sum(values) / len(values) if values else float("nan")


def points_of(
    rule: Rule, laws: Sequence[tuple[Any, Any]], k: int, offsets: Sequence[float] | None = None
) -> list[Point]:
    """Measure a rule at each value of its sweep, on pairs of laws [V].

    A rule of logits takes ln Σ exp z of the target's logits from `offsets`, one a pair.

    Raises:
        ValueError: a rule of logits has no offsets.

    >>> from spec_math.lossy import RULES
    >>> [round(point.gain, 3) for point in points_of(RULES[0], [([0.25, 0.75], [0.5, 0.5])], 1)[::4]]
    [0.0, 0.125, 0.25]
    """
    drafts = rule.drafts(k)
    points = [Point(rule, value) for value in rule.swept]
    if rule.of_logits and offsets is None:
        raise ValueError(f"{rule.name} is a rule of logits: laws do not say what it needs; give files with --logits")
    known: Sequence[float | None] = offsets if rule.of_logits and offsets is not None else [None] * len(laws)
    for (target, draft), offset in zip(laws, known, strict=True):
        best = lossless(rule, target, draft, drafts)
        for point in points:
            options = rule.options(point.value) if offset is None else rule.options(point.value, offset)
            _add(point, (target, draft, drafts, options), best)
    return points


def lossless(rule: Rule, target: Any, draft: Any, k: int) -> float:
    """Return the most that any lossless rule of the same drafts accepts, a probability, for laws [V].

    Of tokens that the drafter chooses it is their target mass.

    >>> from spec_math.lossy import RULES
    >>> lossless(RULES[-1], [0.25, 0.75], [0.6, 0.4], 1)
    0.25
    """
    if rule.chosen:
        chosen = list(rule.draw(_NO_COIN, draft, k))
        return float(np.asarray(target)[chosen].sum())
    return float(optimal.acceptance(target, draft, k))


_NO_COIN: Any = None
"""A drafter that chooses its tokens asks for no coin."""


def _add(point: Point, case: tuple[Any, Any, int, Any], best: float) -> None:
    rule = point.rule
    law = np.asarray(rule.law(*case))
    far = distances(law / law.sum(), case[0])
    spent = float(far.total_variation)
    point.acceptance.append(float(rule.acceptance(*case)))
    point.tested.append(float((rule.test_acceptance or rule.acceptance)(*case)))
    point.lossless.append(best)
    point.possible.append(min(1.0, best + spent))
    point.total_variation.append(spent)
    point.from_target.append(float(far.from_target) if far.from_target.high < inf else inf)
    point.to_target.append(float(far.to_target) if far.to_target.high < inf else inf)
    point.largest_ratio.append(float(far.largest_ratio))
    point.forbidden.append(float(far.forbidden))
