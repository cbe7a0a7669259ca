"""Ensemble verification: the draft is verified against a mixture of target and draft.

The law: w·t + (1 − w)·d. The draft x is accepted with min(1, 1 − w + w·t(x)/d(x)), and the residual of mixture and
draft is that of target and draft. It spends the total variation (1 − w)·TV(t, d) and accepts with 1 − w·TV(t, d): for
one draft it is at the optimum for its total variation, and not for a divergence or a likelihood ratio.

Source: DIVERSED (2604.07622), static ensemble; transformers 5.23.0, `assistant_ensemble_weight`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec_math.arrays import Array
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, overlap, residual_of
from spec_math.lossy.frontier import one_position
from spec_math.lossy.one_draft import as_number, drafted_position
from spec_math.lossy.options import Checked, option, options_of, share
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, token_of


@dataclass(frozen=True)
class Options(Checked):
    """`weight`, the target's share of the mixture, in [0, 1]; 1 is lossless, 0 accepts every draft.

    >>> Options("3/4")
    Options(weight=Fraction(3, 4))
    """

    weight: Any = option(Fraction(1, 2), share)


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Accept the draft x with min(1, 1 − w + w·t(x)/d(x)), else draw from the residual of target and draft; laws [V].

    Raises:
        TypeError, ValueError: the weight lies outside [0, 1]; more than one draft; as `single.emit`.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"], "1/2"))[Emission(0, True)]
    Fraction(3, 4)
    """
    t, d, x = drafted_position(tokens, target, draft)
    w = as_number(options_of(Options, options).weight, t)
    accepted = coin.flip(capped_ratio(d[x] - w * d[x] + w * t[x], d[x]))
    return Emission(x if accepted else coin.draw(residual_of(t, d)), accepted)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:  # noqa: ARG001
    """Return the emitted law w·t + (1 − w)·d, for laws [V]; k is ignored.

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/2").tolist()
    [Fraction(3, 8), Fraction(5, 8)]
    """
    t, d = one_position(target, draft)
    w = as_number(options_of(Options, options).weight, t)
    return w * t + (1 - w) * d


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability 1 − w·TV(t, d) that the emitted token is the draft, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/2")
    Fraction(7, 8)
    """
    t, d = one_position(target, draft)
    w = as_number(options_of(Options, options).weight, t)
    return 1 - w * (1 - overlap(t, d))


SWEPT = ("1", "7/8", "3/4", "5/8", "1/2", "3/8", "1/4", "1/8", "0")
RULE = Rule("ensemble", Options, emit, law, acceptance, SWEPT, "weight of the target")
