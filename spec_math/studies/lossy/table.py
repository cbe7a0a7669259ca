"""Lossy rules as a result: what each gains at which distance, the frontier as a line, and which is a good bargain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from spec_math.lossy import Rule
from spec_math.mean import Mean, of_positions
from spec_math.result import Column, Curve, Note, Panel, Picture, Result, Row, Table, sentences
from spec_math.studies.lossy.measure import Point, mean
from spec_math.wording import counted, listed

LOSSLESS = 1e-9
"""Total variation below which a rule spends nothing."""

COLUMNS = (
    Column("source"),
    Column("rule"),
    Column("parameter"),
    Column("value"),
    Column("acceptance", "mean", "probability"),
    Column("test acceptance", "mean", "probability"),
    Column("lossless optimum", "mean", "probability"),
    Column("total variation", "mean", "probability"),
    Column("possible", "mean", "probability"),
    Column("gap", "mean", "probability"),
    Column("KL(e|t)", "mean", "nats"),
    Column("KL(t|e)", "mean", "nats"),
    Column("largest ratio", "number", digits=3),
    Column("forbidden mass", "mean", "probability"),
)

SHORT = (
    Column("rule"),
    Column("at"),
    Column("total variation", "mean", "probability", heading="TV"),
    Column("KL(e|t)", "mean", "nats", digits=3),
    Column("acceptance", "mean", "probability"),
    Column("gain", "mean", "probability"),
    Column("possible gain", "mean", "probability", heading="possible"),
    Column("gain per bias", "number", digits=2, heading="gain/TV"),
    Column("text bound", "number", "probability", digits=2, heading="TV of a text"),
)

MEANINGS = (
    Note("The probability that the emitted token is among the drafts.", "Acceptance"),
    Note(
        "Half the sum of |e − t|: how much the probability of any event about this token can change. A unit of it buys "
        "at most a unit of acceptance, which is the black line: min(1, lossless optimum + total variation).",
        "Total variation",
    ),
    Note(
        "The acceptance of the rule less that of the best lossless rule of the same drafts; beside it the most that "
        "any rule with the same total variation at each position gains.",
        "Gain",
    ),
    Note("Infinite where a token comes out that the target never emits.", "KL(e|t), largest ratio"),
    Note(
        "The total variation of a text of that many tokens is at most the sum of those of its tokens, each given what "
        "was emitted before; 1 says nothing.",
        "TV of a text",
    ),
)


@dataclass(frozen=True)
class Source:
    """Where the laws come from: a name, how many positions, how many tokens.

    >>> Source("files", 3, 5).name
    'files'
    """

    name: str
    positions: int
    size: int


def result_of(
    sources: Sequence[tuple[Source, Sequence[Point]]], rules: Sequence[Rule], k: int, bias: float, length: int
) -> Result:
    """Return what was measured as a result.

    >>> from spec_math.lossy import RULES
    >>> from spec_math.studies.lossy.measure import points_of
    >>> points = points_of(RULES[0], [([0.25, 0.75], [0.5, 0.5])], 1)
    >>> result_of([(Source("one pair", 1, 2), points)], RULES[:1], 1, 0.1, 100).finding
    'At a total variation of 0.1 a token, ensemble buys the most: 1.00 of acceptance for a unit of bias.'
    """
    tables = [_long(sources)]
    for source, points in sources:
        tables.append(_short(source, [nearest(points, rule, bias) for rule in rules], bias, length))
    chosen = [nearest(points, rule, bias) for _, points in sources for rule in rules]
    return Result(
        "lossy",
        "Lossy on purpose: what does a unit of bias buy?",
        finding(chosen, rules, bias),
        tuple(tables),
        tuple(_picture(source, points, rules, k) for source, points in sources),
        sentences([*_notes(sources, rules, k), *advice(chosen, rules)]),
        MEANINGS,
    )


def nearest(points: Sequence[Point], rule: Rule, bias: float) -> Point:
    """Return the point of a rule whose total variation is nearest to a bias, of those that spend any, if one does.

    >>> from spec_math.lossy import RULES
    >>> from spec_math.studies.lossy.measure import points_of
    >>> nearest(points_of(RULES[0], [([0.25, 0.75], [0.5, 0.5])], 1), RULES[0], 0.125).value
    '1/2'
    """
    own = [point for point in points if point.rule is rule]
    spending = [point for point in own if point.spent > LOSSLESS] or own
    return min(spending, key=lambda point: abs(point.spent - bias))


def per_bias(point: Point) -> float | None:
    """Return what a unit of total variation buys of acceptance, None where none is spent.

    >>> from spec_math.lossy import RULES
    >>> per_bias(Point(RULES[0], "1")) is None
    True
    """
    return point.gain / point.spent if point.spent > LOSSLESS else None


def finding(chosen: Sequence[Point], rules: Sequence[Rule], bias: float) -> str:
    """Say which rule buys most for a unit of bias, near the bias that is asked for, and which least.

    >>> finding([], [], 0.05)
    'No rule spends any total variation here.'
    """
    bought = _bought(chosen, rules)
    if not bought:
        return "No rule spends any total variation here."
    values = [value for _, value in bought]
    most, least = max(values), min(values)
    best = [name for name, value in bought if value > most - 0.005]
    worst = next(name for name, value in bought if value == least)
    losing = [name for name, value in bought if value < 0]
    verb = "buys" if len(best) == 1 else "buy"
    said = f"At a total variation of {bias:g} a token, {listed(best)} {verb} the most"
    said += f": {most:.2f} of acceptance for a unit of bias"
    if losing:
        verb = "accepts" if len(losing) == 1 else "accept"
        return f"{said}; {listed(losing)} {verb} less than a lossless rule could."
    return f"{said}; {worst} buys {least:.2f}." if worst not in best else f"{said}."


def advice(chosen: Sequence[Point], rules: Sequence[Rule]) -> list[str]:
    """Return the advice in words.

    >>> advice([], [])
    []
    """
    bought = _bought(chosen, rules)
    good = [name for name, value in bought if value > 0.99]
    poor = _poor(chosen, rules)
    losing = [name for name, value in bought if value < 0]
    found: list[str] = []
    if good:
        found.append(
            f"A full bargain in total variation: {', '.join(good)}; a unit of it buys more than 0.99 of acceptance, "
            "and no rule gets more than 1."
        )
    if poor:
        found.append(
            f"A poor bargain: {', '.join(poor)} gain less than half of what the optimal rule of lossy.budget gains for "
            "the same total variation."
        )
    if losing:
        found.append(f"Worse than lossless: {', '.join(losing)} are biased and accept less than a lossless rule could.")
    if bought:
        found.append(
            "If rare tokens matter, look at KL(e|t) and the largest ratio: lenience bounds the ratio and mentored "
            "decoding the divergence, and for each they are the best rules there are; lossy.frontier gives the law "
            "that is closest to the target in all of these distances for the acceptance that you need."
        )
    return found


def _poor(chosen: Sequence[Point], rules: Sequence[Rule]) -> list[str]:
    """Return the names of the rules that gain less than half of what is possible at the distances that they spend."""
    found: list[str] = []
    for rule in rules:
        own = [point for point in chosen if point.rule is rule and point.spent > LOSSLESS]
        # What is possible ends at an acceptance of 1, and may be less than what is spent.
        possible = sum(mean(point.possible) - mean(point.lossless) for point in own)
        if own and sum(point.gain for point in own) < possible / 2:
            found.append(rule.name)
    return found


def _bought(chosen: Sequence[Point], rules: Sequence[Rule]) -> list[tuple[str, float]]:
    """Return the name of each rule that spends anything, and what a unit buys, over all sources."""
    found: list[tuple[str, float]] = []
    for rule in rules:
        own = [point for point in chosen if point.rule is rule and point.spent > LOSSLESS]
        if own:
            found.append((rule.name, sum(point.gain for point in own) / sum(point.spent for point in own)))
    return found


def _notes(sources: Sequence[tuple[Source, Sequence[Point]]], rules: Sequence[Rule], k: int) -> list[str]:
    several = [rule.name for rule in rules if rule.several and not rule.chosen]
    chosen = [rule.name for rule in rules if rule.chosen]
    drafted = [f"{' and '.join(several)} ({k} independent drafts)"] * bool(several)
    drafted += [f"{' and '.join(chosen)} (the {k} likeliest tokens of the draft)"] * bool(chosen)
    but = f" but {' and '.join(drafted)}" if drafted else ""
    greedy = [
        f"Made for greedy decoding: {rule.name}; its strictest value is not lossless for a sampler."
        for rule in rules
        if rule.greedy
    ]
    greedy += [
        f"{rule.name} compares logits, so that a constant added to all of them, which changes no law, changes what it "
        "emits; its strictest value is not lossless, as it tests chosen drafts as if they were drawn."
        for rule in rules
        if rule.of_logits
    ]
    looked = "; ".join(
        f"{source.name}: {counted(source.positions, 'position')}, V = {source.size:,}" for source, _ in sources
    )
    return [
        f"{looked}. Means over positions, in float64, ± a standard error over them; the laws are closed forms, held "
        "equal to the enumerated rules.",
        f"One draft, sampled, for each rule{but}.",
        *greedy,
    ]


def _long(sources: Sequence[tuple[Source, Sequence[Point]]]) -> Table:
    rows: list[Row] = []
    for source, points in sources:
        for point in points:
            rule = point.rule
            measured = point.acceptance, point.tested, point.lossless, point.total_variation, point.possible
            means = [*map(of_positions, measured), _less(point.possible, point.acceptance)]
            ratio = max(point.largest_ratio)
            far = _finite(point.from_target), _finite(point.to_target), ratio if isfinite(ratio) else None
            cells = rule.name, rule.parameter, point.value, *means, *far, _finite(point.forbidden)
            rows.append(Row((source.name, *cells)))
    columns = tuple(Column(c.name, c.kind, c.unit, c.digits, shown=False) for c in COLUMNS)
    return Table("lossy", "Every rule at every value", columns, tuple(rows))


def _short(source: Source, chosen: Sequence[Point], bias: float, length: int) -> Table:
    rows: list[Row] = []
    order = sorted(chosen, key=lambda point: -(per_bias(point) or 0.0))
    for point in order:
        gains = _less(point.acceptance, point.lossless), _less(point.possible, point.lossless), per_bias(point)
        means = of_positions(point.total_variation), _finite(point.from_target), of_positions(point.acceptance)
        rows.append(Row((point.rule.name, point.value, *means, *gains, min(1.0, length * point.spent))))
    where = source.name.replace(" ", "-").replace("/", "-") if len(source.name) < 30 else "files"
    title = f"{source.name}: each rule at its value nearest to a total variation of {bias:g}; texts of {length} tokens"
    return Table(f"at-{where}", title, SHORT, tuple(rows))


def _picture(source: Source, points: Sequence[Point], rules: Sequence[Rule], k: int) -> Picture:
    groups = [
        ("one draft", [rule for rule in rules if not rule.several]),
        (f"{k} independent drafts", [rule for rule in rules if rule.several and not rule.chosen]),
        (f"the {k} likeliest tokens of the draft", [rule for rule in rules if rule.chosen]),
    ]
    panels: list[Panel] = []
    for title, own in groups:
        if not own:
            continue
        held = [point for point in points if any(point.rule is rule for rule in own)]
        base, far = mean(held[0].lossless), max(0.02, *(point.spent for point in held))
        ends = sorted({0.0, min(far, 1 - base), far})
        line = Curve(
            "min(1, α* + TV): none accepts more", tuple(ends), tuple(min(1.0, base + x) for x in ends), style="ceiling"
        )
        panels.append(Panel((line, *(_curve(points, rule) for rule in own)), "total variation", "acceptance", title))
    name = source.name.replace(" ", "-") if len(source.name) < 30 else "files"
    caption = (
        "Each line is a rule over its parameter; the black line is the most that any rule accepts whose mean total "
        "variation is so much, however it is shared among the positions."
    )
    return Picture(name, f"Acceptance against distance: {source.name}", caption, tuple(panels))


def _curve(points: Sequence[Point], rule: Rule) -> Curve:
    own = [point for point in points if point.rule is rule]
    return Curve(rule.name, tuple(point.spent for point in own), tuple(mean(point.acceptance) for point in own))


def _finite(values: Sequence[float]) -> Mean | None:
    return of_positions(values) if isfinite(mean(values)) else None


def _less(values: Sequence[float], others: Sequence[float]) -> Mean:
    """Return the mean of the differences, position by position: its error is that of what both share no more."""
    return of_positions([value - other for value, other in zip(values, others, strict=True)])
