"""Draw from the target and keep the draft if it is the same token: exact match, the rule of SLEM and many engines.

Source: Timor et al., Alg. 2, at one position.
"""

from __future__ import annotations

from typing import Any

from spec_math.arrays import array_namespace, as_laws
from spec_math.arrays import as_law as checked
from spec_math.chance import Coin
from spec_math.distribution import as_probability
from spec_math.scheme import Emission, Proven, Reads, Scheme, the_token, token_of
from spec_math.token_level import optimal
from spec_math.token_level.batch import rejection
from spec_math.token_level.single import draw as draw
from spec_math.token_level.streamed import Chunk


def emit(coin: Coin, token: Any, target: Any, draft: Any = None) -> Emission:  # noqa: ARG001
    """Emit a draw from the target; the draft is accepted when it equals the draw.

    The law: the target's, whatever the draft is, as the draft never enters. Target [V].

    Raises:
        ValueError: the target is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, 0, ["1/4", "3/4"]))[Emission(0, True)]
    Fraction(1, 4)
    """
    y = coin.draw(checked(target, "target"))
    return Emission(y, accepted=y == the_token(token))


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int = 1) -> Any:  # noqa: ARG001
    """Return Σ t·d, the acceptance of laws [..., V]: draw and draft are one token.

    Units: a probability.

    >>> acceptance(["1/4", "3/4"], ["1/3", "2/3"])
    Fraction(7, 12)
    """
    t, d = as_laws(target, draft)
    return as_probability(array_namespace(t).sum(t * d, axis=-1), t, d)


SCHEME = Scheme(
    "sample and match",
    draw,
    verify,
    acceptance,
    emit=emit,
    decide=rejection.decide_match,
    reads=Reads(draft=False),
    coins=lambda _: 1,
    drafts=1,
    optimum=optimal.ONE,
    streamed=Chunk.match,
    proven=Proven(
        lossless=((2, 1, 0.1), (3, 1, 0.1), (4, 1, 0.1)), formulas=((3, 1, 0.1),), formal="sample_and_match_is_lossless"
    ),
    pages=("theorems/sample_and_match",),
)
