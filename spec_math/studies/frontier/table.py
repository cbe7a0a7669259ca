"""The frontier as a result: a row for each method and regime, a picture for each pair of models, and the advice.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.result import Column, Result, Row, Table, sentences
from spec_math.studies.frontier.advice import advice
from spec_math.studies.frontier.comparison import Asked, Frontier
from spec_math.studies.frontier.pictures import pictures


def result_of(found: Sequence[Frontier], asked: Asked) -> Result:
    """Return what was found; the finding is how sharp the first models are, and what to take for them.

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.regime import drafting_itself
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
