"""Maximal coupling of one draft with the target (SpecTr Alg. 1; the core of Timor et al. Alg. 5)."""

from __future__ import annotations

from typing import Any

from spec_math.arrays import as_law as checked
from spec_math.arrays import as_laws
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, overlap, residual_of
from spec_math.scheme import Emission, Proven, Scheme, Tokens, drafted, the_token, token_of
from spec_math.token_level import optimal
from spec_math.token_level.batch import rejection
from spec_math.token_level.streamed import Chunk


def draw(coin: Coin, draft: Any, k: int = 1) -> Tokens:  # noqa: ARG001 - a one-draft scheme ignores k
    """Draw one token from the draft law [V].

    Raises:
        TypeError, ValueError: draft is not a probability distribution.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: draw(coin, ["1/2", "1/2"]), [0.7])
    (1,)
    """
    return (coin.draw(checked(draft, "draft")),)


def emit(coin: Coin, token: Any, target: Any, draft: Any) -> Emission:
    """Accept the draft x with chance min(1, t(x)/d(x)), else draw from the residual (t − d)+ / Σ(t − d)+.

    The law: the emitted token has the target's law. Laws [V] of one number type. Source: SpecTr, Alg. 1 (with its line
    7 read as the else-branch it must be, erratum b).

    Raises:
        ValueError: the draft has no mass on the token, or a law is not a probability distribution.

    >>> from spec_math.chance import law
    >>> laws = ["1/4", "3/4"], ["1/2", "1/2"]
    >>> law(lambda coin: emit(coin, 0, *laws))[Emission(1, False)]
    Fraction(1, 2)
    """
    t, d = as_laws(target, draft)
    (x,) = drafted((the_token(token),), d)
    if coin.flip(capped_ratio(t[x], d[x])):
        return Emission(x, accepted=True)
    return Emission(coin.draw(residual_of(t, d)), accepted=False)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int = 1) -> Any:  # noqa: ARG001
    """Return Σ min(t, d), the acceptance of laws [..., V]: a rejected draft has no residual mass.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"])
    Fraction(3, 4)
    """
    return overlap(target, draft)


SCHEME = Scheme(
    "maximal coupling",
    draw,
    verify,
    acceptance,
    emit=emit,
    decide=rejection.decide_recursive,
    coins=lambda _: 2,
    drafts=1,
    optimum=optimal.ONE,
    streamed=Chunk.overlap,
    proven=Proven(
        lossless=((2, 1, 0.1), (3, 1, 0.1), (4, 1, 0.5), (5, 1, 3.5)),
        formulas=((2, 1, 0.1), (3, 1, 0.2), (4, 1, 1.4)),
        optimal=((2, 1, 0.2), (3, 1, 0.2)),
        formal="maximal_coupling_is_lossless",
    ),
    pages=("theorems/single", "how_to/choose_a_multi_draft_method"),
)
