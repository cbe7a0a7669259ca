"""The advice as a result: one sentence, a table, a picture, the break-even costs, and the bound of any verifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from spec_math.block_level.methods import AS_A_BLOCK, TOKEN_BY_TOKEN, Method
from spec_math.mean import Mean, known
from spec_math.result import Column, Row, Table
from spec_math.studies.costs import CALLS, Costs
from spec_math.studies.frontier.contenders import Shape

SHORT = {TOKEN_BY_TOKEN: "token-by-token verification", AS_A_BLOCK: "block verification"}
PLAIN = "plain decoding"


@dataclass(frozen=True)
class Candidate:
    """A method with a shape, its tokens per call and the bound of any verifier of these drafts; None decodes plainly.

    `exact` is the number of tokens as a Fraction where it is known; `share` is that of the bound.
    """

    method: Method | None
    shape: Shape
    tokens: Mean
    bound: Mean | None = None
    share: Mean | None = None
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
    """Return for each call but the target's the nearest latency below and above the stated one that changes the best.

    With f the factor of a call's latency, τ tokens, and a + f b the latency of a block, candidates A and B are equally
    fast at f = (τ_A a_B − τ_B a_A)/(τ_B b_A − τ_A b_B). Plain decoding is a candidate of τ = 1.
    """
    changes: list[BreakEven] = []
    for call in (call for call in CALLS if call in costs.calls and call != "target"):
        below, above = (Fraction(-1), NOTHING), (inf, NOTHING)
        (a, b), tokens = _split(best, costs, call), _tokens(best)
        for other in found:
            (c, d), others = _split(other, costs, call), _tokens(other)
            if not others * b - tokens * d:
                continue
            factor = (tokens * c - others * a) / (others * b - tokens * d)
            if 0 <= factor < 1 and factor > below[0]:
                below = factor, other
            elif 1 < factor < above[0]:
                above = factor, other
        changes += [BreakEven(call, *one) for one in (below, above) if 0 <= one[0] < inf]
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
    Column("drafts"),
    Column("speed-up", "mean", "times plain decoding", digits=2),
    Column("tokens per call", "mean", "tokens per call of the target"),
    Column("share", "mean", "of the bound", digits=3),
    Column("bound", "mean", "tokens per call of any verifier of these drafts", shown=False),
    Column("exact speed-up", "fraction", "times plain decoding", shown=False),
)


def table_of(found: Sequence[Candidate], costs: Costs) -> Table:
    """Return each method with its fastest drafts, the fastest method first."""
    rows = [
        Row(
            (
                PLAIN if one.method is None else SHORT.get(one.method, one.method.name),
                str(one.shape) if one.shape.nodes else "none",
                costs.faster(one.tokens, one.shape),
                one.tokens,
                one.share,
                one.bound,
                None if one.exact is None else one.speed(costs),
            ),
            "best" if one is found[0] else "",
        )
        for one in found
    ]
    return Table("advice", "Each method with its fastest drafts", COLUMNS, tuple(rows))


def fastest_of_each(found: Sequence[Candidate], costs: Costs) -> list[Candidate]:
    """Return the fastest candidate of each method, the fastest first; of equals that with fewer nodes."""
    order = sorted(found, key=lambda one: (-one.speed(costs), one.shape.nodes))
    return list({one.method: one for one in reversed(order)}.values())[::-1]
