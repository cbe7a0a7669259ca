"""The frontier as a result: a row for each method and regime, a picture for each pair of models, and the advice.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.block_level.methods import TREES, Drafts
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.studies.frontier.comparison import Asked, Frontier, Point
from spec_math.wording import listed


def result_of(found: Sequence[Frontier], asked: Asked) -> Result:
    """Return what was found; the finding is how sharp the first models are, and what to take for them.

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> asked = Asked((2,), Costs(), 12)
    >>> found = compare(drafting_itself([0.5, 0.5]), asked, no_progress)
    >>> [table.name for table in result_of([found], asked).tables]
    ['frontier', 'bounds']
    """
    columns = (
        Column("method"),
        *(Column(f"{budget} nodes", "mean", "tokens per call of the target") for budget in asked.budgets),
        Column("fastest shape"),
        Column("tokens per call", "mean", "tokens per call of the target"),
        Column("speed-up", "mean", "times plain decoding", digits=2),
        Column("bound", "mean", "tokens per call of the target"),
        Column("share of bound", "number", "of the tokens per call", digits=2, heading="share"),
        Column("page", shown=False),
    )
    rows = [
        Row(
            (
                point.method.name,
                *(held.tokens if (held := one.point(point.method, n)) is not None else None for n in asked.budgets),
                str(point.shape),
                point.tokens,
                point.faster,
                point.bound,
                point.share,
                point.method.page,
            ),
            group=one.regime.title,
        )
        for one in found
        for point in one.fastest
    ]
    table = Table("frontier", "Tokens per call under a budget of verified nodes", columns, tuple(rows))
    first = found[0]
    finding = f"{first.regime.facts}. {advice(found[:1])[0]}"
    names = list(dict.fromkeys(one.regime.name for one in found))
    drawn = [one for name in names for one in pictures([own for own in found if own.regime.name == name], asked)]
    title = "Which drafts, which tree, which verifier"
    tables = table, bounds(found, asked.budgets)
    return Result("frontier", title, finding, tables, tuple(drawn), sentences(_notes(found, asked)))


def bounds(found: Sequence[Frontier], budgets: Sequence[int]) -> Table:
    """Return what no verifier exceeds under each budget, a row for each kind of drafts and regime.

    >>> bounds([], (4, 8)).columns[1].name
    '4 nodes'
    """
    columns = Column("drafts"), *(Column(f"{n} nodes", "mean", "tokens per call of the target") for n in budgets)
    rows = [
        Row((kind.name, *(one.ceilings[n].get(kind) for n in budgets)), group=one.regime.title)
        for one in found
        for kind in dict.fromkeys(kind for n in budgets for kind in one.ceilings[n])
    ]
    return Table("bounds", "What no verifier of a kind of drafts exceeds", columns, tuple(rows))


def _notes(found: Sequence[Frontier], asked: Asked) -> list[str]:
    notes = [f"{one.regime.title}: {one.regime.facts}." for one in found]
    notes += dict.fromkeys(f"{one.regime.name}: {one.regime.models.source}." for one in found)
    notes += [
        f"{asked.costs} {asked.samples} prefixes a regime, the same for all; methods of drawn chains share their "
        "drafts. A third of them chooses each method's shape, the rest give the figures.",
        "A budget counts drafted tokens, K · L for chains; chains that share a beginning could share its nodes, and "
        "then cost less than is said here.",
        "Bounds are those of the very drafts in the row, sampled on texts of the target's own: those of drawn chains "
        "and trees sum what each depth could yield, and perhaps no verifier reaches them; that of a chosen tree is the "
        "best tree of its size.",
    ]
    points = [point for one in found for point in one.fastest if point.bound is not None]
    if lucky := sum(point.lucky for point in points):
        notes.append(
            f"{lucky} of {len(points)} samples of tokens per call lie above the sample of their bound, as their "
            "expectation cannot: no share is said of them, and their speed-up is that of the bound. More --samples "
            "make them fewer."
        )
    return notes + advice(found)


def advice(found: Sequence[Frontier]) -> list[str]:
    """Say what to take in each regime, and where along the temperatures the kind of drafts changes.

    >>> advice([])
    []
    """
    said = [of_regime(one) for one in found]
    for name in dict.fromkeys(one.regime.name for one in found):
        said += _crossing([one for one in found if one.regime.name == name])
    return said


def of_regime(found: Frontier) -> str:
    """Say what to take in one regime: the fastest method, its shape, what is left to the bound, and the runner-up.

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> asked = Asked((2,), Costs(), 12)
    >>> found = compare(drafting_itself([0.5, 0.5]), asked, no_progress)
    >>> of_regime(found).partition(" tokens")[0]
    'one law, temperature 1: draft one chain of 2, verify with one chain, token by token: 3.00 (1.89 to 3.00)'
    """
    best = found.fastest[0]
    taken = f"draft {best.shape}, verify with {best.method.name}"
    if best.speed_up < 1:
        taken = f"draft nothing, which is faster at these costs than any method here; the fastest is to {taken}"
    return (
        f"{found.regime.title}: {taken}: {best.tokens} tokens a "
        f"call, with {best.tokens.confidence:.0%}, and {best.speed_up:.2f} times plain "
        f"decoding at these costs; {_bound(best)}; {_runner_up(best, found.fastest)}."
    )


def _bound(best: Point) -> str:
    if best.bound is None:
        return "no bound is known for such drafts"
    # Both are sampled, on drafts of their own.
    lucky = ", from which the speed-up is counted, as the sample lies above it" if best.lucky else ""
    return f"no verifier of such drafts exceeds {best.bound.value:.2f} ± {best.bound.error:.2f}{lucky}"


def _runner_up(best: Point, points: Sequence[Point]) -> str:
    if len(points) < 2:
        return "nothing else was compared"
    apart = "two standard errors apart" if _apart(best, points[1]) else "which these samples do not tell apart"
    return f"next is {points[1].method.name} with {points[1].shape}, {points[1].speed_up:.2f} times, {apart}"


def _apart(best: Point, other: Point) -> bool:
    """Say whether the speed-ups of two methods are more than two standard errors of either apart."""
    return other.speed_up * (1 + 2 * other.tokens.error / other.tokens.value) < best.speed_up * (
        1 - 2 * best.tokens.error / best.tokens.value
    )


def _crossing(found: Sequence[Frontier]) -> list[str]:
    """Say at which temperatures chosen trees are faster than drawn drafts, and where these samples tell them apart."""
    ordered = sorted(found, key=lambda one: -one.regime.temperature)
    if len(ordered) < 2:
        return []
    name, heats = ordered[0].regime.name, [one.regime.temperature for one in ordered]
    trees = [one.fastest[0].method.drafts is TREES for one in ordered]
    changes = [place for place in range(1, len(trees)) if trees[place] != trees[place - 1]]
    if not changes:
        kind = "a chosen tree" if trees[0] else "drawn drafts"
        said = f"{kind} at every temperature from {heats[-1]:g} to {heats[0]:g}"
    else:
        said = "; ".join(
            f"somewhere between the temperatures {heats[place - 1]:g} and {heats[place]:g} the answer changes: from "
            f"{heats[place]:g} downwards take {ordered[place].fastest[0].method.name} with "
            f"{ordered[place].fastest[0].shape}"
            for place in changes
        )
    return [f"{name}: {said}. {_told_apart(ordered)}"]


def _told_apart(ordered: Sequence[Frontier]) -> str:
    """Say at which temperatures the best chosen tree and the best drawn drafts are two standard errors apart."""
    sure: dict[bool, list[str]] = {True: [], False: []}
    for one in ordered:
        best = one.fastest[0]
        other = next(
            (point for point in one.fastest if (point.method.drafts is TREES) != (best.method.drafts is TREES)), None
        )
        if other is not None:
            sure[_apart(best, other)].append(f"{one.regime.temperature:g}")
    told, open_ = listed(sure[True]), listed(sure[False])
    parts = [f"two standard errors apart at {told}"] if told else []
    parts += [f"not told apart by these samples at {open_}"] if open_ else []
    return f"Chosen trees and drawn drafts are {', and '.join(parts)}." if parts else "Only one of them was compared."


X, Y = "verified nodes a call", "tokens per target call"


def pictures(found: Sequence[Frontier], asked: Asked) -> tuple[Picture, Picture]:
    """Return tokens per call against the node budget of one pair of models: all bounds, and every method by its kind.

    The first has a panel for each temperature, the second a row of them for each kind of drafts.
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
    """Return the kinds of drafts that are compared, in the order of their methods."""
    return list(dict.fromkeys(point.method.drafts for points in one.by_budget.values() for point in points))


def _methods(one: Frontier, kind: Drafts, asked: Asked) -> list[Curve]:
    known = dict.fromkeys(point.method for points in one.by_budget.values() for point in points)
    return [
        curve(method.name, {n: held.tokens for n in asked.budgets if (held := one.point(method, n)) is not None})
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
