"""The advice as a result: one sentence, a table, a picture, the break-even costs, and the bound of any verifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from spec_math.block_level.methods import AS_A_BLOCK, TOKEN_BY_TOKEN, Method
from spec_math.mean import Mean, known
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.sequential.decision import Decision
from spec_math.studies.costs import CALLS, Costs
from spec_math.studies.lengths.units import Shape
from spec_math.wording import listed

SHORT = {None: "plain decoding", TOKEN_BY_TOKEN: "token-by-token verification", AS_A_BLOCK: "block verification"}
"""Names of methods where they have a shorter one; None decodes plainly."""


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
    def label(self) -> str:
        """The method in words."""
        return SHORT.get(self.method) or getattr(self.method, "name", "")

    @property
    def name(self) -> str:
        """The method with its drafts, in words."""
        return f"{self.label} with {self.shape}" if self.method else self.label

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The nodes, the levels and the widest level: what a latency hangs on."""
        return self.shape.nodes, self.shape.levels, self.shape.widest

    @property
    def number(self) -> Any:
        """The number of tokens: a Fraction where it is exact."""
        return self.tokens.value if self.exact is None else self.exact

    def speed(self, costs: Costs) -> Any:
        """Return the speed-up over plain decoding: a Fraction where the number of tokens is one."""
        return costs.speed_up(self.number, *self.sizes)

    def faster(self, costs: Costs) -> Mean:
        """Return the speed-up with its interval."""
        return costs.faster(self.tokens, *self.sizes)

    def split(self, costs: Costs, call: str) -> tuple[Any, Any]:
        """Return the latency of a block without one call, and that of the call."""
        weights = costs.weights(*self.sizes)
        own = costs.latency({key: weight for key, weight in weights.items() if key[0] == call})
        return costs.latency(weights) - own, own


NOTHING = Candidate(None, Shape(0, 0, 0), known(1), known(1), exact=Fraction(1))


class Advice(NamedTuple):
    """The candidates, plain decoding among them; the decision, where texts are samples; notes on what was read.

    chosen: the candidates of the decision, a shape for each method. unit: a unit of the decision, in words.
    """

    found: Sequence[Candidate]
    notes: tuple[str, ...] = ()
    decision: Decision | None = None
    chosen: tuple[Candidate, ...] = ()
    unit: str = ""


class BreakEven(NamedTuple):
    """The factor of a call's latency from which on another candidate is the fastest."""

    call: str
    factor: Any
    then: Candidate


def break_evens(best: Candidate, found: Sequence[Candidate], costs: Costs) -> list[BreakEven]:
    """Return for each call but the target's the nearest latencies below and above the stated one that change the best.

    With f the factor of a call's latency, τ tokens, and a + f b the latency of a block, candidates A and B are equally
    fast at f = (τ_A a_B − τ_B a_A)/(τ_B b_A − τ_A b_B). The last is that above which plain decoding is the fastest.
    """
    changes: list[BreakEven] = []
    for call in (call for call in costs.calls if call != "target"):
        below, above, plain = BreakEven(call, Fraction(-1), NOTHING), BreakEven(call, inf, NOTHING), Fraction(0)
        (a, b), tokens = best.split(costs, call), best.number
        for other in found:
            c, d = other.split(costs, call)
            plain = max(plain, (other.number * costs.plain() - c) / d if d else 0)
            gain = other.number * b - tokens * d
            # Samples may show another one as faster that the decision does not.
            factor = (tokens * c - other.number * a) / gain if gain and other.speed(costs) <= best.speed(costs) else -1
            if below.factor < factor < 1:
                below = BreakEven(call, factor, other)
            elif 1 < factor < above.factor:
                above = BreakEven(call, factor, other)
        last = BreakEven(call, plain if above.then is not NOTHING else 0, NOTHING)
        changes += [one for one in (below, above, last) if (0 <= one.factor < 1) is (one is below) and one.factor < inf]
    return changes


def changes_said(best: Candidate, changes: Sequence[BreakEven], costs: Costs) -> str:
    """Say which latencies change the advice."""
    said: list[str] = []
    for call, factor, then in changes:
        point = costs.calls[call][0]
        at, now = (f"{float(point.mean * Fraction(one)):.3g}" for one in (factor, 1))
        said.append(
            f"{CALLS[call]}{' of a node' * (call == 'verify' and not point.size)} {'above' if factor > 1 else 'below'} "
            f"{at} {costs.unit or 'target calls'} instead of {now}: take {then.name}"
        )
    if not said:
        return f"No latency of one kind alone changes the choice of {best.name}."
    return f"These latencies change the advice, each alone: {'; '.join(said)}."


TOKENS = "tokens per call of the target"
COLUMNS = (
    *(Column("method"), Column("K×L"), Column("speed-up", "mean", "times plain decoding", digits=2)),
    *(Column("tokens", "number", TOKENS, digits=2), Column("of the bound", "number", TOKENS, digits=3)),
    *(Column(name, "mean", TOKENS, shown=False) for name in ("tokens per call", "share", "at any position", "bound")),
    *(Column("samples", "count", shown=False), Column("exact speed-up", "fraction", shown=False)),
)


def result_of(advice: Advice, costs: Costs) -> Result:
    """Return the advice as a result: its sentence, the table, the picture and what would change it."""
    ordered, decision = fastest_of_each(advice.chosen or advice.found, costs), advice.decision
    best = ordered[0] if decision is None else advice.chosen[decision.taken]
    rows: list[Row] = []
    for one in ordered:
        shape = f"{one.shape.k}×{one.shape.levels}" if one.method else "—"
        share, exact = one.share.value if one.share else None, None if one.exact is None else one.speed(costs)
        values = one.faster(costs), one.tokens.value, share, one.tokens, one.share, one.at_any, one.bound
        rows.append(Row((one.label, shape, *values, one.tokens.samples, exact), "best" if one is best else ""))
    changes = changes_said(best, break_evens(best, advice.found, costs), costs)
    notes = sentences(filter(None, (changes, _within_spread(best, ordered, costs), str(costs), *advice.notes)))
    table = Table("advice", "Each method with its fastest drafts", COLUMNS, tuple(rows))
    title, finding = "Advice for these models at these latencies", _taken(best, costs, advice) + _bound(best, costs)
    return Result("advice", title, finding, (table,), (picture(ordered, advice.found, costs),), notes)


def _taken(best: Candidate, costs: Costs, advice: Advice) -> str:
    speed, decision = best.faster(costs).written(2), advice.decision
    said = f"Take {best.name}: {speed} times faster than plain decoding."
    if best.method is None:
        said = "Draft nothing: plain decoding is fastest at these latencies."
    if decision is None:
        return said
    reason = decision.sentence(advice.unit).removeprefix(f"Take {best.name}: ")
    if decision.outcome == "undecided":
        return f"{reason} {best.name[0].upper()}{best.name[1:]} is {speed} times faster than plain decoding."
    return f"{said} {reason[0].upper()}{reason[1:]}"


def _bound(best: Candidate, costs: Costs) -> str:
    if best.bound is None or best.method is None:
        return ""
    if best.at_any is None:
        most = costs.faster(best.bound, *best.sizes).written(2)
        return f" No verifier of {best.shape} is more than {most} times faster."
    return f" Its share of the bound of any verifier of {best.shape} is {best.share}."


def _within_spread(best: Candidate, ordered: Sequence[Candidate], costs: Costs) -> str:
    """Say which methods may be faster at latencies within the stated spreads: τ_B c_A − τ_A c_B > 0 at some of them."""
    near: list[str] = []
    for other in ordered:
        a, b = costs.weights(*best.sizes), costs.weights(*other.sizes)
        mine, theirs = Fraction(best.number), Fraction(other.number)
        both = {key: theirs * a.get(key, 0) - mine * b.get(key, 0) for key in {*a, *b}}
        if other is not best and -costs.spread(both) <= costs.latency(both) < costs.spread(both):
            near.append(other.name)
    end = "may be as fast within the stated spreads of the latencies: measure these more closely."
    return f"{listed(near, 'or')} {end}" if near else ""


def fastest_of_each(found: Sequence[Candidate], costs: Costs) -> list[Candidate]:
    """Return the fastest candidate of each method, the fastest first; of equals that with fewer nodes."""
    first: dict[Method | None, Candidate] = {}
    for one in sorted(found, key=lambda one: (-one.speed(costs), one.shape.nodes)):
        _ = first.setdefault(one.method, one)
    return list(first.values())


def picture(ordered: Sequence[Candidate], found: Sequence[Candidate], costs: Costs) -> Picture:
    """Return the speed-up of the four fastest methods against the length of their drafts."""
    lines: list[Curve] = []
    for best in [one for one in ordered if one.method][:4]:
        own = [one for one in found if (one.method, one.shape.k) == (best.method, best.shape.k)]
        lines.append(curve(f"{best.label}, K = {best.shape.k}", {one.shape.levels: one.faster(costs) for one in own}))
    title, axes = "The speed-up against the length of drafts", ("drafted tokens a chain", "times plain decoding")
    caption = f"Each method has its best number K of chains. Bars are intervals, each by itself. {costs}"
    return Picture("advice", title, caption, (Panel(tuple(lines), *axes, apart=True),))
