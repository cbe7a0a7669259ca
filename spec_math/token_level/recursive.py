"""Recursive rejection sampling: each of k i.i.d. drafts is tested against what the earlier ones left (SpecInfer).

Source: SpecInfer, multi-step speculative sampling.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spec_math.arrays import Array, as_laws
from spec_math.chance import Coin
from spec_math.distribution import as_probability, capped_ratio, residual_of
from spec_math.scheme import Emission, Proven, Reads, Scheme, drafted, draw_independent, token_of
from spec_math.token_level import optimal
from spec_math.token_level.batch import rejection
from spec_math.token_level.excess import Excess
from spec_math.token_level.streamed import Chunk

draw = draw_independent


def tried_in_turn(coin: Coin, target: Array, drafts: Iterable[tuple[int, Array]]) -> Emission:
    """Accept a draft x with chance min(1, r(x)/d(x)), where r starts as the target [V] and becomes (r − d)+ / Σ.

    drafts: pairs of a drafted token x and the law d [V] that it is tested against. The last r is drawn from.

    >>> from spec_math.arrays import exact
    >>> from spec_math.chance import law
    >>> t, d = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
    >>> law(lambda coin: tried_in_turn(coin, t, [(0, d)]))[Emission(1, False)]
    Fraction(1, 2)
    """
    left = target
    for x, law in drafts:
        if coin.flip(capped_ratio(left[x], law[x])):
            return Emission(x, accepted=True)
        left = residual_of(left, law)
    return Emission(coin.draw(left), accepted=False)


def emit(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Test the drafts in turn: accept x with chance min(1, r(x)/d(x)), where r starts as t and becomes (r − d)+ / Σ.

    The law: the emitted token has the target's law. Laws [V]. When every test rejects, the last residual is drawn from;
    where r = d no test rejects. Source: SpecInfer's multi-step rule, SpecTr section 2 repeated.

    Raises:
        ValueError: the draft has no mass on a token, or a law is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0, 0), ["1/4", "3/4"], ["1/2", "1/2"]))[Emission(0, True)]
    Fraction(1, 2)
    """
    t, d = as_laws(target, draft)
    return tried_in_turn(coin, t, ((x, d) for x in drafted(tokens, d)))


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int) -> Any:
    """Return the acceptance, 1 − Π (1 − Σ min(r_i, d)), for laws [..., V]: as a rejected x has r(x) = 0, by a test.

    The product is E(λ_{k+1}), with λ_1 = 0 and λ_{i+1} = λ_i + E(λ_i) for the excess E (`Excess.rejections`).

    Units: a probability.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 2)
    Fraction(7, 8)
    """
    t, d = as_laws(target, draft)
    return as_probability(1 - Excess.of_laws(t, d).rejections((k,))[-1], t, d, k)


SCHEME = Scheme(
    "recursive rejection",
    draw,
    verify,
    acceptance,
    emit=emit,
    decide=rejection.decide_recursive,
    reads=Reads(drafters=True),
    coins=lambda k: k + 1,
    optimum=optimal.INDEPENDENT,
    streamed=Chunk.recursive,
    monotone=True,
    proven=Proven(
        lossless=((2, 2, 0.1), (2, 3, 0.1), (3, 2, 0.3), (3, 3, 0.6), (4, 2, 3.4)),
        formulas=((2, 3, 0.1), (3, 2, 0.4), (3, 3, 1.1)),
        formal="recursive_rejection_is_lossless",
    ),
    pages=("theorems/recursive", "how_to/choose_a_multi_draft_method"),
)
