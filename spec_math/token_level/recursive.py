"""Recursive rejection sampling: each of k i.i.d. drafts is tested against what the earlier ones left (SpecInfer).

Source: SpecInfer, multi-step speculative sampling; the telescoped form is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from spec_math.arrays import as_laws, count
from spec_math.chance import Coin
from spec_math.distribution import as_probability, capped_ratio, excess, residual_of
from spec_math.scheme import Emission, Proven, Reads, Scheme, drafted, draw_independent, token_of
from spec_math.token_level import decide_rejection, optima
from spec_math.token_level.streamed import Chunk

draw = draw_independent


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
    r = t
    for x in drafted(tokens, d):
        if coin.flip(capped_ratio(r[x], d[x])):
            return Emission(x, accepted=True)
        r = residual_of(r, d)
    return Emission(coin.draw(r), accepted=False)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int) -> Any:
    """Return the acceptance, 1 − Π (1 − Σ min(r_i, d)), for laws [..., V]: as a rejected x has r(x) = 0, by a test.

    Every residual is r_i ∝ (t − λ_i d)+, with λ_1 = 0 and λ_{i+1} = λ_i + E(λ_i), E the `excess`; the product
    telescopes to E(λ_{k+1}).

    Raises:
        TypeError, ValueError: k is not a positive integer; as `arrays.as_laws`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 2)
    Fraction(7, 8)
    """
    t, d = as_laws(target, draft)
    return as_probability(acceptance_by(partial(excess, t, d), k, 1 - excess(t, d, 0)), t, d, k)


def acceptance_by(excess_at: Callable[[Any], Any], k: int, start: Any = 0) -> Any:
    """Return the same probability from the excess of a pair alone, as a function of the scale.

    >>> from spec_math.arrays import exact
    >>> acceptance_by(partial(excess, exact(["1/4", "3/4"]), exact(["1/2", "1/2"])), 1)
    Fraction(3, 4)
    """
    return 1 - rejections_by(excess_at, k, start)[-1]


def rejections_by(excess_at: Callable[[Any], Any], k: int, start: Any = 0) -> list[Any]:
    """Return the probabilities that the first 1, 2, …, k tests all reject, E(λ_2), …, E(λ_{k+1}), from the excess.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> from spec_math.arrays import exact
    >>> rejections_by(partial(excess, exact(["1/4", "3/4"]), exact(["1/2", "1/2"])), 2)
    [Fraction(1, 4), Fraction(1, 8)]
    """
    scale, left, rejections = start, excess_at(start), list[Any]()
    for _ in range(count(k)):
        scale = scale + left
        left = excess_at(scale)
        rejections.append(left)
    return rejections


SCHEME = Scheme(
    "recursive rejection",
    draw,
    verify,
    acceptance,
    emit=emit,
    decide=decide_rejection.decide_recursive,
    reads=Reads(drafters=True),
    coins=lambda k: k + 1,
    optimum=optima.INDEPENDENT,
    streamed=Chunk.recursive,
    monotone=True,
    proven=Proven(
        lossless=((2, 2, 0.1), (2, 3, 0.1), (3, 2, 0.3), (3, 3, 0.6), (4, 2, 3.4)),
        formulas=((2, 3, 0.1), (3, 2, 0.4), (3, 3, 1.1)),
    ),
    pages=("theorems/recursive", "how_to/choose_a_multi_draft_method"),
)
