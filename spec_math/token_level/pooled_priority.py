"""The pooled-priority plan as two schemes: it drafts, prepares its plan for the laws at hand, and verifies.

Source: SpecTr, Eq. 3, for the problem.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_math.arrays import Array, asarray
from spec_math.chance import Coin
from spec_math.remembering import remembering
from spec_math.scheme import Emission, Proven, Reads, Scheme, draw_independent, token_of
from spec_math.token_level import optimal, plan, without_replacement
from spec_math.token_level.batch.plan import decide_plan
from spec_math.token_level.plan import Plan
from spec_math.token_level.streamed import Chunk


def emit(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Verify k i.i.d. drafts optimally: k is the length of the tuple, laws [V].

    A plan for exact laws, or for few tokens, is kept for the next call.

    Raises:
        ValueError: the draft has no mass on a token, or a law is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0, 1), ["2/5", "3/5"], ["3/4", "1/4"]))[Emission(1, True)]
    Fraction(1, 1)
    """
    return plan.emit(coin, tokens, _plan(plan.plan, asarray(target), asarray(draft), len(tokens)))


verify = token_of(emit)
"""The verifier of i.i.d. drafts: it returns the token that `emit` emits."""


def emit_without_replacement(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Verify drafts drawn without replacement optimally, as many as the tuple holds; laws [V].

    Raises:
        ValueError: a token is drafted twice or has no draft mass, or a law is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit_without_replacement(coin, (0, 1), ["2/5", "3/5"], ["3/4", "1/4"]).accepted)
    {True: Fraction(1, 1)}
    """
    return plan.emit(coin, tokens, _plan(plan.plan_without_replacement, asarray(target), asarray(draft), len(tokens)))


verify_without_replacement = token_of(emit_without_replacement)
"""The verifier of drafts without replacement: it returns the token that `emit_without_replacement` emits."""


INDEPENDENT = Scheme(
    "optimal plan",
    draw_independent,
    verify,
    optimal.acceptance,
    emit=emit,
    optimum=optimal.INDEPENDENT,
    streamed=Chunk.optimum,
    monotone=True,
    decide=decide_plan,
    reads=Reads(order=True),
    coins=lambda _: 4,
    proven=Proven(
        lossless=((2, 1, 0.3), (2, 2, 0.3), (2, 3, 0.3), (3, 1, 0.9), (3, 2, 6.6)),
        optimal=((2, 2, 0.4), (2, 3, 0.3), (3, 2, 11.4)),
        formal="plan_is_lossless",
    ),
    pages=("theorems/pooled_priority", "how_to/choose_a_multi_draft_method"),
)
WITHOUT_REPLACEMENT = Scheme(
    "optimal plan without replacement",
    without_replacement.draw,
    verify_without_replacement,
    optimal.acceptance_without_replacement,
    emit=emit_without_replacement,
    short_name="plan, no replacement",
    optimum=optimal.WITHOUT_REPLACEMENT,
    monotone=True,
    coins=lambda k: k + 2,
    distinct=True,
    proven=Proven(lossless=((2, 2, 0.2), (3, 2, 13.0), (3, 3, 1.0)), optimal=((2, 2, 0.3), (3, 2, 17.0), (3, 3, 0.9))),
    pages=("theorems/pooled_priority", "how_to/choose_a_multi_draft_method"),
)


@remembering(1024)
def _plan(make: Callable[..., Plan], target: Array, draft: Array, k: int) -> Plan:
    """Make a plan, and keep it for the next call."""
    return make(target, draft, k)
