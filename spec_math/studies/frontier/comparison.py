"""All methods under budgets of verified nodes: the best shape of each, what it yields, and what its drafts allow.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from spec_math.block_level.methods import Drafts, Method
from spec_math.mean import Mean, of_independent
from spec_math.studies.arguments import Progress
from spec_math.studies.costs import Costs
from spec_math.studies.frontier import ceilings, contenders, further
from spec_math.studies.frontier.contenders import Contender, Regime, Shape, kept

CONFIDENCE = 0.99
ROUNDING = 2.0**-40
"""More than two means of the same float64 samples differ by, relatively, where only their order of summing does."""

LEAST = 12
"""The fewest samples: a third of them chooses shapes, and what is left of the slowest method must still have two."""


@dataclass(frozen=True)
class Point:
    """A method with the shape that was best for it, on samples that did not choose the shape.

    `bound` is what no verifier of these very drafts exceeds, in tokens per call; None where it is not known. The
    speed-up is that of the tokens, or of the bound where the sampled tokens lie above it.
    """

    method: Method
    shape: Shape
    tokens: Mean
    speed_up: float
    bound: Mean | None

    @property
    def faster(self) -> Mean:
        """The speed-up with the error of what it is counted from: the tokens, or the bound if that is less."""
        counted = self.bound if self.bound is not None and self.lucky else self.tokens
        return counted.scaled_to(self.speed_up)

    @property
    def lucky(self) -> bool:
        """True if the sampled tokens lie above the sampled bound, which their expectation cannot."""
        return self.bound is not None and self.tokens.value > self.bound.value * (1 + ROUNDING)

    @property
    def share(self) -> float | None:
        """Tokens per call over the bound; None where there is no bound, or a lucky sample lies above it."""
        return None if self.bound is None or self.lucky else self.tokens.value / self.bound.value


@dataclass(frozen=True)
class Frontier:
    """The results of one regime: for each budget each method's best shape by tokens, and the fastest of all budgets.

    `ceilings` has for each budget, by kind of drafts, the largest bound of any shape.
    """

    regime: Regime
    by_budget: dict[int, list[Point]]
    fastest: list[Point]
    ceilings: dict[int, dict[Drafts, Mean]]

    def point(self, method: Method, budget: int) -> Point | None:
        """Return what a method yields under a budget, if any of its shapes fits."""
        return next((point for point in self.by_budget[budget] if point.method is method), None)


@dataclass(frozen=True)
class Asked:
    """Under which budgets, at which costs, from how many samples."""

    budgets: tuple[int, ...]
    costs: Costs
    samples: int
    seed: int = 0


def compare(regime: Regime, asked: Asked, progress: Progress) -> Frontier:
    """Sample every method in every shape, choose each one's shape on a third of the samples, and judge it on the rest.

    Raises:
        ValueError: fewer than 12 samples, or budgets that are not positive integers.

    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> found = compare(drafting_itself([0.5, 0.5]), Asked((2,), Costs(), 12), no_progress)
    >>> found.fastest[0].tokens.value, found.fastest[0].bound.value
    (3.0, 3.0)
    """
    if asked.samples < LEAST:
        raise ValueError(f"--samples must be at least {LEAST}: a third chooses shapes; got {asked.samples}")
    # What is kept goes with this call, and not with its result.
    keeping = replace(regime, models=kept(regime.models))
    chosen, best = contenders.of_trees(keeping, asked.budgets, asked.samples, asked.seed, progress)
    drawn = contenders.of_chains(keeping, asked.samples, asked.seed, progress)
    drawn += further.of_beams(keeping, asked.samples, asked.seed, progress)
    for others in (further.of_plans, further.of_noise, further.of_stems, further.of_branching):
        drawn += others(keeping, asked.samples, asked.seed, progress)
    means = cache(mean_of)
    bounds = [*ceilings.of_drafts(keeping, asked.samples, asked.seed, progress), *best]
    found = [*drawn, *chosen]
    methods = list(dict.fromkeys(one.method for one in found))
    by_budget = {
        budget: [
            _point(max(own, key=_chosen_by_tokens), bounds, asked.costs, means)
            for method in methods
            if (own := [one for one in found if one.method is method and one.shape.nodes <= budget])
        ]
        for budget in asked.budgets
    }
    fastest = [
        _point(max(own, key=lambda one: _speed(one, _chosen_by_tokens(one), asked.costs)), bounds, asked.costs, means)
        for method in methods
        if (own := [one for one in found if one.method is method and one.shape.nodes <= max(asked.budgets)])
    ]
    fastest.sort(key=lambda point: -point.speed_up)
    tops = {budget: _tops(bounds, budget, means) for budget in asked.budgets}
    return Frontier(regime, by_budget, fastest, tops)


Means = Callable[[Contender, int], Mean]


def mean_of(one: Contender, samples: int) -> Mean:
    """Return the mean over so many of a contender's samples, evenly spaced, without the third that chose shapes."""
    values = one.tokens[:: max(1, len(one.tokens) // samples)][:samples]
    mean = of_independent(values[samples // 3 :], 1, one.most, CONFIDENCE)
    # Weighted samples may exceed what a call can yield; their mean over all samples cannot.
    return mean.between(1, 1 + one.shape.levels)


def _point(one: Contender, bounds: Sequence[Contender], costs: Costs, means: Means) -> Point:
    tokens = means(one, len(one.tokens))
    bound = next((other for other in bounds if (other.drafts, other.shape) == (one.drafts, one.shape)), None)
    if bound is None:
        return Point(one.method, one.shape, tokens, _speed(one, tokens.value, costs), None)
    # From the same prefixes as the tokens, so that what is left of the bound is not a matter of where texts start.
    most = means(bound, len(one.tokens))
    # A sample above what no verifier exceeds is luck, and must not make a method the fastest.
    return Point(one.method, one.shape, tokens, _speed(one, min(tokens.value, most.value), costs), most)


def _chosen_by_tokens(one: Contender) -> float:
    return float(one.tokens[: max(1, len(one.tokens) // 3)].mean())


def _speed(one: Contender, tokens: float, costs: Costs) -> float:
    return float(costs.speed_up(tokens, one.shape.nodes, one.shape.levels, one.shape.widest))


def _tops(bounds: Sequence[Contender], budget: int, means: Means) -> dict[Drafts, Mean]:
    found: dict[Drafts, Mean] = {}
    for kind in dict.fromkeys(one.drafts for one in bounds):
        fitting = [one for one in bounds if one.drafts is kind and one.shape.nodes <= budget]
        if fitting:
            best = max(fitting, key=lambda one: float(one.tokens.mean()))
            found[kind] = means(best, len(best.tokens))
    return found
