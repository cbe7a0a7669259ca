"""Fuzzy speculative decoding: every draft is kept where the two laws are close, and none where they are not.

Where the divergence of draft and target is at most the threshold the draft is emitted, so that the law is d; elsewhere
the token is drawn from the target. The divergence is the total variation, KL(d‖t) or KL(t‖d).

Source: Holsman, Huang and Dhingra 2025 (2502.20704), and their public code; its default is KL(d‖t).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec_math.arrays import Array, is_exact
from spec_math.chance import Coin
from spec_math.distribution import overlap
from spec_math.lossy.distances import divergence
from spec_math.lossy.frontier import one_position
from spec_math.lossy.logarithm import sign
from spec_math.lossy.one_draft import drafted_position
from spec_math.lossy.options import Checked, at_least, one_of, option, options_of
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, token_of

MEASURES = ("total variation", "KL(d‖t)", "KL(t‖d)")


@dataclass(frozen=True)
class Options(Checked):
    """`threshold`, from 0 on, in nats for a divergence; `measure`, one of `MEASURES`.

    >>> Options("1/2")
    Options(threshold=Fraction(1, 2), measure='total variation')
    """

    threshold: Any = option(Fraction(1, 5), at_least(0))
    measure: str = option(MEASURES[0], one_of(MEASURES))


def close(target: Array, draft: Array, options: Options) -> bool:
    """Say whether two laws [V] are within the threshold: exactly on Fractions.

    >>> from spec_math.arrays import exact
    >>> close(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]), Options("1/4"))
    True
    """
    if options.measure == MEASURES[0]:
        return bool(1 - overlap(target, draft) <= options.threshold)
    first, second = (draft, target) if options.measure == MEASURES[1] else (target, draft)
    if bool((second[first > 0] == 0).any()):
        return False
    if not is_exact(target):
        return float(divergence(first, second)) <= float(options.threshold)
    terms = [(p, p / q) for p, q in zip(first.tolist(), second.tolist(), strict=True) if p]
    return sign(terms, -options.threshold) <= 0


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Emit the draft where the laws [V] are within the threshold, else draw from the target.

    Raises:
        TypeError, ValueError: the threshold is negative; more than one draft; as `single.emit`.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"], "1/4"))
    {Emission(token=0, accepted=True): Fraction(1, 1)}
    """
    t, d, x = drafted_position(tokens, target, draft)
    kept = close(t, d, options_of(Options, options))
    return Emission(x if kept else coin.draw(t), kept)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:  # noqa: ARG001
    """Return the emitted law [V]: the draft's where the two are close, the target's elsewhere; k is ignored.

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/8").tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    t, d = one_position(target, draft)
    return d if close(t, d, options_of(Options, options)) else t


def test_acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability, 1 or 0, that the test accepts, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> test_acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/8")
    Fraction(0, 1)
    """
    t, d = one_position(target, draft)
    return d[0] * 0 + (1 if close(t, d, options_of(Options, options)) else 0)


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability that the emitted token is the draft, 1 or Σ t·d, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/8")
    Fraction(1, 2)
    """
    t, d = one_position(target, draft)
    return d.sum() if close(t, d, options_of(Options, options)) else (t * d).sum()


SWEPT = ("0", "1/20", "1/10", "1/5", "3/10", "2/5", "1/2", "3/5", "4/5", "1")
RULE = Rule("fuzzy", Options, emit, law, acceptance, SWEPT, "threshold of total variation", test_acceptance)
