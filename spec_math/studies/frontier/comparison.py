"""All methods under budgets of verified nodes: which to take, what each yields in its best shape, and its bounds.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

from spec_math.block_level.methods import Drafts, Method
from spec_math.mean import Mean
from spec_math.sequential.decision import FIRST, FLOAT, Decision, Terms, race
from spec_math.studies.arguments import Progress, absolute
from spec_math.studies.blocks.comparison import kept
from spec_math.studies.costs import Costs
from spec_math.studies.frontier import further
from spec_math.studies.frontier.contenders import LONGEST, Regime, Trees
from spec_math.studies.lengths.units import Contender, Measured, Shape, Units

CONFIDENCE, MARGIN = 0.99, 0.02
"""The confidence of a decision with all intervals of a regime, and within how much two are equivalent."""

THIN = 12
"""The samples of which dear methods are measured on one, where everyone is measured."""


class Point(NamedTuple):
    """A method with its best shape: tokens per call, speed-up, and what no verifier of these very drafts exceeds.

    `share` is that of the bound, on the same texts.
    """

    method: Method
    shape: Shape
    tokens: Mean
    faster: Mean
    bound: Mean
    share: Mean | None


@dataclass(frozen=True)
class Frontier:
    """The results of one regime: for each budget each method's best shape by tokens, and the fastest of all budgets.

    `decision` is between the `contenders`, all methods in all shapes. `ceilings` has for each budget, by kind of
    drafts, the largest bound of any shape.
    """

    regime: Regime
    by_budget: dict[int, list[Point]]
    fastest: list[Point]
    ceilings: dict[int, dict[Drafts, Mean]]
    decision: Decision
    contenders: Sequence[Contender]

    @property
    def taken(self) -> Point:
        """The method and shape to take, or those that lead."""
        return self.fastest[0]

    def point(self, method: Method, budget: int) -> Point | None:
        """Return what a method yields under a budget, if any of its shapes fits."""
        return next((point for point in self.by_budget[budget] if point.method is method), None)


class Asked(NamedTuple):
    """Under which budgets, at which costs, from how many units at most; of `everyone`, whatever is decided."""

    budgets: tuple[int, ...]
    costs: Costs
    samples: int
    seed: int = 0
    everyone: bool = False


def compare(regime: Regime, asked: Asked, progress: Progress) -> Frontier:
    """Race all methods in all shapes, and say what each yields in its best shape.

    Raises:
        ValueError: budgets or a number of samples that are not positive integers.

    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> found = compare(drafting_itself([0.5, 0.5]), Asked((2,), Costs(), 16), no_progress)
    >>> round(found.taken.tokens.value, 12), round(found.taken.bound.value, 12)
    (3.0, 3.0)
    """
    # What is kept goes with this call, and not with its result.
    models = kept(regime.models)
    trees = Trees(replace(regime, models=models), asked.budgets, asked.seed)
    sources = trees, further.beams, further.noise
    units = Units(models.target, models.draft, models.prefixes, LONGEST, asked.seed, sources, trees.bounds)
    found = further.every(asked.budgets)
    calls = [float(asked.costs.of_call(one.shape.nodes, one.shape.levels, one.shape.widest)) for one in found]
    measured = Measured(units, found, calls)
    step = absolute(progress(regime.title, asked.samples))
    terms = Terms(asked.samples, CONFIDENCE, MARGIN, asked.everyone, THIN if asked.everyone else 1)
    names = [f"{one.method.name} with {one.shape}" for one in found]
    decision = race(measured.candidates(names), partial(measured, step=step), terms)
    decision.complete(measured, min(FIRST, asked.samples))
    return _result(regime, asked, decision, found)


def _result(regime: Regime, asked: Asked, decision: Decision, found: Sequence[Contender]) -> Frontier:
    own: dict[Method, list[int]] = {}
    kinds: dict[Drafts, list[int]] = {}
    for place, one in enumerate(found):
        own.setdefault(one.method, []).append(place)
        kinds.setdefault(one.method.drafts, []).append(place)

    @cache
    def point(place: int) -> Point:
        one, call = found[place], 1 / decision.candidates[place].least
        faster = decision.level(place)
        bound = decision.bound(place, faster)
        tokens, most = (mean.scaled_to(mean.value * call) for mean in (faster, bound))
        return Point(one.method, one.shape, tokens, faster, most, decision.share(place))

    def by_tokens(rows: Sequence[FLOAT], places: Sequence[int]) -> Point:
        """Return the point of most tokens on the units that all of these share."""
        both = min(len(rows[place]) for place in places)
        return point(max(places, key=lambda at: float(rows[at][:both].mean()) / decision.candidates[at].least))

    def best(rows: Sequence[FLOAT], groups: dict[Any, list[int]], budget: int) -> dict[Any, Point]:
        """Return the point of most tokens of each group that has drafts within a budget."""
        fitting = {key: [at for at in places if found[at].shape.nodes <= budget] for key, places in groups.items()}
        return {key: by_tokens(rows, few) for key, few in fitting.items() if few}

    def fastest(places: Sequence[int]) -> int:
        # The one that was in the race longest.
        rows = decision.values
        return max(places, key=lambda at: (at == decision.taken, len(rows[at]), float(rows[at].mean())))

    points = sorted((point(fastest(places)) for places in own.values()), key=lambda one: -one.faster.value)
    first = point(decision.taken)
    ordered = [first, *(one for one in points if one is not first)]
    by_budget = {budget: [*best(decision.values, own, budget).values()] for budget in asked.budgets}
    bounds = {budget: best(decision.bounds, kinds, budget) for budget in asked.budgets}
    ceilings = {budget: {kind: one.bound for kind, one in held.items()} for budget, held in bounds.items()}
    return Frontier(regime, by_budget, ordered, ceilings, decision, found)
