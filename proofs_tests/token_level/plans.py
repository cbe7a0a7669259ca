"""Plans of both kinds for the proofs, their couplings, and their parts by adding up tuples."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from proofs_tests.token_level.pools_oracle import prefix_masses
from spec_math import exact
from spec_math.coupling import Coupling, joint
from spec_math.scheme import draw_independent
from spec_math.token_level import without_replacement
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.pools import selection_ratios
from spec_math.token_level.optimum.ratio_order import ratio_order
from spec_math.token_level.plan import Plan, emit, plan, plan_without_replacement

both_ways = pytest.mark.parametrize("replaced", [True, False], ids=["iid", "without replacement"])
FOUR, TWO = exact(["1/10", "1/5", "3/10", "2/5"]), exact(["2/5", "3/10", "1/5", "1/10"])


def made(target: Any, draft: Any, k: int, replaced: bool) -> Plan:
    return (plan if replaced else plan_without_replacement)(target, draft, k)


def coupling(prepared: Plan, draft: Any, k: int, emitter: Any = emit) -> Coupling:
    draw = draw_independent if prepared.independent else without_replacement.draw
    return joint(lambda coin: draw(coin, draft, k), lambda coin, tokens: emitter(coin, tokens, prepared))


def as_law(masses: Any) -> dict[int, Any]:
    return {token: mass for token, mass in enumerate(masses) if mass != 0}


def parts(target: Any, draft: Any, k: int, replaced: bool) -> tuple[Any, Any, list[Any], list[Any]]:
    """The ratio order, the library's c/d in it, and its points (P_i, g_i) by adding up tuples."""
    order = ratio_order(target, draft)
    ratios = selection_ratios(order, library_law(order, k, replaced).inside)
    return order, ratios, running(order.draft), prefix_masses(order.draft, k, replaced)


def library_law(order: Any, k: int, replaced: bool) -> prefix_law.PrefixLaw:
    return (prefix_law.independent if replaced else prefix_law.without_replacement)(order, k)


def running(masses: Any) -> list[Any]:
    return [sum(masses[:i], Fraction(0)) for i in range(len(masses) + 1)]
