"""Draw from the target and keep the draft if it is the same token: exact match, the rule of SLEM and many engines.

Source: Timor et al., Alg. 2, at one position.
"""

from __future__ import annotations

from typing import Any

from spec_math.arrays import array_namespace, laws
from spec_math.arrays import law as checked
from spec_math.chance import Coin
from spec_math.scheme import Emission, the_token
from spec_math.token_level.single import draw as draw


def emit(coin: Coin, token: Any, target: Any, draft: Any = None) -> Emission:  # noqa: ARG001
    """Emit a draw from the target; the draft is accepted when it equals the draw.

    The law: the target's, whatever the draft is, as the draft never enters. Target [V].

    Raises:
        ValueError: the target is no law.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, 0, ["1/4", "3/4"]))[Emission(0, True)]
    Fraction(1, 4)
    """
    y = coin.draw(checked(target, "target"))
    return Emission(y, accepted=y == the_token(token))


def verify(coin: Coin, token: Any, target: Any, draft: Any = None) -> int:
    """Return the token that `emit` emits.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, 0, ["1/4", "3/4"])) == {0: 1 / 4, 1: 3 / 4}
    True
    """
    return emit(coin, token, target, draft).token


def acceptance(target: Any, draft: Any, k: int = 1) -> Any:  # noqa: ARG001
    """Return Σ t·d, the probability that draw and draft are one token, for laws [..., V].

    Raises:
        TypeError, ValueError: as `arrays.laws`.

    >>> acceptance(["1/4", "3/4"], ["1/3", "2/3"])
    Fraction(7, 12)
    """
    t, d = laws(target, draft)
    return array_namespace(t).sum(t * d, axis=-1)


def membership(target: Any, draft: Any, k: int = 1) -> Any:
    """Return the probability [...] that an emitted token is the draft: the acceptance.

    >>> membership(["1/4", "3/4"], ["1/3", "2/3"])
    Fraction(7, 12)
    """
    return acceptance(target, draft, k)
