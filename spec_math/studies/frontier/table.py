"""The frontier as a result: a row for each method and regime, a picture for each pair of models, and the advice.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.block_level.methods import TREES, Drafts
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, columns, curve, sentences
from spec_math.sequential.decision import HEAD
from spec_math.studies.frontier.comparison import CONFIDENCE, Asked, Frontier

TOKENS = "tokens per call of the target"


def result_of(found: Sequence[Frontier], asked: Asked) -> Result:
    """Return what was found; the finding is what to take for the first models, the setting how sharp they are.

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> asked = Asked((2,), Costs(), 16)
    >>> found = compare(drafting_itself([0.5, 0.5]), asked, no_progress)
    >>> [table.name for table in result_of([found], asked).tables]
    ['frontier', 'bounds']
    """
    shown = (
        *columns(("method", "fastest shape")),
        Column("speed-up", "mean", "times plain decoding", digits=2),
        *columns(("tokens per call", "bound"), "mean", TOKENS),
        Column("share of bound", "mean", "of the tokens per call", digits=2, heading="share"),
        Column("samples", "count", "of the method"),
        *columns((f"{budget} nodes" for budget in asked.budgets), "mean", TOKENS),
        Column("page", shown=False),
    )
    rows: list[Row] = []
    for one in found:
        for point in one.fastest:
            values = point.faster, point.tokens, point.bound, point.share, point.tokens.samples
            held = [one.point(point.method, budget) for budget in asked.budgets]
            tokens = (each and each.tokens for each in held)
            cells = point.method.name, str(point.shape), *values, *tokens, point.method.page
            rows.append(Row(cells, group=one.regime.title))
    table = Table("frontier", "Tokens per call under a budget of verified nodes", shown, tuple(rows))
    finding, setting = advice(found[:1])[0], f"{found[0].regime.title}: {found[0].regime.facts}."
    names = list(dict.fromkeys(one.regime.name for one in found))
    drawn = [one for name in names for one in pictures([own for own in found if own.regime.name == name], asked)]
    title = "The fastest drafts, tree and verifier under each budget"
    tables = table, bounds(found, asked.budgets)
    notes = sentences(_notes(found, asked))
    return Result("frontier", title, finding, tables, tuple(drawn), notes, setting=setting)


def bounds(found: Sequence[Frontier], budgets: Sequence[int]) -> Table:
    """Return the upper bounds of any verifier under each budget, a row for each kind of drafts and regime.

    >>> bounds([], (4, 8)).columns[1].name
    '4 nodes'
    """
    shown = Column("drafts"), *columns((f"{n} nodes" for n in budgets), "mean", TOKENS)
    rows = [
        Row((kind.name, *(one.ceilings[n].get(kind) for n in budgets)), group=one.regime.title)
        for one in found
        for kind in dict.fromkeys(kind for n in budgets for kind in one.ceilings[n])
    ]
    return Table("bounds", "Upper bounds of any verifier, for each kind of drafts", shown, tuple(rows))


def _notes(found: Sequence[Frontier], asked: Asked) -> list[str]:
    notes = [f"{one.regime.title}: {one.regime.facts}." for one in found]
    notes += dict.fromkeys(f"{one.regime.name}: {one.regime.models.source}." for one in found)
    notes += [
        f"{asked.costs} All methods in all shapes race on the same samples, a prefix and a text of the target. "
        "One that is shown to be slower than the leader is measured no more. A method that a text does not tell is "
        f"dear, and enters {HEAD} samples later. In each regime the decision and all "
        f"intervals hold together with {CONFIDENCE:.0%}, whenever the race ends. What was measured on fewer samples is "
        "corrected by the leader's mean over all of them.",
        "A budget counts drafted tokens, K · L for chains. Chains that share a beginning could share its nodes, and "
        "would then cost less.",
        "Each bound is an estimate for the drafts in its row, on the same texts. For sampled chains and trees it adds "
        "up the best of each depth, and perhaps no verifier reaches it. For chosen trees it is the best tree of that "
        "size.",
    ]
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
    """Say what to take in one regime, how fast it is, what its drafts allow, and how sure that is.

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> asked = Asked((2,), Costs(), 16)
    >>> found = compare(drafting_itself([0.5, 0.5]), asked, no_progress)
    >>> of_regime(found).partition(":")[0]
    'one distribution, temperature 1'
    """
    best, decision = found.taken, found.decision
    said = decision.sentence()
    if best.faster.value < 1:
        said = f"Draft nothing: plain decoding is fastest at these costs. Of the methods, {said[0].lower()}{said[1:]}"
    return (
        f"{found.regime.title}: {said} It is {best.faster} times as fast as plain decoding at these costs "
        f"({best.faster.confidence:.0%} interval), with {best.tokens} tokens a call. No verifier of these drafts "
        f"exceeds an estimated {best.bound} tokens a call."
    )


def _crossing(found: Sequence[Frontier]) -> list[str]:
    """Say at which temperatures chosen trees are faster than drawn drafts."""
    ordered = sorted(found, key=lambda one: -one.regime.temperature)
    if len(ordered) < 2:
        return []
    name, heats = ordered[0].regime.name, [one.regime.temperature for one in ordered]
    trees = [one.taken.method.drafts is TREES for one in ordered]
    changes = [place for place in range(1, len(trees)) if trees[place] != trees[place - 1]]
    if not changes:
        kind = "a chosen tree" if trees[0] else "sampled drafts"
        return [f"{name}: {kind} at every temperature from {heats[-1]:g} to {heats[0]:g}."]
    said = "; ".join(
        f"between the temperatures {heats[place - 1]:g} and {heats[place]:g} the answer changes; from "
        f"{heats[place]:g} downwards take {ordered[place].taken.method.name} with {ordered[place].taken.shape}"
        for place in changes
    )
    return [f"{name}: {said}."]


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
            f"Upper bounds of any verifier, for each kind of drafts: {name}",
            f"{source}. The values are sampled; the table has the intervals. The bound of sampled drafts adds up the "
            "best of each depth, and perhaps none reaches it. The bound of chosen trees is the best tree in hindsight.",
            tuple(_panel(lines, lines, asked, _heat(one)) for one in found for lines in [_bounds(one, kinds, asked)]),
            len(found),
        ),
        Picture(
            name.replace(" ", "-"),
            f"Tokens per call under a node budget: {name}",
            f"{source}. Each row is a kind of drafts; each method has its best shape for the budget. Bars are "
            "intervals that hold together with 99 %. The thick line is an estimated upper bound.",
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
    return [curve(f"upper bound: {kind.name}", means, "bound") for kind, means in found.items() if means]


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
