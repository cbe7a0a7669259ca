"""Greedy drafts: the k − 1 tokens that the draft likes best, and one draw from the rest.

Source: greedy drafts, Hu et al. 2025.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, as_laws, count, divide, zeros_like
from spec_math.arrays import as_law as checked
from spec_math.chance import Coin
from spec_math.distribution import as_probability, descending_rank
from spec_math.scheme import Emission, Optimum, Proven, Scheme, Tokens, drafted, token_of
from spec_math.token_level.batch import rejection
from spec_math.token_level.recursive import tried_in_turn
from spec_math.token_level.streamed import Chunk
from spec_math.token_level.without_replacement import without


def draw(coin: Coin, draft: Any, k: int) -> Tokens:
    """Draft the top k − 1 tokens of the draft law [V] in order, lowest index first among equals, and one draw d'.

    d' is the draft law without those tokens. Where the draft has at most k tokens they are all drafted.

    Raises:
        TypeError, ValueError: k is not a positive integer, or draft is not a probability distribution.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: draw(coin, ["1/4", "1/2", "1/4"], 2), [0.6])
    (1, 2)
    """
    d = checked(draft, "draft")
    wanted = min(count(k), int((d > 0).sum()))
    ranks = descending_rank(d).tolist()
    top = sorted((token for token, rank in enumerate(ranks) if rank < wanted - 1), key=ranks.__getitem__)
    return (*top, coin.draw(without(d, top)))


def emit(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Couple the drawn draft maximally with the target; a residual draw may well be one of the fixed drafts.

    The law: the emitted token has the target's law, and is a draft with probability t(Top) + Σ min(t, d') outside Top,
    the optimum for these drafts. Laws [V]; k is the length of the tuple, whose last entry is the drawn one.

    Raises:
        ValueError: the draft has no mass on a token, or a law is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (1, 2), ["1/4", "1/2", "1/4"], ["1/4", "1/2", "1/4"]))[Emission(1, False)]
    Fraction(1, 2)
    """
    t, d = as_laws(target, draft)
    *top, x = drafted(tokens, d)
    if x in top:
        raise ValueError(f"the drawn draft is never one of the fixed ones; got {x} after {tuple(top)}")
    return tried_in_turn(coin, t, [(x, without(d, top))])


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int) -> Any:
    """Return t(Top) + Σ min(t, d') outside Top, the probability that the emitted token is a draft, for laws [..., V].

    It is the optimum over all verifiers of these drafts.

    >>> acceptance(["1/4", "1/2", "1/4"], ["1/4", "1/2", "1/4"], 2)
    Fraction(1, 1)
    """
    t, d = as_laws(target, draft)
    return as_probability(sum(_split(t, d, k)), t, d, k)


def test_acceptance(target: Any, draft: Any, k: int) -> Any:
    """Return Σ min(t, d') outside Top, the probability that the test of the drawn draft accepts, for laws [..., V].

    >>> test_acceptance(["1/4", "1/2", "1/4"], ["1/4", "1/2", "1/4"], 2)
    Fraction(1, 2)
    """
    t, d = as_laws(target, draft)
    return as_probability(_split(t, d, k)[1], t, d, k)


def _split(t: Array, d: Array, k: int) -> tuple[Any, Any]:
    xp = array_namespace(t)
    wanted = (d > 0).sum(-1)
    wanted = np.minimum(wanted, count(k)) if isinstance(d, np.ndarray) else wanted.clamp(max=count(k))
    top = descending_rank(d) < wanted[..., None] - 1
    rest = xp.where(top, zeros_like(d), d)
    rest = divide(rest, xp.sum(rest, axis=-1, keepdims=True), zeros_like(d))
    fixed = xp.sum(xp.where(top, t, zeros_like(t)), axis=-1)
    return fixed, xp.sum(xp.minimum(t, rest), axis=-1)


OPTIMUM = Optimum("greedy drafts", acceptance, None, Chunk.greedy)
"""The optimum of Top and one draw outside it: every best H contains Top.

It is t(Top) plus the overlap of the target with the law of the draw, which the scheme reaches."""

SCHEME = Scheme(
    "greedy drafts",
    draw,
    verify,
    acceptance,
    test_acceptance,
    emit,
    decide=rejection.decide_greedy,
    coins=lambda _: 2,
    distinct=True,
    optimum=OPTIMUM,
    streamed=Chunk.greedy,
    monotone=True,
    proven=Proven(
        lossless=((2, 2, 0.1), (3, 2, 0.4), (3, 3, 0.2), (4, 3, 3.5)),
        formulas=((2, 2, 0.1), (3, 2, 0.8), (3, 3, 0.4)),
        optimal=((2, 2, 0.1), (3, 2, 0.9), (3, 3, 0.3)),
    ),
    pages=("theorems/greedy", "how_to/choose_a_multi_draft_method"),
)
