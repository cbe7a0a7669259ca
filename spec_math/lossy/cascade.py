"""Speculative cascades: lossless verification, for another target that says when to defer to the large model.

The target π is d where the rule keeps the small model and t where it defers:

    chow        defer where max d < 1 − α
    difference  defer where max d < max t − α
    optimal     defer where max d < max t − α·TV(t, d)
    token       keep the tokens with t(x) ≥ (1 − α)·max t: π(x) = d(x)·[kept] + t(x)·d(the tokens not kept)

What is emitted is π exactly; how far π is from t is the price, and acceptance is Σ min(π, d).

Source: Narasimhan et al. 2024 (2405.19261), the rules Chow, Diff, OPT and TokenV3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.chance import Coin
from spec_math.distribution import overlap
from spec_math.lossy.frontier import one_position
from spec_math.lossy.one_draft import as_number, drafted_position, ones
from spec_math.lossy.options import Checked, one_of, option, options_of, share
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, token_of
from spec_math.token_level import single

RULES = ("chow", "difference", "optimal", "token")


@dataclass(frozen=True)
class Options(Checked):
    """`alpha` in [0, 1], the readiness to keep the small model; `rule`, one of `RULES`.

    >>> Options("1/4")
    Options(alpha=Fraction(1, 4), rule='optimal')
    """

    alpha: Any = option(Fraction(1, 2), share)
    rule: str = option("optimal", one_of(RULES))


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:  # noqa: ARG001
    """Return the law π that is emitted, for laws [V]: what the cascade is lossless for; k is ignored.

    Raises:
        TypeError, ValueError: alpha lies outside [0, 1]; as `frontier.one_position`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, {"alpha": "1/2", "rule": "token"}).tolist()
    [Fraction(1, 8), Fraction(7, 8)]
    """
    t, d = one_position(target, draft)
    chosen = options_of(Options, options)
    alpha = as_number(chosen.alpha, t)
    if chosen.rule == "token":
        kept = ones(t >= (1 - alpha) * t.max(), t)
        return d * kept + t * (d * (1 - kept)).sum()
    least = {"chow": 1 - alpha, "difference": t.max() - alpha, "optimal": t.max() - alpha * (1 - overlap(t, d))}
    return t if d.max() < least[chosen.rule] else d


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Verify the draft by maximal coupling with the cascade's own target π; laws [V].

    Raises:
        TypeError, ValueError: as `law`; more than one draft.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"], 1))
    {Emission(token=0, accepted=True): Fraction(1, 1)}
    """
    t, d, x = drafted_position(tokens, target, draft)
    return single.emit(coin, x, law(t, d, 1, options), d)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability Σ min(π, d) that the emitted token is the draft, for laws [V].

    Raises:
        TypeError, ValueError: as `law`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, {"alpha": "1/2", "rule": "token"})
    Fraction(5, 8)
    """
    t, d = one_position(target, draft)
    return np.minimum(law(t, d, 1, options), d).sum()


SWEPT = ("0", "1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8", "1")
RULE = Rule("speculative cascade", Options, emit, law, acceptance, SWEPT, "alpha")
