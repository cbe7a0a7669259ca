"""The frontier as pictures: every method in the panel of its own kind of drafts with their bound, and all the bounds.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.block_level.method import Drafts
from spec_math.result import Curve, Panel, Picture, curve
from spec_math.studies.frontier.comparison import Asked, Frontier
from spec_math.studies.frontier.ways import TREES

X, Y = "verified nodes a call", "tokens per target call"


def pictures(found: Sequence[Frontier], asked: Asked) -> tuple[Picture, Picture]:
    """Return tokens per call against the node budget of one pair of models: all bounds, and every method by its kind.

    The first has a panel for each temperature, the second a row of them for each kind of drafts.

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> asked = Asked((2,), Costs(), 12)
    >>> found = compare(drafting_itself([0.5, 0.5]), asked, no_progress)
    >>> [picture.name for picture in pictures([found], asked)]
    ['one-law-bounds', 'one-law']
    """
    name, source = found[0].regime.name, found[0].regime.models.source
    kinds = list(dict.fromkeys(kind for one in found for kind in kinds_of(one)))
    return (
        Picture(
            f"{name.replace(' ', '-')}-bounds",
            f"What no verifier of a kind of drafts exceeds: {name}",
            f"{source}. Sampled; the intervals stand in the table. Bounds of drawn drafts sum what each depth could "
            "yield, and perhaps none reaches them; that of chosen trees is the best tree, which no drafter knows.",
            tuple(_panel(lines, lines, asked, _heat(one)) for one in found for lines in [_bounds(one, kinds, asked)]),
            len(found),
        ),
        Picture(
            name.replace(" ", "-"),
            f"Tokens per call under a node budget: {name}",
            f"{source}. A row for each kind of drafts, its methods in their best shapes for the budget, chosen on "
            "other samples; bars are 99 % intervals, side by side, and cut where they leave the picture. Black: what "
            "no verifier of these drafts exceeds, sampled on other texts, so that a lucky sample may lie above it.",
            tuple(_row(one, kind, asked) for kind in kinds for one in found),
            len(found),
        ),
    )


def kinds_of(one: Frontier) -> list[Drafts]:
    """Return the kinds of drafts that are compared, in the order of their methods.

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> asked = Asked((2,), Costs(), 12)
    >>> found = compare(drafting_itself([0.5, 0.5]), asked, no_progress)
    >>> kinds_of(found)[0].name
    'i.i.d. chains'
    """
    return list(dict.fromkeys(point.method.drafts for points in one.by_budget.values() for point in points))


def _methods(one: Frontier, kind: Drafts, asked: Asked) -> list[Curve]:
    known = dict.fromkeys(point.method for points in one.by_budget.values() for point in points)
    return [
        curve(
            method.name,
            {n: held.tokens for n in asked.budgets if (held := one.point(method, n)) is not None},
        )
        for method in known
        if method.drafts is kind
    ]


def _bounds(one: Frontier, kinds: Sequence[Drafts], asked: Asked) -> list[Curve]:
    found = {kind: {n: one.ceilings[n][kind] for n in asked.budgets if kind in one.ceilings[n]} for kind in kinds}
    return [curve(f"nothing exceeds: {kind.name}", means, "bound") for kind, means in found.items() if means]


def _panel(curves: Sequence[Curve], scale: Sequence[Curve], asked: Asked, head: str) -> Panel:
    """Return a panel as high as the highest point of `scale`."""
    top = 1.1 * max((y for drawn in scale for y in drawn.y), default=1.0)
    ticks = tuple(map(str, asked.budgets))
    return Panel(tuple(curves), X, Y, head, log_x=True, ticks=ticks, limits=(0.9, top), apart=True)


def _row(one: Frontier, kind: Drafts, asked: Asked) -> Panel:
    """Return the methods of a kind and its bound: all kinds of drawn drafts on one scale, chosen trees on their own."""
    drawn = [other for other in kinds_of(one) if other is not TREES]
    scale = [kind] if kind is TREES else drawn
    all_curves = [*(found for other in scale for found in _methods(one, other, asked)), *_bounds(one, scale, asked)]
    curves = [*_methods(one, kind, asked), *_bounds(one, [kind], asked)]
    return _panel(curves, all_curves, asked, f"{kind.name}, temperature {one.regime.temperature:g}")


def _heat(one: Frontier) -> str:
    facts = one.regime.facts
    return f"temperature {one.regime.temperature:g}: top-1 {facts.target_top:.2f}, {facts.target_bits:.1f} bits"
