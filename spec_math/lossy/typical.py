"""Typical acceptance: a draft is kept if the target finds it likely enough, whatever the draft's own mass.

The draft x is accepted if t(x) > min(ε, δ·exp(−H(t))), H the target's entropy in nats. After a rejection the token is
drawn from the target, or is the target's favourite. With A the accepted tokens the law is d on A and, with the rest
1 − d(A), that of the second draw.

Source: Medusa (Cai et al. 2024), Section 2.3.1; the public code adds 10^-5 within the entropy's logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.chance import Coin
from spec_math.distribution import one_hot
from spec_math.lossy.frontier import one_position
from spec_math.lossy.logarithm import sign
from spec_math.lossy.one_draft import among, drafted_position, mixed, ones
from spec_math.lossy.options import Checked, above_zero, one_of, option, options_of
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, token_of

AFTER = ("target", "favourite")

_some = above_zero(", or tokens that the target never emits would do; got 0")


@dataclass(frozen=True)
class Options(Checked):
    """`threshold` ε and `alpha` δ, both in (0, 1]; `after` a rejection: "target", drawn from it, or its "favourite".

    >>> Options("1/10").alpha
    Fraction(3, 10)
    """

    threshold: Any = option(Fraction(9, 100), _some)
    alpha: Any = option(Fraction(3, 10), _some)
    after: str = option("target", one_of(AFTER))


def accepted(target: Array, options: Options) -> list[bool]:
    """Say for each token of a law [V] whether a draft of it is accepted: exactly on Fractions, by comparing powers.

    >>> from spec_math.arrays import exact
    >>> accepted(exact(["1/2", "1/4", "1/4"]), Options("1", "9/10"))
    [True, False, False]
    """
    if not is_exact(target):
        some = target[target > 0]
        least = min(float(options.threshold), float(options.alpha) * float(np.exp((some * np.log(some)).sum())))
        return (target > least).tolist()
    # −H = Σ t ln t, so that t(x) > δ·exp(−H) if and only if ln t(x) − ln δ − Σ t ln t > 0.
    entropy = [(-mass, mass) for mass in target.tolist() if mass] + [(Fraction(-1), options.alpha)]
    threshold, masses = options.threshold, target.tolist()
    known = {mass: mass > 0 and (mass > threshold or sign([(Fraction(1), mass), *entropy]) > 0) for mass in {*masses}}
    return [known[mass] for mass in masses]


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Accept the draft x if t(x) > min(ε, δ·exp(−H(t))), else draw again; laws [V].

    Raises:
        TypeError, ValueError: an option lies outside its range; more than one draft; as `single.emit`.

    >>> from spec_math.chance import law
    >>> options = {"alpha": "1/2", "threshold": "1/2"}
    >>> law(lambda coin: emit(coin, (1,), ["7/8", "1/8"], ["1/2", "1/2"], options).accepted)
    {False: Fraction(1, 1)}
    """
    t, _, x = drafted_position(tokens, target, draft)
    chosen = options_of(Options, options)
    kept = accepted(t, chosen)[x]
    return Emission(x if kept else coin.draw(_after(t, chosen)), kept)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:  # noqa: ARG001
    """Return the emitted law: d on the accepted tokens, and 1 − d(A) of the second draw, for laws [V]; k is ignored.

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["7/8", "1/8"], ["1/2", "1/2"], 1, {"threshold": "1/2", "alpha": "1/2"}).tolist()
    [Fraction(15, 16), Fraction(1, 16)]
    """
    t, d = one_position(target, draft)
    chosen = options_of(Options, options)
    return mixed(d, ones(accepted(t, chosen), t), _after(t, chosen))


def test_acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability d(A) that the test accepts, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> test_acceptance(["7/8", "1/8"], ["1/2", "1/2"], 1, {"threshold": "1/2", "alpha": "1/2"})
    Fraction(1, 2)
    """
    t, d = one_position(target, draft)
    return (d * ones(accepted(t, options_of(Options, options)), t)).sum()


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability that the emitted token is the draft, the second draw included, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["7/8", "1/8"], ["1/2", "1/2"], 1, {"threshold": "1/2", "alpha": "1/2"})
    Fraction(9, 16)
    """
    t, d = one_position(target, draft)
    chosen = options_of(Options, options)
    return among(d, ones(accepted(t, chosen), t), _after(t, chosen))


def _after(t: Array, chosen: Options) -> Array:
    return t if chosen.after == "target" else one_hot(np.argmax(t), t)


SWEPT = ("1", "1/2", "3/10", "1/5", "1/10", "9/100", "1/20", "1/50", "1/100", "1/1000")
RULE = Rule("typical acceptance", Options, emit, law, acceptance, SWEPT, "threshold", test_acceptance)
