"""A deterministic draft: the draft law is one-hot, whatever chose it, and the verifier reads only the target.

Source: SpecTr, Alg. 1, for a draft law that is certain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import array_namespace, as_laws
from spec_math.arrays import as_law as checked
from spec_math.chance import Coin
from spec_math.distribution import as_probability, one_hot, residual_of
from spec_math.scheme import Emission, Optimum, Proven, Reads, Scheme, Tokens, is_index, the_token, token_of
from spec_math.token_level.batch import rejection
from spec_math.token_level.streamed import Chunk


def draw(coin: Coin, draft: Any, k: int = 1) -> Tokens:  # noqa: ARG001 - no randomness, and one draft
    """Draft the first maximum of the draft law [V].

    Raises:
        TypeError, ValueError: draft is not a probability distribution.

    >>> draw(None, ["1/4", "3/4"])
    (1,)
    """
    return (int(checked(draft, "draft").argmax()),)


def emit(coin: Coin, token: Any, target: Any, draft: Any = None) -> Emission:  # noqa: ARG001
    """Accept x with chance t(x), else draw from t without x: maximal coupling with the one-hot law of x.

    The law: lossless for any way of choosing x that does not see these coins. Target [V].

    Raises:
        ValueError: the token lies outside the vocabulary, or the target is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, 0, ["1/4", "3/4"]))[Emission(1, False)]
    Fraction(3, 4)
    """
    t = checked(target, "target")
    x = the_token(token)
    if not is_index(x) or not 0 <= x < len(t):
        raise ValueError(f"a drafted token must be an index in 0..{len(t) - 1}; got {x!r}")
    if coin.flip(min(1, t[x])):
        return Emission(int(x), accepted=True)
    return Emission(coin.draw(residual_of(t, one_hot(x, t))), accepted=False)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int = 1) -> Any:  # noqa: ARG001
    """Return t(first maximum of d), the acceptance of laws [..., V]; the residual leaves the draft out.

    Units: a probability.

    >>> acceptance(["1/4", "3/4"], ["2/3", "1/3"])
    Fraction(1, 4)
    """
    t, d = as_laws(target, draft)
    if isinstance(t, np.ndarray):
        # A sum of one mass, as indexing would leave a 0-dimensional object array where a Fraction is wanted.
        return as_probability(np.take_along_axis(t, np.argmax(d, axis=-1)[..., None], -1).sum(axis=-1), t, d)
    xp = array_namespace(t)
    return as_probability(xp.take_along_axis(t, xp.argmax(d, axis=-1, keepdims=True), axis=-1)[..., 0], t, d)


OPTIMUM = Optimum("the draft's favourite", acceptance, None, Chunk.favourite)
"""The optimum of a certain draft x: P(S ⊆ H) = 1 where x lies in H, so that H = {x} is best and it is t(x)."""

SCHEME = Scheme(
    "one-hot draft",
    draw,
    verify,
    acceptance,
    emit=emit,
    decide=rejection.decide_one_hot,
    reads=Reads(draft=False),
    coins=lambda _: 2,
    drafts=1,
    optimum=OPTIMUM,
    streamed=Chunk.favourite,
    proven=Proven(
        lossless=((2, 1, 0.1), (3, 1, 0.1), (4, 1, 0.1)), formulas=((3, 1, 0.1),), formal="one_hot_is_lossless"
    ),
    pages=("theorems/one_hot",),
)
