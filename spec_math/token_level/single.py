"""Maximal coupling of one draft with the target (SpecTr Alg. 1; the core of Timor et al. Alg. 5)."""

from __future__ import annotations

from typing import Any

from spec_math.arrays import law as checked
from spec_math.arrays import laws
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, overlap, residual_of
from spec_math.scheme import Emission, Tokens, drafted, the_token


def draw(coin: Coin, draft: Any, k: int = 1) -> Tokens:  # noqa: ARG001 - a one-draft scheme ignores k
    """Draw one token from the draft law [V].

    Raises:
        TypeError, ValueError: draft is no law.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: draw(coin, ["1/2", "1/2"]), [0.7])
    (1,)
    """
    return (coin.draw(checked(draft, "draft")),)


def emit(coin: Coin, token: Any, target: Any, draft: Any) -> Emission:
    """Accept the draft x with chance min(1, t(x)/d(x)), else draw from the residual (t − d)+ / Σ(t − d)+.

    The law: the emitted token has the target's law. Laws [V] of one world. Source: SpecTr, Alg. 1 (with its line 7
    read as the else-branch it must be, erratum b).

    Raises:
        ValueError: the draft has no mass on the token, or a law is none.

    >>> from spec_math.chance import law
    >>> laws = ["1/4", "3/4"], ["1/2", "1/2"]
    >>> law(lambda coin: emit(coin, 0, *laws))[Emission(1, False)]
    Fraction(1, 2)
    """
    t, d = laws(target, draft)
    (x,) = drafted((the_token(token),), d)
    if coin.flip(capped_ratio(t[x], d[x])):
        return Emission(x, accepted=True)
    return Emission(coin.draw(residual_of(t, d)), accepted=False)


def verify(coin: Coin, token: Any, target: Any, draft: Any) -> int:
    """Return the token that `emit` emits.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, coin.draw([1, 0]), ["1/4", "3/4"], [1, 0])) == {0: 1 / 4, 1: 3 / 4}
    True
    """
    return emit(coin, token, target, draft).token


def acceptance(target: Any, draft: Any, k: int = 1) -> Any:  # noqa: ARG001
    """Return Σ min(t, d), the probability that the test accepts, for laws [..., V]. No coupling accepts more.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"])
    Fraction(3, 4)
    """
    return overlap(target, draft)


def membership(target: Any, draft: Any, k: int = 1) -> Any:
    """Return the probability [...] that the token is the draft: the acceptance, as a rejected draft has no residual.

    >>> membership(["1/4", "3/4"], ["1/2", "1/2"])
    Fraction(3, 4)
    """
    return acceptance(target, draft, k)
