"""The pooled-priority plan: an exactly optimal verifier of k i.i.d. drafts, or of k drafts without replacement.

Source: SpecTr, Eq. 3, for the problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_laws, count, divide, number_type, ones_like, positive_part, zeros_like
from spec_math.chance import Coin, Cumulative
from spec_math.distribution import normalised
from spec_math.notebook import card, law_table
from spec_math.scheme import Emission, Tokens, drafted, token_of
from spec_math.token_level.optimum import pool_lemma, prefix_law
from spec_math.token_level.optimum.pools import KnotMixture, gains, knot_mixture, selection_ratios
from spec_math.token_level.optimum.prefix_law import PrefixLaw
from spec_math.token_level.optimum.ratio_order import RatioOrder, ratio_order, unit_of


@dataclass(frozen=True, eq=False)
class Plan:
    """The preparation of one position's verifier for one target, one draft and `drafts` drafted tokens.

    They are i.i.d. where `independent`, else drawn without replacement. `order` sorts the tokens by t/d, and `pools` is
    the mixture of pool sets over that order.
    `acceptance` is the probability that it accepts a draft: the optimum, on floats less a rounding error.
    `selection` [V] is the law of the draft that it puts forward, `kept` [V] the chance min(1, t/selection) that this
    draft passes; the rest is drawn from `residual`, (t − selection)+ divided by its sum. On floats `selection` is the
    law that the pools in use really have, so that rounding costs acceptance and never the target's law.

    >>> plan(["2/5", "3/5"], ["3/4", "1/4"], 2).selection.tolist()
    [Fraction(9, 16), Fraction(7, 16)]
    """

    drafts: int
    independent: bool
    order: RatioOrder
    pools: KnotMixture
    selection: Array
    kept: Array
    acceptance: Any
    residual: Cumulative

    @cached_property
    def components(self) -> Cumulative:
        """The masses of the mixture of pool sets."""
        return Cumulative(self.pools.weights)

    @cached_property
    def places(self) -> np.ndarray[Any, Any]:
        """The place of each token [V] in the ratio order, −1 for those without draft mass."""
        places = np.full(len(self.selection), -1)
        places[self.order.tokens] = np.arange(len(self.order))
        return places

    @cached_property
    def draft(self) -> Array:
        """The draft law [V]."""
        masses = zeros_like(self.selection)
        masses[self.order.tokens] = self.order.draft
        return masses

    def _repr_html_(self) -> str:
        facts = {
            "drafts": f"{self.drafts}, {'independent' if self.independent else 'without replacement'}",
            "acceptance, the optimum": self.acceptance,
            "sets of pools": len(self.pools.weights),
        }
        laws = {"draft": self.draft.tolist(), "put forward": self.selection.tolist(), "kept with": self.kept.tolist()}
        return card("Optimal plan", facts, law_table(laws))


def plan(target: Any, draft: Any, k: int) -> Plan:
    """Prepare the optimal verifier of k i.i.d. drafts: O(V log V), for laws [V].

    The problem: a coupling of the drafts with Y ~ target that maximises P(Y ∈ S). Exact on Fractions. On floats the
    laws are those that a coin draws from these masses, in proportion to their own sums (torch laws are moved to NumPy).

    Raises:
        TypeError, ValueError: k is not a positive integer; laws of more than one position.

    >>> prepared = plan(["2/5", "3/5"], ["3/4", "1/4"], 2)
    >>> prepared.acceptance, prepared.selection.tolist()
    (Fraction(67, 80), [Fraction(9, 16), Fraction(7, 16)])
    """
    t, d = one_position(target, draft)
    order = ratio_order(t, d)
    return _prepared(t, order, prefix_law.independent(order, k), k, independent=True)


def plan_without_replacement(target: Any, draft: Any, k: int) -> Plan:
    """Prepare the optimal verifier of k drafts without replacement, for laws [V].

    Where the draft has fewer than k tokens it is one of as many drafts as there are. O(V log V) on floats with k = 2,
    O(V k) times the nodes of a quadrature beyond; exact on Fractions, by recursion over drawn sets.

    Raises:
        TypeError, ValueError: as `plan`; the exact recursion would need more than 10^6 terms.

    >>> plan_without_replacement(["2/5", "3/5"], ["3/4", "1/4"], 2).acceptance
    Fraction(1, 1)
    """
    t, d = one_position(target, draft)
    order = ratio_order(t, d)
    k = min(count(k), len(order))
    return _prepared(t, order, prefix_law.without_replacement(order, k), k, independent=False)


def selected(target: Any, draft: Any, k: int) -> Array:
    """Return the law [V] of the draft that `plan_without_replacement` puts forward, without preparing to draw from it.

    >>> selected(["2/5", "3/5"], ["3/4", "1/4"], 2).tolist()
    [Fraction(2, 5), Fraction(3, 5)]
    """
    t, d = one_position(target, draft)
    order = ratio_order(t, d)
    selection, [outside] = zeros_like(t), prefix_law.outsides_without_replacement(order, (min(count(k), len(order)),))
    selection[order.tokens] = selection_ratios(order, 1 - outside) * (order.draft / unit_of(order.draft))
    return selection


def emit(coin: Coin, tokens: Any, plan: Plan) -> Emission:
    """Draw a set of pools, put forward one draft of the highest pool hit, keep it or draw from the residual.

    The law: the emitted token has the target's law, and is a draft with the probability `plan.acceptance`, which no
    verifier exceeds. I.i.d. drafts: one draft INDEX of the highest pool, uniformly. Without replacement: by the pool
    lemma. The coin's order: component of the mixture, choice in the pool, test, residual.

    Raises:
        ValueError: another number of drafts than the plan's, a draft without draft mass, or the same one twice.

    >>> from spec_math.chance import law
    >>> prepared = plan(["1/4", "3/4"], ["1/2", "1/2"], 1)
    >>> law(lambda coin: emit(coin, (0,), prepared))[Emission(1, False)]
    Fraction(1, 2)
    """
    listed = drafted(tokens, plan.draft)
    if len(listed) != plan.drafts or (not plan.independent and len(set(listed)) < len(listed)):
        kind = "i.i.d. drafts" if plan.independent else "distinct drafts"
        raise ValueError(f"this plan is for {plan.drafts} {kind}; got {listed}")
    token = put_forward(coin, listed, plan)
    if coin.flip(plan.kept[token]):
        return Emission(token, accepted=True)
    return Emission(coin.draw(plan.residual), accepted=False)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def put_forward(coin: Coin, listed: Tokens, plan: Plan) -> int:
    """Put one draft forward: a draw from `plan.selection`, over the drafts and the coin; drafts as they were drawn.

    >>> from spec_math.chance import law
    >>> law(lambda coin: put_forward(coin, (0, 1), plan(["1/4", "3/4"], ["1/2", "1/2"], 2)))[1]
    Fraction(1, 1)
    """
    places = [int(plan.places[token]) for token in listed]
    pool = plan.pools.pool(coin.draw(plan.components), max(places))
    if not plan.independent:
        return int(plan.order.tokens[pool_lemma.choose(coin, places, plan.order, pool)])
    hits = [token for token, place in zip(listed, places, strict=True) if place >= pool[0]]
    share = plan.pools.one / len(hits)
    return hits[coin.draw([share] * len(hits))]


def pooled(order: RatioOrder, law: PrefixLaw) -> tuple[KnotMixture, Array]:
    """Return the mixture of pool sets over an order, and the chance [n] that a token put forward passes.

    >>> from spec_math.arrays import exact
    >>> order = ratio_order(exact(["2/5", "3/5"]), exact(["3/4", "1/4"]))
    >>> pooled(order, prefix_law.independent(order, 2))[1].tolist()
    [Fraction(32, 45), Fraction(1, 1)]
    """
    pools = knot_mixture(order.draft, selection_ratios(order, law.inside), gains(order, law))
    # A draft that is never put forward, or whose float mass underflows, passes if the target has it.
    sure = np.where(order.target > 0, ones_like(order.target), zeros_like(order.target))
    return pools, divide(np.minimum(order.target, pools.selection), pools.selection, sure)


def _prepared(t: Array, order: RatioOrder, law: PrefixLaw, k: int, independent: bool) -> Plan:
    pools, chances = pooled(order, law)
    # Masses that no draft can have are in proportion to the target's own sum, as those in the order are.
    target = t / t.sum()
    target[order.tokens] = order.target
    selection, kept = zeros_like(t), zeros_like(t)
    selection[order.tokens], kept[order.tokens] = pools.selection, chances
    residual = Cumulative(normalised(positive_part(target - selection), target))
    return Plan(
        k, independent, order, pools, selection, kept, np.minimum(order.target, pools.selection).sum(), residual
    )


def one_position(target: Any, draft: Any, said: str = "a plan is that of one position") -> tuple[Array, Array]:
    """Check two laws [V] of one position, and return them on NumPy; `said` is how an error begins.

    Raises:
        ValueError: laws of more than one position. TypeError, ValueError: as `arrays.as_laws`.

    >>> one_position(["1/2", "1/2"], ["1", "0"])[1].tolist()
    [Fraction(1, 1), Fraction(0, 1)]
    """
    t, d = as_laws(target, draft)
    if number_type(t) == "torch":
        t, d = (x.detach().double().cpu().numpy() for x in (t, d))
    if t.ndim != 1:
        raise ValueError(f"{said}, distributions of shape [V]; got {tuple(t.shape)}")
    return t, d
