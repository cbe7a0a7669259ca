"""Relaxed acceptance among the top: a draft is kept if it is one of the target's N likeliest, and not too unlikely.

The draft x is accepted if it is among the `top` likeliest tokens of the target and t(x) ≥ max t − delta; after a
rejection the target's favourite is emitted. The rule is made for greedy decoding, where `top` = 1 is lossless: there
the wanted law is all on the favourite; as the law of a sampler it is judged against the target itself.

Source: TensorRT-LLM, `relaxed_topk` and `relaxed_delta` of MTP decoding in the thinking phase.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.chance import Coin
from spec_math.distribution import descending_rank, one_hot
from spec_math.lossy.frontier import one_position
from spec_math.lossy.one_draft import as_number, drafted_position, mixed, ones
from spec_math.lossy.options import Checked, option, options_of, share
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, token_of


@dataclass(frozen=True)
class Options(Checked):
    """`delta` in [0, 1], the mass by which a token may fall short of the favourite's; `top`, how many may do.

    >>> Options("1/10", 3)
    Options(delta=Fraction(1, 10), top=3)
    """

    delta: Any = option(Fraction(1, 10), share)
    top: int = option(10, count)


def accepted(target: Array, options: Options) -> list[bool]:
    """Say for each token of a law [V] whether a draft of it is accepted.

    >>> accepted(np.array([0.5, 0.3, 0.2]), Options("1/4", 3))
    [True, True, False]
    """
    enough = target >= target.max() - as_number(options.delta, target)
    return ((descending_rank(target) < options.top) & enough.astype(bool)).tolist()


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:  # noqa: ARG001
    """Accept the draft if it is among the candidates, else emit the target's favourite; laws [V].

    Raises:
        TypeError, ValueError: an option lies outside its range; more than one draft; as `single.emit`.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (1,), ["3/4", "1/4"], ["1/2", "1/2"], "1/4"))
    {Emission(token=0, accepted=False): Fraction(1, 1)}
    """
    t, _, x = drafted_position(tokens, target, draft)
    kept = accepted(t, options_of(Options, options))[x]
    return Emission(x if kept else int(np.argmax(t)), kept)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:  # noqa: ARG001
    """Return the emitted law: d on the candidates, and the rest on the favourite, for laws [V]; k is ignored.

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"], 1, "1/8").tolist()
    [Fraction(3, 4), Fraction(1, 4), Fraction(0, 1)]
    """
    t, d = one_position(target, draft)
    return mixed(d, ones(accepted(t, options_of(Options, options)), t), one_hot(np.argmax(t), t))


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability that the emitted token is the draft, the mass of the candidates, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"], 1, "1/8")
    Fraction(1, 2)
    """
    t, d = one_position(target, draft)
    return (d * ones(accepted(t, options_of(Options, options)), t)).sum()


SWEPT = ("0", "1/20", "1/10", "1/5", "3/10", "2/5", "1/2", "3/5", "4/5", "1")
RULE = Rule("relaxed top", Options, emit, law, acceptance, SWEPT, "delta", greedy=True)
