"""The pooled-priority plan as two schemes: it drafts, prepares its plan for the laws at hand, and verifies.

Source: SpecTr, Eq. 3, for the problem; the construction is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import asarray, is_exact
from spec_math.chance import Coin
from spec_math.scheme import Emission, Scheme, draw_independent
from spec_math.token_level import optima, optimal, plan, without_replacement
from spec_math.token_level.plan import Plan
from spec_math.token_level.streamed import Chunk
from spec_math.worlds import remembering


def emit(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Verify k i.i.d. drafts optimally: k is the length of the tuple, laws [V].

    A plan for exact laws is kept for the next call.

    Raises:
        ValueError: the draft has no mass on a token, or a law is none.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0, 1), ["2/5", "3/5"], ["3/4", "1/4"]))[Emission(1, True)]
    Fraction(1, 1)
    """
    return plan.emit(coin, tokens, _plan(target, draft, len(tokens), replaced=True))


def verify(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Return the token that `emit` emits.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, (0,), [0, 1], [1, 0]))
    {1: Fraction(1, 1)}
    """
    return emit(coin, tokens, target, draft).token


def emit_without_replacement(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Verify drafts drawn without replacement optimally, as many as the tuple holds; laws [V].

    Raises:
        ValueError: a token is drafted twice or has no draft mass, or a law is none.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit_without_replacement(coin, (0, 1), ["2/5", "3/5"], ["3/4", "1/4"]).accepted)
    {True: Fraction(1, 1)}
    """
    return plan.emit(coin, tokens, _plan(target, draft, len(tokens), replaced=False))


def verify_without_replacement(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Return the token that `emit_without_replacement` emits.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify_without_replacement(coin, (0,), [0, 1], [1, 0]))
    {1: Fraction(1, 1)}
    """
    return emit_without_replacement(coin, tokens, target, draft).token


INDEPENDENT = Scheme(
    "optimal plan",
    draw_independent,
    verify,
    optimal.acceptance,
    optimal.acceptance,
    emit,
    optimum=optima.INDEPENDENT,
    streamed=Chunk.optimum,
    monotone=True,
)
WITHOUT_REPLACEMENT = Scheme(
    "optimal plan without replacement",
    without_replacement.draw,
    verify_without_replacement,
    optimal.acceptance_without_replacement,
    optimal.acceptance_without_replacement,
    emit_without_replacement,
    short_name="plan, no replacement",
    optimum=optima.WITHOUT_REPLACEMENT,
    monotone=True,
)


def _plan(target: Any, draft: Any, k: int, replaced: bool) -> Plan:
    make = plan.plan if replaced else plan.plan_without_replacement
    t, d = asarray(target), asarray(draft)
    if is_exact(t) and is_exact(d) and t.ndim == 1:
        return _exact_plan(make, tuple(t), tuple(d), k)
    return make(t, d, k)


@remembering(1024)
def _exact_plan(make: Callable[..., Plan], t: tuple[Fraction, ...], d: tuple[Fraction, ...], k: int) -> Plan:
    return make(np.array(t, dtype=object), np.array(d, dtype=object), k)
