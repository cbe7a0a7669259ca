"""Parts that rules of one draft share: their input, and the emitted law of a rule that keeps x with kept(x).

Source: the common shape of the rules beside this file.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.lossy.frontier import one_position
from spec_math.scheme import drafted, the_token


def drafted_position(tokens: Any, target: Any, draft: Any) -> tuple[Array, Array, int]:
    """Check two laws [V] and the one token drafted from the second.

    Raises:
        TypeError, ValueError: more than one draft, or one that the draft cannot draw; as `frontier.one_position`.

    >>> drafted_position((1,), ["1/4", "3/4"], ["1/2", "1/2"])[2]
    1
    """
    t, d = one_position(target, draft)
    (x,) = drafted((the_token(tokens),), d)
    return t, d, x


def as_number(value: Fraction, like: Array) -> Any:
    """Return a parameter in the number type of a law.

    >>> as_number(Fraction(1, 2), np.array([0.5, 0.5]))
    0.5
    """
    return value if is_exact(like) else float(value)


def ones(mask: Any, like: Array) -> Array:
    """Return 1 where a mask [V] is true and 0 elsewhere, in the number type of a law.

    >>> ones([True, False], np.array([0.5, 0.5])).tolist()
    [1.0, 0.0]
    """
    return np.where(np.asarray(mask, dtype=bool), like * 0 + 1, like * 0)


def mixed(draft: Array, kept: Array, after: Array) -> Array:
    """Return the law d·kept + Σ d·(1 − kept)·after [V] of a rule that draws from `after` [V] on every rejection.

    >>> from spec_math.arrays import exact
    >>> mixed(exact(["1/2", "1/2"]), exact([1, 0]), exact(["1/4", "3/4"])).tolist()
    [Fraction(5, 8), Fraction(3, 8)]
    """
    return draft * kept + (draft * (1 - kept)).sum() * after


def among(draft: Array, kept: Array, after: Array) -> Any:
    """Return the probability that such a rule emits its draft, kept or rejected and drawn again, for arrays [V].

    >>> from spec_math.arrays import exact
    >>> among(exact(["1/2", "1/2"]), exact([1, 0]), exact(["1/4", "3/4"]))
    Fraction(7, 8)
    """
    return (draft * (kept + (1 - kept) * after)).sum()
