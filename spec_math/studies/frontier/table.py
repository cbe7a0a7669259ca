"""The frontier as a result: a row for each method and regime, a picture for each pair of models, and the advice.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.block_level.method import CHAINS
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.studies.frontier.advice import advice
from spec_math.studies.frontier.comparison import Asked, Frontier
from spec_math.studies.frontier.ways import TREES

KINDS = CHAINS, TREES
"""Kinds of drafts whose bound is drawn."""


def result_of(found: Sequence[Frontier], asked: Asked) -> Result:
    """Return what was found; the finding is how sharp the first models are, and what to take for them.

    >>> result_of.__name__
    'result_of'
    """
    columns = (
        Column("method"),
        *(Column(f"{budget} nodes", "mean", "tokens per call of the target") for budget in asked.budgets),
        Column("fastest shape"),
        Column("tokens per call", "mean", "tokens per call of the target"),
        Column("speed-up", "number", "times plain decoding", digits=2),
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
                point.speed_up,
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
    pictures = tuple(picture([one for one in found if one.regime.name == name], asked) for name in names)
    title = "Which drafts, which tree, which verifier"
    tables = table, bounds(found, asked.budgets)
    return Result("frontier", title, finding, tables, pictures, sentences(_notes(found, asked)))


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


def picture(found: Sequence[Frontier], asked: Asked) -> Picture:
    """Return tokens per call against the node budget, a panel for each temperature of one pair of models.

    >>> picture.__name__
    'picture'
    """
    name = found[0].regime.name
    panels = tuple(
        Panel(
            tuple(_curves(one, asked.budgets)),
            "verified nodes a call",
            "tokens per target call",
            f"temperature {one.regime.temperature:g}: top-1 {one.regime.facts.target_top:.2f}, "
            f"{one.regime.facts.target_bits:.1f} bits",
            log_x=True,
            ticks=tuple(map(str, asked.budgets)),
            limits=(0.9, 1.1 * max(y for drawn in _curves(one, asked.budgets) for y in drawn.y)),
        )
        for one in found
    )
    return Picture(
        name.replace(" ", "-"),
        f"Tokens per call under a node budget: {name}",
        f"{found[0].regime.models.source}. Each method in its best shape for the budget, chosen on other samples; bars "
        "are 99 % intervals, cut where they leave the picture. Black lines, sampled too: what no verifier of i.i.d. "
        "chains, and no chosen tree, exceeds.",
        panels,
    )


def _curves(one: Frontier, budgets: Sequence[int]) -> list[Curve]:
    curves: list[Curve] = []
    for method in dict.fromkeys(point.method for points in one.by_budget.values() for point in points):
        means = {n: held.tokens for n in budgets if (held := one.point(method, n)) is not None}
        curves.append(curve(method.name, means))
    for kind in KINDS:
        means = {n: one.ceilings[n][kind] for n in budgets if kind in one.ceilings[n]}
        if means:
            curves.append(curve(f"nothing exceeds: {kind.name}", means, "bound"))
    return curves


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
    return notes + advice(found)
