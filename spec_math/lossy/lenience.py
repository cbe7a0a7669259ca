"""Lenience: the draft is tested as if its mass were smaller.

The draft x is accepted with min(1, t(x)/(l·d(x))), 0 < l ≤ 1. After a rejection the token comes from (t − l·d)+ (the
algorithm with l·d in the draft's place), or from (t − d)+, as public code has it. Either way no token is emitted more
than 1/l times as often as the target emits it, and the acceptance Σ min(d, t/l) is the most under that bound. For a
total variation it is the most with (t − d)+ alone.

Source: Leviathan, Kalman and Matias 2023, Appendix A.5; lucidrains/speculative-decoding, whose `lenience` is this l.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, normalised
from spec_math.lossy.frontier import one_position
from spec_math.lossy.one_draft import as_number, drafted_position
from spec_math.lossy.options import Checked, above_zero, one_of, option, options_of
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, token_of

AFTER = ("scaled", "residual")


@dataclass(frozen=True)
class Options(Checked):
    """`lenience` l in (0, 1], 1 being lossless; `after`: "scaled" for (t − l·d)+, "residual" for (t − d)+.

    >>> Options("1/2")
    Options(lenience=Fraction(1, 2), after='scaled')
    """

    lenience: Any = option(Fraction(1, 2), above_zero("; at 0 every draft is accepted whatever its target mass: got 0"))
    after: str = option("scaled", one_of(AFTER))


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Accept the draft x with min(1, t(x)/(l·d(x))), else draw from what is left of the target; laws [V].

    Raises:
        TypeError, ValueError: the lenience lies outside (0, 1]; more than one draft; as `single.emit`.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"], "3/4"))[Emission(0, True)]
    Fraction(2, 3)
    """
    t, d, x = drafted_position(tokens, target, draft)
    chosen = options_of(Options, options)
    accepted = coin.flip(capped_ratio(t[x], as_number(chosen.lenience, t) * d[x]))
    return Emission(x if accepted else coin.draw(_after(t, d, chosen)), accepted)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:  # noqa: ARG001
    """Return the emitted law min(d, t/l) + (1 − Σ min(d, t/l))·after, for laws [V]; k is ignored.

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/4").tolist()
    [Fraction(1, 3), Fraction(2, 3)]
    """
    t, d = one_position(target, draft)
    chosen = options_of(Options, options)
    accepted = np.minimum(d, t / as_number(chosen.lenience, t))
    return accepted + (1 - accepted.sum()) * _after(t, d, chosen)


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability Σ min(d, t/l) that the emitted token is the draft, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/4")
    Fraction(5, 6)
    """
    t, d = one_position(target, draft)
    return np.minimum(d, t / as_number(options_of(Options, options).lenience, t)).sum()


def _after(t: Array, d: Array, chosen: Options) -> Array:
    scale = as_number(chosen.lenience, t) if chosen.after == "scaled" else 1
    return normalised(positive_part(t - scale * d), t)


SWEPT = ("1", "9/10", "3/4", "3/5", "1/2", "2/5", "3/10", "1/5", "1/10", "1/50")
RULE = Rule("lenience", Options, emit, law, acceptance, SWEPT, "lenience")
