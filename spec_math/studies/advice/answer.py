"""The advice as a result: one sentence, a table, a picture, the break-even costs, and the bound of any verifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from spec_math.block_level.methods import AS_A_BLOCK, TOKEN_BY_TOKEN, Method
from spec_math.decision import Decision
from spec_math.mean import Mean, known
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.studies.costs import CALLS, Costs
from spec_math.studies.frontier.contenders import Shape
from spec_math.wording import listed

SHORT = {TOKEN_BY_TOKEN: "token-by-token verification", AS_A_BLOCK: "block verification"}
PLAIN = "plain decoding"


@dataclass(frozen=True)
class Candidate:
    """A method with a shape, its tokens per call and the bound of any verifier of these drafts; None decodes plainly.

    `tokens` are those of rounds one after another, `at_any` those at any position of a text, as are `bound` and
    `share`; `exact` is the number of tokens as a Fraction where it is known.
    """

    method: Method | None
    shape: Shape
    tokens: Mean
    bound: Mean | None = None
    share: Mean | None = None
    at_any: Mean | None = None
    exact: Any = None

    @property
    def name(self) -> str:
        """The method with its drafts, in words."""
        if self.method is None:
            return PLAIN
        return f"{SHORT.get(self.method, self.method.name)} with {self.shape}"

    def speed(self, costs: Costs) -> Any:
        """Return the speed-up over plain decoding: a Fraction where the number of tokens is one."""
        tokens = self.tokens.value if self.exact is None else self.exact
        return costs.speed_up(tokens, self.shape.nodes, self.shape.levels, self.shape.widest)


NOTHING = Candidate(None, Shape(0, 0, 0), known(1), known(1), exact=Fraction(1))


@dataclass(frozen=True)
class BreakEven:
    """The latency of a call at which another candidate becomes the fastest; `factor` is that over the stated one."""

    call: str
    factor: Any
    then: Candidate


def break_evens(best: Candidate, found: Sequence[Candidate], costs: Costs) -> list[BreakEven]:
    """Return for each call but the target's the nearest latencies below and above the stated one that change the best.

    The last is the latency above which plain decoding is the fastest.

    With f the factor of a call's latency, τ tokens, and a + f b the latency of a block, candidates A and B are equally
    fast at f = (τ_A a_B − τ_B a_A)/(τ_B b_A − τ_A b_B). Plain decoding is a candidate of τ = 1.
    """
    changes: list[BreakEven] = []
    for call in (call for call in CALLS if call in costs.calls and call != "target"):
        below, above = (Fraction(-1), NOTHING), (inf, NOTHING)
        (a, b), tokens = _split(best, costs, call), _tokens(best)
        for other in found:
            (c, d), others = _split(other, costs, call), _tokens(other)
            # Samples may show another one as faster that the decision does not.
            if not others * b - tokens * d or other.speed(costs) > best.speed(costs):
                continue
            factor = (tokens * c - others * a) / (others * b - tokens * d)
            if 0 <= factor < 1 and factor > below[0]:
                below = factor, other
            elif 1 < factor < above[0]:
                above = factor, other
        changes += [BreakEven(call, *one) for one in (below, above) if 0 <= one[0] < inf]
        plain = max((_tokens(one) * costs.plain() - a) / b for one in found for a, b in [_split(one, costs, call)] if b)
        if above[1] is not NOTHING and plain > 1:
            changes.append(BreakEven(call, plain, NOTHING))
    return changes


def _tokens(one: Candidate) -> Any:
    return one.tokens.value if one.exact is None else one.exact


def _split(one: Candidate, costs: Costs, call: str) -> tuple[Any, Any]:
    """Return the latency of a block without one call, and that of the call."""
    weights = costs.weights(one.shape.nodes, one.shape.levels, one.shape.widest)
    own = costs.latency({key: weight for key, weight in weights.items() if key[0] == call})
    return costs.latency(weights) - own, own


def changes_said(best: Candidate, changes: Sequence[BreakEven], costs: Costs) -> str:
    """Say which latencies change the advice."""
    said: list[str] = []
    for one in changes:
        point = costs.calls[one.call][0]
        now, then = (costs.written(point.mean * factor) for factor in (1, Fraction(one.factor)))
        each = " a node" if one.call == "verify" and not point.size else ""
        side = "above" if one.factor > 1 else "below"
        said.append(f"{CALLS[one.call]} {side} {then}{each} instead of {now}: take {one.then.name}")
    if not said:
        return f"No latency of one kind alone changes the choice of {best.name}."
    return f"These latencies change the advice, each alone: {'; '.join(said)}."


COLUMNS = (
    Column("method"),
    Column("K×L"),
    Column("speed-up", "mean", "times plain decoding", digits=2),
    Column("tokens", "number", "tokens per call of the target", digits=2),
    Column("of the bound", "number", "of the tokens per call", digits=3),
    Column("tokens per call", "mean", "tokens per call of the target", shown=False),
    Column("share", "mean", "of the bound", shown=False),
    Column("at any position", "mean", "tokens per call of the target", shown=False),
    Column("bound", "mean", "tokens per call of any verifier of these drafts", shown=False),
    Column("samples", "count", "stretches of text", shown=False),
    Column("exact speed-up", "fraction", "times plain decoding", shown=False),
)


@dataclass(frozen=True)
class Advice:
    """The candidates, plain decoding among them; the decision, where texts are samples; what was left out.

    weights: the effective sample size of weighted text, and the number of its positions. stretch: the positions of a
    unit of the decision. chosen: the candidates of the decision, a shape for each method.
    """

    found: Sequence[Candidate]
    source: str
    decision: Decision | None = None
    left_out: str = ""
    weights: tuple[float, int] | None = None
    stretch: int = 1
    chosen: tuple[Candidate, ...] = ()


RECORD = "record models that can be asked: spec-math record FOLDER --target BIG --draft SMALL --text prompts.txt"


def result_of(advice: Advice, costs: Costs) -> Result:
    """Return the advice as a result: its sentence, the table, the picture and what would change it."""
    ordered, decision = fastest_of_each(advice.chosen or advice.found, costs), advice.decision
    best = ordered[0] if decision is None else advice.chosen[decision.taken]
    finding = f"{_taken(best, costs, advice)} {_bound(best, costs)}".strip()
    notes = [
        changes_said(best, break_evens(best, advice.found, costs), costs),
        _within_spread(best, ordered, costs),
        f"{costs}",
        f"{advice.source}. {_samples(advice)}",
        advice.left_out,
    ]
    if advice.decision is not None or advice.weights is not None:
        notes.append(
            "One text tells nothing of drafts other than i.i.d. chains (distinct first tokens, trees, beams), nor of "
            f"another temperature; for these {RECORD}."
        )
    table = table_of(ordered, costs)
    title = "Advice for these models at these latencies"
    return Result(
        "advice", title, finding, (table,), (picture(ordered, advice.found, costs),), sentences(filter(None, notes))
    )


def _taken(best: Candidate, costs: Costs, advice: Advice) -> str:
    speed, decision = costs.faster(best.tokens, best.shape).written(2), advice.decision
    said = f"Take {best.name}: {speed} times faster than plain decoding."
    if best.method is None:
        said = "Draft nothing: plain decoding is fastest at these latencies."
    if decision is None:
        return said
    reason = decision.sentence(f"stretches of {advice.stretch} tokens").removeprefix(f"Take {best.name}: ")
    if decision.outcome == "undecided":
        return f"{reason} {best.name[0].upper()}{best.name[1:]} is {speed} times faster than plain decoding."
    return f"{said} {reason[0].upper()}{reason[1:]}"


def _bound(best: Candidate, costs: Costs) -> str:
    if best.bound is None or best.share is None or best.method is None:
        return ""
    if best.at_any is None:
        return (
            f"No verifier of {best.shape} is more than {costs.faster(best.bound, best.shape).written(2)} times faster."
        )
    return f"Its share of the bound of any verifier of {best.shape} is {best.share}."


def _within_spread(best: Candidate, ordered: Sequence[Candidate], costs: Costs) -> str:
    """Say which methods may be faster at latencies within the stated spreads: τ_B c_A − τ_A c_B > 0 at some of them."""
    open_: list[str] = []
    for other in ordered:
        a, b = (costs.weights(one.shape.nodes, one.shape.levels, one.shape.widest) for one in (best, other))
        both = {
            key: Fraction(_tokens(other)) * a.get(key, 0) - Fraction(_tokens(best)) * b.get(key, 0) for key in {*a, *b}
        }
        if other is not best and -costs.spread(both) <= costs.latency(both) < costs.spread(both):
            open_.append(other.name)
    if not open_:
        return ""
    return (
        f"Within the stated spreads of the latencies {listed(open_, 'or')} may be as fast: measure these more closely."
    )


def _samples(advice: Advice) -> str:
    if advice.weights is not None:
        effective, number_ = advice.weights
        return (
            f"Each value is weighted by the target's mass over the writer's: {effective:,.0f} effective positions of "
            f"{number_:,}. ± is one standard error, at any position."
        )
    if advice.decision is None:
        return "All values are exact."
    number = advice.decision.mean(0).samples
    return (
        "Rounds follow each other along the text, and begin more often where drafts fail; CSV and JSON have the tokens "
        "of a call at any position too. Intervals and decision hold together with "
        f"{advice.decision.terms.confidence:.0%}, from {number:,} stretches of {advice.stretch} tokens. The "
        "first ones, not among them, chose each method's drafts."
    )


def table_of(found: Sequence[Candidate], costs: Costs) -> Table:
    """Return each method with its fastest drafts, the fastest method first."""
    rows = [
        Row(
            (
                PLAIN if one.method is None else SHORT.get(one.method, one.method.name),
                f"{one.shape.k}×{one.shape.levels}" if one.shape.nodes else "—",
                costs.faster(one.tokens, one.shape),
                one.tokens.value,
                None if one.share is None else one.share.value,
                one.tokens,
                one.share,
                one.at_any,
                one.bound,
                one.tokens.samples,
                None if one.exact is None else one.speed(costs),
            ),
            "best" if one is found[0] else "",
        )
        for one in found
    ]
    return Table("advice", "Each method with its fastest drafts", COLUMNS, tuple(rows))


def fastest_of_each(found: Sequence[Candidate], costs: Costs) -> list[Candidate]:
    """Return the fastest candidate of each method, the fastest first; of equals that with fewer nodes."""
    first: dict[Method | None, Candidate] = {}
    for one in sorted(found, key=lambda one: (-one.speed(costs), one.shape.nodes)):
        _ = first.setdefault(one.method, one)
    return list(first.values())


FACTORS = tuple(2.0**power for power in range(-4, 5))
"""Factors of the latency of a draft step in the picture."""

DRAWN = 4
"""Methods in the picture, the fastest ones."""


def picture(ordered: Sequence[Candidate], found: Sequence[Candidate], costs: Costs) -> Picture:
    """Return the speed-up against the length of drafts, and against the latency of a draft step."""
    shown = [one for one in ordered if one.method is not None][:DRAWN]
    lines = [
        curve(
            SHORT.get(best.method, best.method.name) + f", {best.shape.k}" * (best.shape.k > 1),
            {
                one.shape.levels: costs.faster(one.tokens, one.shape)
                for one in found
                if one.method is best.method and one.shape.k == best.shape.k
            },
        )
        for best in shown
        if best.method is not None
    ]
    step = costs.calls["draft"][0].mean
    xs = tuple(float(step) * factor for factor in FACTORS)
    dearer = [costs.scaled("draft", Fraction(factor)) for factor in FACTORS]
    by_cost = [
        Curve(
            line.label,
            xs,
            tuple(max(float(one.speed(each)) for one in found if one.method is best.method) for each in dearer),
        )
        for line, best in zip(lines, shown, strict=True)
    ]
    plain = Curve(PLAIN, xs, (1.0,) * len(xs), style="guide")
    unit = costs.unit or "target calls"
    return Picture(
        "advice",
        "The speed-up against the length of drafts and the latency of a draft step",
        f"Left: each method with its best number of chains. Right: each method with its best drafts at every latency. "
        f"Bars are intervals. {costs}",
        (
            Panel(
                tuple(lines), "drafted tokens a chain", "times plain decoding", "at the stated latencies", apart=True
            ),
            Panel(
                (*by_cost, plain),
                f"latency of a draft step, {unit}",
                "times plain decoding",
                "if drafting costs more or less",
                log_x=True,
                ticks=tuple(f"{x:.2g}" for x in xs[::2]),
            ),
        ),
    )
