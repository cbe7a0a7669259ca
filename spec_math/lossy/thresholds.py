"""Two thresholds: drafts that a drafter chooses, tested by the target's mass alone, and accepted too often.

One uniform u is drawn for the k siblings x_1, …, x_k. Sibling i is accepted if t(x_i) ≥ `single`, or if
u·`accumulated` < t(x_1) + … + t(x_i); after all are rejected the token is drawn from the target without them. At 1 and
1 this is lossless for drafts that are chosen without looking at the coin. Here the drafter proposes its k likeliest
tokens.

With a_i = min(1, T_i/`accumulated`), T_i = t(x_1) + … + t(x_i), the law is a_i − a_{i−1} at x_i, 1 − a_{i−1} at a
sibling that is accepted whatever the coin, and (1 − a_k)·t(y)/(1 − T_k) at the tokens y that were not drafted.

Source: SGLang 0.5.23, `speculative_accept_threshold_single` and `speculative_accept_threshold_acc`, as its kernel for
trees has them (jit/include/sgl_kernel/speculative/sampling.cuh); its kernel for chains takes both and looks at neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_law, count
from spec_math.chance import Coin
from spec_math.distribution import descending_rank, normalised
from spec_math.lossy.frontier import one_position
from spec_math.lossy.one_draft import as_number, ones
from spec_math.lossy.options import Checked, above_zero, option, options_of
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, Tokens, drafted, token_of

_some = above_zero(": at 0 every first draft is accepted, or divided by 0; got 0")


@dataclass(frozen=True)
class Options(Checked):
    """`accumulated` and `single`, both in (0, 1]; 1 and 1 are lossless.

    >>> Options("1/2")
    Options(accumulated=Fraction(1, 2), single=Fraction(1, 1))
    """

    accumulated: Any = option(Fraction(1, 2), _some)
    single: Any = option(Fraction(1), _some)


def draw(coin: Coin, draft: Any, k: int = 1) -> Tokens:  # noqa: ARG001
    """Propose the k likeliest tokens of the draft law [V], likeliest first, or all that have mass.

    Raises:
        TypeError, ValueError: k is not a positive integer; draft is not a probability distribution.

    >>> draw(None, ["1/4", "1/2", "1/4"], 2)
    (1, 0)
    """
    return _likeliest(as_law(draft, "draft"), k)


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Test distinct drafts against one uniform and the two thresholds; laws [V].

    The uniform is spent as flips: given that the first i − 1 were rejected, the i-th is accepted with
    (a_i − a_{i−1})/(1 − a_{i−1}).

    Raises:
        TypeError, ValueError: a threshold lies outside (0, 1]; a token is drafted twice; as `single.emit`.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"], "1/2"))[Emission(0, True)]
    Fraction(1, 2)
    """
    t, d = one_position(target, draft)
    listed = drafted(tokens, d)
    if len(set(listed)) < len(listed):
        raise ValueError(f"siblings of a tree are distinct tokens; got {listed}")
    chosen = options_of(Options, options)
    scale, sure = as_number(chosen.accumulated, t), as_number(chosen.single, t)
    total, before, one = t[0] * 0, t[0] * 0, t[0] * 0 + 1
    for token in listed:
        total = total + t[token]
        reached = total / scale if total < scale else one
        if t[token] >= sure or (before < 1 and coin.flip((reached - before) / (1 - before))):
            return Emission(token, accepted=True)
        before = reached
    left = t * (1 - ones(np.isin(np.arange(len(t)), listed), t))
    return Emission(coin.draw(normalised(left, t)), accepted=False)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:
    """Return the emitted law for the k likeliest tokens of the draft, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/4", "3/4"], ["3/5", "2/5"], 1, "1/2").tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    t, d = one_position(target, draft)
    listed, ends = _reached(t, d, k, options_of(Options, options))
    found = t * (1 - ones(np.isin(np.arange(len(t)), listed), t))
    found = normalised(found, found) * (1 - ends[-1]) if found.sum() > 0 else found
    found[listed] = np.diff(ends)
    return found


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:
    """Return the probability that the emitted token is one of the k likeliest tokens of the draft, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/4", "3/4"], ["3/5", "2/5"], 1, "1/2")
    Fraction(1, 2)
    """
    t, d = one_position(target, draft)
    return _reached(t, d, k, options_of(Options, options))[1][-1]


def _likeliest(d: Array, k: int) -> Tokens:
    return tuple(np.argsort(descending_rank(d))[: min(count(k), int((d > 0).sum()))].tolist())


def _reached(t: Array, d: Array, k: int, chosen: Options) -> tuple[list[int], Array]:
    """Return the drafts, and the probability [k + 1] that one of the first i is accepted."""
    listed = list(_likeliest(d, k))
    totals = np.cumsum(t[listed])
    ends = np.minimum(totals / as_number(chosen.accumulated, t), totals * 0 + 1)
    surely = np.maximum.accumulate(t[listed] >= as_number(chosen.single, t))
    ends = np.where(surely.astype(bool), ends * 0 + 1, ends)
    return listed, np.concatenate([t[:1] * 0, ends])


SWEPT = ("1", "9/10", "4/5", "7/10", "3/5", "1/2", "2/5", "3/10", "1/5", "1/10")
RULE = Rule("two thresholds", Options, emit, law, acceptance, SWEPT, "accumulated threshold", draw=draw, several=True)
