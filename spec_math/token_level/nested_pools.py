"""The pools of one token in a knot mixture: which stretches of the ratio order around it are pools, and how often.

Source: our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.kernels import kernel
from spec_math.token_level.knot_mixture import KnotMixture


def nested(pools: KnotMixture, place: int) -> tuple[Array, Array, Array]:
    """Return the pools of the token at `place`, innermost first: weights [r], first knots [r] and last knots [r].

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level.knot_mixture import knot_mixture
    >>> pools = knot_mixture(exact(["1/4", "3/4"]), exact(["1/2", "7/6"]), exact(["1/16", "15/16"]))
    >>> weights, low, high = nested(pools, 1)
    >>> weights.tolist(), low.tolist(), high.tolist()
    ([Fraction(2, 3), Fraction(1, 3)], [1, 0], [2, 2])
    """
    stops, low, high = _pools_around(pools.dies, place, len(pools.weights))
    # Components end where the weights up to them do: each pool lasts from one such end to another.
    weights = np.cumsum(pools.weights)[stops - 1]
    weights[1:] = weights[1:] - weights[:-1]
    return weights, low, high


@kernel
def _pools_around(dies: Any, place: int, components: int) -> Any:
    """Return the pools of the token at `place`, innermost first: before which component each ends, and its two knots.

    Going away from the token, only a knot that outlives all before it ever ends a pool of it.
    """
    found = np.empty((3, len(dies)), np.int64)
    low, high, age, number = place, place + 1, 0, 0
    while age < components:
        until = min(dies[low], dies[high])
        if until > age:
            found[0, number], found[1, number], found[2, number] = until, low, high
            number, age = number + 1, until
        while age < components and dies[low] <= age:
            low -= 1
        while age < components and dies[high] <= age:
            high += 1
    return found[0, :number], found[1, :number], found[2, :number]
