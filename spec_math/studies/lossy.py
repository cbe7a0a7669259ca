"""Lossy rules over their parameters, on both embedded defaults or on files of laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import count, exact
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.files.law_files import LawFile, open_laws
from spec_math.lossy import OF_LOGITS, RULES, Rule, blocks, fly
from spec_math.lossy.distances import distances
from spec_math.lossy.joint_threshold import generate as joint
from spec_math.lossy.options import share
from spec_math.masses import excess
from spec_math.mean import Mean, of_positions
from spec_math.result import Cell, Column, Curve, Panel, Picture, Result, Row, Table, columns, sentences, under_heads
from spec_math.studies.arguments import Progress, spaced, stepped, together
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.studies.frontier.contenders import defaults, laws_after
from spec_math.studies.positions.stream import from_files
from spec_math.token_level import optimal
from spec_math.wording import counted, listed

LOSSLESS = 1e-9
"""Total variation below which a rule spends nothing."""


@dataclass
class Point:
    """A rule at a value of its parameter: a list for each number, an entry a position.

    `lossless` is the optimum of the rule's own drafts, `possible` that under the budget it spends here; nats.
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
        """The acceptance above that of the best lossless rule of its drafts, on average over the positions."""
        return mean(self.acceptance) - mean(self.lossless)

    @property
    def spent(self) -> float:
        """The total variation, on average over the positions."""
        return mean(self.total_variation)


def mean(values: Sequence[float]) -> float:
    """Return the mean, infinite where one value is, and NaN of none."""
    return sum(values) / len(values) if values else float("nan")


def per_bias(point: Point) -> float | None:
    """Return what a unit of total variation buys of acceptance, None where none is spent."""
    return point.gain / point.spent if point.spent > LOSSLESS else None


def _finite(values: Sequence[float]) -> Mean | None:
    return of_positions(values) if isfinite(mean(values)) else None


def _less(values: Sequence[float], others: Sequence[float]) -> Mean:
    """Return the mean of the differences, position by position: its error is that of what both share no more."""
    return of_positions([value - other for value, other in zip(values, others, strict=True)])


Field = tuple[Column, Callable[[Point], Cell]]

LONG: tuple[Field, ...] = (
    (Column("rule"), lambda one: one.rule.name),
    (Column("parameter"), lambda one: one.rule.parameter),
    (Column("value"), lambda one: one.value),
    (Column("acceptance", "mean", "probability"), lambda one: of_positions(one.acceptance)),
    (Column("test acceptance", "mean", "probability"), lambda one: of_positions(one.tested)),
    (Column("lossless optimum", "mean", "probability"), lambda one: of_positions(one.lossless)),
    (Column("total variation", "mean", "probability"), lambda one: of_positions(one.total_variation)),
    (Column("possible", "mean", "probability"), lambda one: of_positions(one.possible)),
    (Column("gap", "mean", "probability"), lambda one: _less(one.possible, one.acceptance)),
    (Column("KL(e|t)", "mean", "nats"), lambda one: _finite(one.from_target)),
    (Column("KL(t|e)", "mean", "nats"), lambda one: _finite(one.to_target)),
    (Column("largest ratio", "number", digits=3), lambda one: x if isfinite(x := max(one.largest_ratio)) else None),
    (Column("forbidden mass", "mean", "probability"), lambda one: _finite(one.forbidden)),
)
"""The columns of every rule at every value, each with its cell."""

SHORT: tuple[Field, ...] = (
    (Column("rule"), lambda one: one.rule.name),
    (Column("at"), lambda one: one.value),
    (Column("total variation", "mean", "probability", heading="TV"), lambda one: of_positions(one.total_variation)),
    (Column("KL(e|t)", "mean", "nats", digits=3), lambda one: _finite(one.from_target)),
    (Column("acceptance", "mean", "probability"), lambda one: of_positions(one.acceptance)),
    (Column("gain", "mean", "probability"), lambda one: _less(one.acceptance, one.lossless)),
    (Column("possible gain", "mean", "probability", heading="possible"), lambda one: _less(one.possible, one.lossless)),
    (Column("gain per bias", "number", digits=2, heading="gain/TV"), per_bias),
)
"""The columns of the rules at one distance, each with its cell."""

TEXT_BOUND = Column("text bound", "number", "probability", digits=2, heading="TV of a text")

MEANINGS = under_heads(
    {
        "Acceptance": "The probability that the emitted token is among the drafts.",
        "Total variation": "Half the sum of |e − t|: the largest change of the probability of any event about this "
        "token. Acceptance grows by at most this much. The thick line shows the bound: min(1, lossless optimum + "
        "total variation).",
        "Gain": "The acceptance of the rule minus that of the best lossless rule of the same drafts. 'Possible' is the "
        "largest gain of any rule with the same total variation at each position.",
        "KL(e|t), largest ratio": "Infinite if the rule emits a token that the target never emits.",
        "TV of a text": "An upper bound of the total variation of a text of that many tokens: the sum over its tokens, "
        "each given the tokens before it. The bound 1 is trivial.",
    }
)


class Source(NamedTuple):
    """The source of the laws: a name, how many positions, how many tokens."""

    name: str
    positions: int
    size: int


def result_of(
    sources: Sequence[tuple[Source, Sequence[Point]]], rules: Sequence[Rule], k: int, bias: float, length: int
) -> Result:
    """Return what was measured as a result."""
    short = [_short(one, [nearest(points, rule, bias) for rule in rules], bias, length) for one, points in sources]
    chosen = [nearest(points, rule, bias) for _, points in sources for rule in rules]
    title = "How much acceptance do lossy rules gain, and how far are they from the target?"
    pictures = tuple(_picture(source, points, rules, k) for source, points in sources)
    notes = sentences([*_notes(sources, rules, k), *advice(chosen, rules)])
    return Result("lossy", title, finding(chosen, rules, bias), (_long(sources), *short), pictures, notes, MEANINGS)


def nearest(points: Sequence[Point], rule: Rule, bias: float) -> Point:
    """Return the point of a rule whose total variation is nearest to a bias, of those that spend any, if one does."""
    own = [point for point in points if point.rule is rule]
    spending = [point for point in own if point.spent > LOSSLESS] or own
    return min(spending, key=lambda point: abs(point.spent - bias))


def finding(chosen: Sequence[Point], rules: Sequence[Rule], bias: float) -> str:
    """Say which rule buys most for a unit of bias, near the bias that is asked for, and which least."""
    bought = _bought(chosen, rules)
    if not bought:
        return "No rule differs from the target here."
    most, least = (choose(value for _, value, _ in bought) for choose in (max, min))
    best = [name for name, value, _ in bought if value > most - 0.005]
    worst = next(name for name, value, _ in bought if value == least)
    losing = [name for name, value, _ in bought if value < 0]
    said = f"Near a total variation of {bias:g} per token, the largest gain is {most / 100:+.3g} acceptance for each "
    said += f"0.01 of total variation, by {listed(best)}"
    if losing:
        return f"{said}. The best lossless rule for the same drafts accepts more than {listed(losing)}."
    return f"{said}. The smallest gain is {least / 100:+.3g}, by {worst}." if worst not in best else f"{said}."


def advice(chosen: Sequence[Point], rules: Sequence[Rule]) -> list[str]:
    """Return the advice in words."""
    bought = _bought(chosen, rules)
    poor, losing = [name for name, _, less in bought if less], [name for name, value, _ in bought if value < 0]
    said = {
        "These rules gain more than 0.0099 acceptance for each 0.01 of total variation (no rule can gain more than "
        "0.01): {}.": [name for name, value, _ in bought if value > 0.99],
        "These rules gain less than half of the possible gain at the same total variation: {}.": poor,
        "The best lossless rule for the same drafts accepts more than each of these rules: {}.": losing,
        "If rare tokens matter, compare the rules by KL(e|t) and the largest ratio e/t, where e is the emitted and t "
        "the target's distribution. Under a bound on the largest ratio, lenience accepts most. Under a bound on "
        "KL(e|t), mentored decoding accepts most. For a required acceptance, lossy.frontier computes the distribution "
        "that is closest to the target in total variation, KL(e|t) and largest ratio.": [name for name, *_ in bought],
    }
    return [sentence.format(", ".join(names)) for sentence, names in said.items() if names]


def _bought(chosen: Sequence[Point], rules: Sequence[Rule]) -> list[tuple[str, float, bool]]:
    """Return each rule that spends anything, its gain a unit, and whether it is less than half of what is possible."""
    found: list[tuple[str, float, bool]] = []
    for rule in rules:
        own = [point for point in chosen if point.rule is rule and point.spent > LOSSLESS]
        if own:
            gain = sum(point.gain for point in own)
            # What is possible ends at an acceptance of 1, and may be less than what is spent.
            possible = sum(mean(point.possible) - mean(point.lossless) for point in own)
            found.append((rule.name, gain / sum(point.spent for point in own), gain < possible / 2))
    return found


def _notes(sources: Sequence[tuple[Source, Sequence[Point]]], rules: Sequence[Rule], k: int) -> list[str]:
    several = [(drafts, own) for drafts, own in _by_drafts(rules, k).items() if own[0].several]
    drafted = [f"{' and '.join(rule.name for rule in own)} ({drafts})" for drafts, own in several]
    but = f", except {' and '.join(drafted)}" if drafted else ""
    greedy = "The rule {0} was made for greedy decoding. With sampling, {0} is lossy even at its strictest value."
    logits = (
        "The rule {} compares logits, so a constant added to all of them changes its output. Even at its strictest "
        "value the rule is lossy, because it tests chosen drafts as if they were drawn."
    )
    looked = " and ".join(f"{one.name} ({counted(one.positions, 'position')}, V = {one.size:,})" for one, _ in sources)
    return [
        f"The values are means over the positions of {looked}, in float64; ± is a standard error. A rule's emitted "
        "distribution is computed by a closed form. The library's tests compare it with an enumeration of the rule.",
        f"Each rule verifies one sampled draft{but}.",
        *(greedy.format(rule.name) for rule in rules if rule.greedy),
        *(logits.format(rule.name) for rule in rules if rule.of_logits),
    ]


def _by_drafts(rules: Sequence[Rule], k: int) -> dict[str, list[Rule]]:
    """Return the rules by what they draft."""
    groups = {
        "one draft": [rule for rule in rules if not rule.several],
        f"{k} independent drafts": [rule for rule in rules if rule.several and not rule.chosen],
        f"the {k} likeliest tokens of the draft": [rule for rule in rules if rule.chosen],
    }
    return {drafts: own for drafts, own in groups.items() if own}


def _long(sources: Sequence[tuple[Source, Sequence[Point]]]) -> Table:
    rows = [Row((source.name, *(cell(one) for _, cell in LONG))) for source, points in sources for one in points]
    columns = (Column("source", shown=False), *(replace(column, heading="", shown=False) for column, _ in LONG))
    return Table("lossy", "Every rule at every value", columns, tuple(rows))


def _short(source: Source, chosen: Sequence[Point], bias: float, length: int) -> Table:
    order = sorted(chosen, key=lambda point: -(per_bias(point) or 0.0))
    rows = [Row((*(cell(one) for _, cell in SHORT), min(1.0, length * one.spent))) for one in order]
    where = source.name.replace(" ", "-").replace("/", "-") if len(source.name) < 30 else "files"
    title = f"{source.name}: each rule at its value nearest to a total variation of {bias:g}; texts of {length} tokens"
    return Table(f"at-{where}", title, (*(column for column, _ in SHORT), TEXT_BOUND), tuple(rows))


def _picture(source: Source, points: Sequence[Point], rules: Sequence[Rule], k: int) -> Picture:
    panels: list[Panel] = []
    for title, own in _by_drafts(rules, k).items():
        held = [point for point in points if any(point.rule is rule for rule in own)]
        base, far = mean(held[0].lossless), max(0.02, *(point.spent for point in held))
        ends = sorted({0.0, min(far, 1 - base), far})
        most = tuple(min(1.0, base + x) for x in ends)
        curves = [Curve("largest possible acceptance: min(1, α* + TV)", tuple(ends), most, style="ceiling")]
        for rule in own:
            of_rule = [one for one in held if one.rule is rule]
            spent, accepted = (one.spent for one in of_rule), (mean(one.acceptance) for one in of_rule)
            curves.append(Curve(rule.name, tuple(spent), tuple(accepted)))
        panels.append(Panel(tuple(curves), "total variation", "acceptance", title))
    name = source.name.replace(" ", "-") if len(source.name) < 30 else "files"
    caption = (
        "Each line is a rule over its parameter. The thick line is the largest acceptance of any rule with that mean "
        "total variation."
    )
    return Picture(name, f"Acceptance against distance: {source.name}", caption, tuple(panels))


Pair = tuple[Any, Any]
"""The laws of target and draft, [V] each."""


class LossyRequest(NamedTuple):
    """Two files of laws, or none for the embedded defaults; some of the rules, or all; the bias to compare at."""

    target: str | None = None
    draft: str | None = None
    logits: bool = False
    k: int = 2
    rules: tuple[str, ...] = ()
    bias: str = "0.05"
    length: int = 10
    positions: int = 24


def study(request: LossyRequest, progress: Progress) -> Result:
    """Measure every rule at every value of its parameter, beside the frontier of its own drafts."""
    rules = named(request.rules, request.logits)
    laws, offsets = _laws(request)
    result = measured(laws, request, progress, offsets)
    grown = growth_table([rule for rule in rules if not rule.several])
    return replace(result, tables=(*result.tables, *grown))


def measured(
    laws: Sequence[tuple[str, Sequence[Pair]]],
    request: LossyRequest,
    progress: Progress,
    offsets: Sequence[float] | None = None,
) -> Result:
    """Return what the rules of a request do on pairs of laws [V], by the names of their sources.

    offsets: ln Σ exp z of the target's logits, one a pair, where the laws came from logits.
    """
    rules = named(request.rules, offsets is not None)
    k = count(request.k, "--k")
    bias, length = float(share(request.bias, "--bias")), count(request.length, "--length")
    sources: list[tuple[Source, list[Point]]] = []
    for name, pairs in laws:
        measuring = stepped(rules, f"measuring, {name}", progress)
        found = [point for rule in measuring for point in points_of(rule, pairs, k, offsets)]
        sources.append((Source(name, len(pairs), len(pairs[0][0])), found))
    return result_of(sources, rules, k, bias, length)


def laws_of(models: BlockModels, most: int) -> list[Pair]:
    """Return pairs of laws [V] of two models, in float64, after at most so many of their prefixes, evenly spaced."""
    pairs = [laws_after(models, models.prefixes[place]) for place in spaced(len(models.prefixes), most)]
    return [(np.asarray(target, dtype=float), np.asarray(draft, dtype=float)) for target, draft in pairs]


def named(names: Sequence[str], logits: bool = False) -> tuple[Rule, ...]:
    """Return the rules whose names begin so, all without a name; rules of logits only where there are logits."""
    chosen: list[Rule] = []
    for name in names:
        every = *RULES, *OF_LOGITS
        fitting = [rule for rule in every if rule.name.lower().startswith(name.lower())]
        if not fitting:
            raise ValueError(f"no rule begins with {name!r}; there are: {', '.join(rule.name for rule in every)}")
        for rule in fitting:
            if rule.of_logits and not logits:
                raise ValueError(f"{rule.name} needs logits: give --target and --draft of logits, and --logits")
        chosen += [rule for rule in fitting if rule not in chosen]
    return tuple(chosen) or (*RULES, *(OF_LOGITS if logits else ()))


def _laws(request: LossyRequest) -> tuple[list[tuple[str, list[Pair]]], list[float] | None]:
    """Return the pairs of laws by the names of their sources; and ln Σ exp z of each target where it has logits."""
    most = count(request.positions, "--positions")
    together(request.target, request.draft)
    if request.target is None or request.draft is None:
        return [(name, laws_of(models, most)) for name, models in defaults()], None
    target = open_laws(request.target)
    source = from_files(target, open_laws(request.draft), request.logits)
    wanted = set(spaced(source.count, most).tolist())
    return [(source.source, [*source.laws(wanted)])], _offsets(target, wanted) if request.logits else None


def _offsets(target: LawFile, wanted: set[int]) -> list[float]:
    """Return ln Σ exp z, in nats, of the rows of a file of logits that are wanted, in order."""
    from scipy.special import logsumexp  # slow to load, and laws that are no logits need none of it

    found: list[float] = []
    start = 0
    for chunk in target.chunks(256):
        places = [row for row in range(len(chunk)) if start + row in wanted]
        found += np.asarray(logsumexp(np.asarray(chunk)[places].astype(np.float64), axis=1)).tolist()
        start += len(chunk)
    return found


def points_of(
    rule: Rule, laws: Sequence[tuple[Any, Any]], k: int, offsets: Sequence[float] | None = None
) -> list[Point]:
    """Measure a rule at each value of its sweep, on pairs of laws [V].

    A rule of logits takes ln Σ exp z of the target's logits from `offsets`, one a pair; without them it is an error.
    """
    drafts = rule.drafts(k)
    if rule.of_logits and offsets is None:
        raise ValueError(f"{rule.name} needs logits; give files of logits with --logits")
    known: Sequence[float | None] = offsets if rule.of_logits and offsets is not None else [None] * len(laws)
    best = [lossless(rule, *pair, drafts) for pair in laws]
    points: list[Point] = []
    for value in rule.swept:
        rows: list[tuple[float, ...]] = []
        for pair, offset, most in zip(laws, known, best, strict=True):
            options = rule.options(value) if offset is None else rule.options(value, offset)
            rows.append(_measured(rule, (*pair, drafts, options), most))
        points.append(Point(rule, value, *map(list, zip(*rows, strict=True))))
    return points


def lossless(rule: Rule, target: Any, draft: Any, k: int) -> float:
    """Return the most that any lossless rule of the same drafts accepts, a probability, for laws [V].

    Of tokens that the drafter chooses it is their target mass.
    """
    if rule.chosen:
        no_coin: Any = None  # a drafter that chooses its tokens asks for none
        chosen = list(rule.draw(no_coin, draft, k))
        return float(np.asarray(target)[chosen].sum())
    return float(optimal.acceptance(target, draft, k))


def _measured(rule: Rule, case: tuple[Any, Any, int, Any], best: float) -> tuple[float, ...]:
    """Return what a `Point` holds of one position: laws [V], the number of drafts, and the rule's options."""
    law = np.asarray(rule.law(*case))
    far = distances(law / law.sum(), case[0])
    spent = float(far.total_variation)
    tested = float((rule.test_acceptance or rule.acceptance)(*case))
    both = (float(one) if one.high < inf else inf for one in (far.from_target, far.to_target))
    ratio, forbidden = float(far.largest_ratio), float(far.forbidden)
    return float(rule.acceptance(*case)), tested, best, min(1.0, best + spent), spent, *both, ratio, forbidden


TARGET = {(): (1, 4, 3), (0,): (5, 1, 2), (1,): (1, 5, 2), (2,): (3, 3, 2)}
DRAFT = {(): (3, 2, 3), (0,): (4, 2, 2), (1,): (2, 4, 2), (2,): (4, 2, 2)}
"""Parts of 8: three tokens, each law given the token before."""

COLUMNS = (
    *columns(("rule", "at")),
    *columns(("one token", "two tokens", "four tokens"), "number", "probability"),
    Column("coupled", "number", "probability", heading="at most: 1 − Σ Π min"),
    Column("uniform", "number", "probability", heading="1 − (1 − max)^4"),
    Column("KL", "number", "nats"),
)


def growth_table(rules: Sequence[Rule]) -> tuple[Table, ...]:
    """Return the exact total variation of texts under each rule of one draft, at the middle of its sweep."""
    rows: list[Row] = []
    for rule in rules:
        value = rule.swept[len(rule.swept) // 2]
        found = blocks.growth((_model(TARGET), _model(DRAFT)), 4, rule, rule.options(value))
        last = found[-1]
        apart = [float(found[length - 1].total_variation) for length in (1, 2, 4)]
        nats = divergence if (divergence := float(last.divergence)) < inf else None
        rows.append(Row((rule.name, value, *apart, float(last.coupled), float(last.uniform), nats)))
    if len(rows) > 1:
        rows += [_of_blocks("FLy, blocks of two drafts", fly.generate), _of_blocks("MTAD, the same", joint)]
    title = "Exact total variation of texts of one, two and four tokens (a small example), and bounds for four"
    return (Table("texts", title, COLUMNS, tuple(rows)),) if rows else ()


def _of_blocks(name: str, generate: Callable[..., Any]) -> Row:
    """A rule that decides on several positions of a block together: no single position bounds it."""
    models = _model(TARGET), _model(DRAFT)
    apart: list[float] = []
    for length in (1, 2, 4):
        emitted = emitted_law(lambda coin, prefix: generate(coin, models, prefix, 2, "1/2"), models[0], length, length)
        wanted = target_law(models[0], length)
        apart.append(float(excess(emitted, wanted)))
    return Row((name, "1/2", *apart, None, None, None))


def _model(parts: dict[tuple[int, ...], tuple[int, ...]]) -> Any:
    laws = {last: exact([Fraction(part, 8) for part in row]) for last, row in parts.items()}
    return lambda prefix: laws[tuple(prefix[-1:])]  # pyright: ignore[reportUnknownLambdaType]
