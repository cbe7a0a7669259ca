"""Recursive rejection of drafts drawn without replacement (Sequoia; the mode that engines prefer).

Source: Sequoia, Chen et al. 2024.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.arrays import Array, array_namespace, as_laws, count, is_exact, positive_part, zeros_like
from spec_math.arrays import as_law as checked
from spec_math.chance import Coin
from spec_math.distribution import as_probability, residual_of
from spec_math.mean import Mean, of_independent
from spec_math.scheme import Emission, Proven, Scheme, Tokens, drafted, token_of
from spec_math.token_level import optimal
from spec_math.token_level.batch import rejection
from spec_math.token_level.recursive import tried_in_turn


def draw(coin: Coin, draft: Any, k: int) -> Tokens:
    """Draw k distinct tokens one after another from the draft law [V]; the whole support where it has fewer than k.

    Raises:
        TypeError, ValueError: k is not a positive integer, or draft is not a probability distribution.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: draw(coin, ["1/2", "1/2", 0], 3), [0.7, 0.7])
    (1, 0)
    """
    d = checked(draft, "draft")
    tokens: list[int] = []
    for _ in range(min(count(k), int((d > 0).sum()))):
        tokens.append(coin.draw(without(d, tokens)))
    return tuple(tokens)


def emit(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Test the drafts in turn, the draft law losing each rejected token and being divided by what it has left.

    The law: the emitted token has the target's law. With d_i the law of the i-th draft given those before it: accept x
    with chance min(1, r(x)/d_i(x)), else r becomes (r − d_i)+ / Σ. Laws [V].

    Raises:
        ValueError: a token is drafted twice or has no draft mass, or a law is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0, 1), ["1/4", "3/4"], ["1/2", "1/2"]))
    {Emission(token=0, accepted=True): Fraction(1, 2), Emission(token=1, accepted=True): Fraction(1, 2)}
    """
    t, d = as_laws(target, draft)
    distinct = drafted(tokens, d)
    if len(set(distinct)) < len(distinct):
        raise ValueError(f"drafts without replacement are distinct; got {distinct}")
    return tried_in_turn(coin, t, ((x, without(d, distinct[:place])) for place, x in enumerate(distinct)))


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int) -> Any:
    """Return the acceptance, by recursion over the rejected drafts: O(V^(k−1)) terms. A rejected x has r(x) = 0.

    Laws [..., V]. With r the residual and d_i the current draft, a path is rejected on with Π (d_i − r)+(x_i), and the
    last draft's rejection is the excess Σ (r − d_k)+. Beyond 2·10^6 terms use `estimate`. Units: a probability.

    Raises:
        ValueError: the recursion would need more than 2·10^6 terms.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 2)
    Fraction(1, 1)
    """
    return _acceptance(*as_laws(target, draft), count(k))


def _acceptance(t: Array, d: Array, k: int) -> Any:
    if t.ndim > 1:
        rows = [_acceptance(row, other, k) for row, other in zip(t, d, strict=True)]
        return np.array(rows, dtype=t.dtype) if isinstance(t, np.ndarray) else array_namespace(t).stack(rows)
    steps = min(k, int((d > 0).sum()))
    if (steps - 1) * log(len(t)) > log(TERMS):
        raise ValueError(
            f"the acceptance of {steps} drafts without replacement at V = {len(t)} is a sum of {len(t)}^{steps - 1} "
            f"terms, more than {TERMS:.0e}; call without_replacement.estimate, which gives a value with an interval"
        )
    return as_probability(1 - _rejected(t, d, steps), t, d, steps)


TERMS = 2_000_000


def estimate(target: Any, draft: Any, k: int, paths: int, rng: Any) -> Mean:
    """Estimate the acceptance from `paths` ≥ 2 sampled rejections, for float laws [V], with an interval of 99 %.

    Only which draft is rejected is sampled; the chance that the next one is rejected is summed exactly, so that the
    product of those sums is an unbiased estimate of the rejection, a number in [0, 1]. rng is a NumPy Generator.

    Raises:
        TypeError, ValueError: k or paths is not a positive integer, or there is one path alone, which shows no spread;
            as `arrays.as_laws`.

    >>> found = estimate([0.5, 0.25, 0.25], [0.25, 0.5, 0.25], 2, 8, np.random.default_rng(0))
    >>> found.value, found.low < 0.875 < found.high
    (0.875, True)
    """
    t, d = as_laws(target, draft)
    if is_exact(t):
        raise TypeError("an estimate is a float: hand over float distributions, or call acceptance for the exact value")
    steps = min(count(k), int((d > 0).sum()))
    uniforms = rng.random((count(paths, "paths"), steps))
    rejections = _sampled_rejections(np.asarray(t, dtype=np.float64), np.asarray(d, dtype=np.float64), uniforms)
    return of_independent(1 - rejections, 0, 1)


def without(d: Array, tokens: Any) -> Array:
    """Return the draft law [V] without some tokens, divided by the mass left.

    Raises:
        ValueError: none is left.
    """
    if not len(tokens):
        return d
    left = array_namespace(d).asarray(d, copy=True)
    left[list(tokens)] = zeros_like(d[:1])[0]
    total = left.sum()
    if total == 0:
        raise ValueError("the remaining tokens of the draft have mass 0; leave out fewer tokens")
    return left / total


def _rejected(r: Array, d: Array, steps: int) -> Any:
    last = positive_part(r - d).sum()
    if steps == 1 or last == 0:
        return last
    lost = positive_part(d - r)
    after = residual_of(r, d) if is_exact(r) else positive_part(r - d) / last
    total = last - last
    for x, drawn in enumerate((lost > 0).tolist()):
        if drawn:
            total = total + lost[x] * _rejected(after, without(d, [x]), steps - 1)
    return total


def _sampled_rejections(t: Any, d: Any, uniforms: Any) -> Any:
    result = np.ones(len(uniforms))
    for path, row in enumerate(uniforms):
        r, current = t, d
        for step, uniform in enumerate(row):
            gain, lost = positive_part(r - current), positive_part(current - r)
            result[path] *= gain.sum()
            if not gain.any() or not lost.any() or step == len(row) - 1:
                break
            x = array_coin.drawn(lost[None], uniform[None])
            r, current = gain / gain.sum(), without(current, x)
    return result


SCHEME = Scheme(
    "recursive rejection without replacement",
    draw,
    verify,
    acceptance,
    emit=emit,
    decide=rejection.decide_without_replacement,
    coins=lambda k: k + 1,
    distinct=True,
    short_name="recursive, no replacement",
    optimum=optimal.WITHOUT_REPLACEMENT,
    estimate=estimate,
    monotone=True,
    proven=Proven(
        lossless=((2, 2, 0.1), (3, 2, 0.2), (3, 3, 0.2), (4, 2, 4.8)),
        formulas=((2, 2, 0.1), (3, 2, 0.4), (3, 3, 0.4)),
        formal="distinct_drafts_are_lossless",
    ),
    pages=("theorems/without_replacement", "how_to/choose_a_multi_draft_method"),
)
