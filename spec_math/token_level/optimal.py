"""The optimum of one position: how often can any verifier emit a token that is among the k drafts?

The optimal transport of SpecTr, Eq. 4: maximise P(Y ∈ S) over couplings of the drafts, whose set is S, with Y ~ target.
By max-flow = min-cut it is 1 − max_H [P(S ⊆ H) − t(H)] over all subsets H of tokens, and for i.i.d. drafts, and for
drafts without replacement, a best H is a prefix of the tokens with d > 0 sorted by t/d ascending.

Here are the values and their certificates; `plan` and `verify` reach them, `acceptance_of` is the optimum of any law of
drafts.

Source: SpecTr, Eq. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, as_laws, count, is_exact, number_type
from spec_math.common_denominator import Counts
from spec_math.distribution import overlap
from spec_math.scheme import Optimum
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.prefix_law import mixed_powers, outsides_without_replacement
from spec_math.token_level.optimum.ratio_order import best_prefixes, by_exact_ratio, ratio_order
from spec_math.token_level.plan import Plan as Plan
from spec_math.token_level.plan import emit as emit
from spec_math.token_level.plan import plan as plan
from spec_math.token_level.plan import plan_without_replacement as plan_without_replacement
from spec_math.token_level.plan import verify as verify
from spec_math.token_level.streamed import Chunk
from spec_math.token_level.transport import acceptance_of as acceptance_of

UNIT = 2.0**-53


class _Best(NamedTuple):
    """The optimum of one row, and the tokens of the smallest prefix that proves it."""

    value: Any
    subset: np.ndarray[Any, Any]


def acceptance(target: Any, draft: Any, k: int) -> Any:
    """Return α*, the largest P(Y ∈ S) that any verifier of k i.i.d. drafts can reach: O(V log V).

    The problem: max over couplings of the drafts with Y ~ target of P(Y ∈ S), which is min_i [1 − P_i^k + T_i] over the
    prefixes of the ratio order, P_i and T_i their draft and target mass (SpecTr, Eq. 4; min-cut).
    Laws [..., V] of one number type, or two `Counts`; a probability [...]. Exact on Fractions and Counts. On float64
    within a relative (8k + 30)·2^-53, or 60·2^-53 for k > 32, of the value for the two laws in proportion to their own
    sums. Torch laws are moved to NumPy float64; the result is a float64 tensor on their device, without a gradient.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> acceptance(["2/5", "3/5"], ["3/4", "1/4"], 2)
    Fraction(67, 80)
    """
    return acceptances(target, draft, (k,))[0]


def acceptances(target: Any, draft: Any, ks: Iterable[int]) -> tuple[Any, ...]:
    """Return α* for several numbers of drafts at the price of one sort: a tuple with the value of each k.

    Laws, errors and accuracy as `acceptance`.

    >>> acceptances(["2/5", "3/5"], ["3/4", "1/4"], (1, 2, 3))
    (Fraction(13, 20), Fraction(67, 80), Fraction(313, 320))
    """
    listed = [count(k) for k in ks]
    return _values(target, draft, lambda t, d: _independent(t, d, listed), len(listed))


def acceptance_without_replacement(target: Any, draft: Any, k: int) -> Any:
    """Return the largest P(Y ∈ S) that any verifier of k drafts without replacement can reach.

    Where k exceeds the draft's support, S is the whole support. Laws [..., V] of one number type, or two `Counts`; a
    probability [...], never below `acceptance`. Exact on Fractions, by recursion over drawn sets. On float64 to the
    accuracy of `prefix_law.without_replacement`; O(V log V) for k = 2. Torch as `acceptance`.

    >>> acceptance_without_replacement(["2/5", "3/5"], ["3/4", "1/4"], 2)
    Fraction(1, 1)
    """
    return acceptances_without_replacement(target, draft, (k,))[0]


def acceptances_without_replacement(target: Any, draft: Any, ks: Iterable[int]) -> tuple[Any, ...]:
    """Return the optimum without replacement for several numbers of drafts at the price of one sort and one quadrature.

    Laws, errors and accuracy as `acceptance_without_replacement`.

    >>> acceptances_without_replacement(["2/5", "3/5"], ["3/4", "1/4"], (1, 2))
    (Fraction(13, 20), Fraction(1, 1))
    """
    listed = tuple(count(k) for k in ks)
    return _values(target, draft, lambda t, d: _without_replacement(t, d, listed), len(listed))


def bounding_subset(target: Any, draft: Any, k: int) -> Array:
    """Return the tokens H that prove the optimum of k i.i.d. drafts, as a mask [..., V]: the dual certificate.

    No coupling accepts more than 1 − P(S ⊆ H) + t(H) for any H; for this one, d(H)^k being P(S ⊆ H), the bound is
    `acceptance`. Of several such prefixes it is the smallest.

    Raises:
        TypeError, ValueError: as `acceptance`.

    >>> t, d = np.array([Fraction(2, 5), Fraction(3, 5)]), np.array([Fraction(3, 4), Fraction(1, 4)])
    >>> H = bounding_subset(t, d, 2)
    >>> H.tolist(), 1 - d[H].sum() ** 2 + t[H].sum()
    ([True, False], Fraction(67, 80))
    """
    listed = [count(k)]
    if isinstance(target, Counts) or isinstance(draft, Counts):
        counts = _counts(target, draft)
        mask = np.zeros(len(counts[0]), dtype=bool)
        mask[_independent(*counts, listed)[0].subset] = True
        return mask
    t, d, like = _numpy(*as_laws(target, draft))
    masks = np.zeros(t.shape, dtype=bool)
    for row, x, y in zip(_rows(masks), _rows(t), _rows(d), strict=True):
        row[_independent(x, y, listed)[0].subset] = True
    return masks if like is None else like.new_tensor(masks) != 0


def _independent(target: Any, draft: Any, ks: list[int]) -> list[_Best]:
    if isinstance(target, Counts):
        return _by_counts(target, draft, ks)
    if is_exact(target):
        return _by_counts(Counts.of(target), Counts.of(draft), ks)
    order = ratio_order(target, draft)
    ascending = np.array(sorted(set(ks)), dtype=np.int64)
    values, places = best_prefixes(order, ascending)
    where = np.searchsorted(ascending, ks)
    return [_Best(values[i], order.tokens[: places[i]]) for i in where]


def _by_counts(target: Counts, draft: Counts, ks: list[int]) -> list[_Best]:
    """Find the best prefix exactly: floats exclude all but the prefixes that their rounding cannot tell apart.

    The cut is written as 1 − (P^k − T), precise where it is near 1, and as (1 − P)·Σ_j P^j + T, precise where it is
    near 0. P, 1 − P and T are whole numbers divided with one rounding each; a power is taken to within k + 8 units, the
    second form to within a relative 10k.
    """
    tokens = by_exact_ratio(target.numerators, draft.numerators)
    tops, bottoms = _sums(target.numerators[tokens]), _sums(draft.numerators[tokens])
    t, below = _quotients(tops, target.denominator), _quotients(bottoms, draft.denominator)
    above = _quotients(draft.denominator - bottoms, draft.denominator)
    found: list[_Best] = []
    for k in ks:
        inside, cut = below**k, above * mixed_powers(below, 1.0, k) + t
        gain, error = inside - t, UNIT * ((k + 10) * inside + 4 * t) + 2.0**-1000
        scale = 1 + (20 * k + 10) * UNIT
        near = np.flatnonzero((gain + error >= (gain - error).max()) & (cut <= cut.min() * scale + 2.0**-1000))
        power = draft.denominator**k
        gains = [bottoms[i] ** k * target.denominator - tops[i] * power for i in near]
        most = max(gains)
        value = 1 - Fraction(most, target.denominator * power)
        found.append(_Best(value, tokens[: near[gains.index(most)]]))
    return found


def _sums(counts: Array) -> Array:
    return np.concatenate([np.array([0], dtype=object), np.cumsum(counts)])


def _quotients(counts: Array, denominator: int) -> Array:
    return (counts / denominator).astype(np.float64)


def _without_replacement(target: Any, draft: Any, ks: tuple[int, ...]) -> list[_Best]:
    if isinstance(target, Counts):
        target, draft = target.law(), draft.law()
    order = ratio_order(target, draft)
    found: list[_Best] = []
    for outside in outsides_without_replacement(order, ks):
        cuts = outside + order.target_below
        least = int(np.argmin(cuts))
        found.append(_Best(cuts[least], order.tokens[:least]))
    return found


def _values(target: Any, draft: Any, best: Callable[[Any, Any], list[_Best]], size: int) -> tuple[Any, ...]:
    if isinstance(target, Counts) or isinstance(draft, Counts):
        return tuple(found.value for found in best(*_counts(target, draft)))
    t, d, like = _numpy(*as_laws(target, draft))
    if t.ndim == 1 and like is None:
        return tuple(found.value for found in best(t, d))
    shape = t.shape[:-1]
    rows = np.empty((size, int(np.prod(shape))), dtype=t.dtype)
    for row, (x, y) in enumerate(zip(_rows(t), _rows(d), strict=True)):
        rows[:, row] = [found.value for found in best(x, y)]
    results = [row.reshape(shape) for row in rows]
    return tuple(results if like is None else (like.new_tensor(result) for result in results))


def _rows(values: Array) -> Array:
    return values.reshape(-1, values.shape[-1])


def _numpy(target: Array, draft: Array) -> tuple[Array, Array, Any]:
    """Move torch laws to NumPy float64, with a float64 tensor of theirs to make results from."""
    if number_type(target) != "torch":
        return target, draft, None
    wide = target.detach().double(), draft.detach().double()
    return wide[0].cpu().numpy(), wide[1].cpu().numpy(), wide[0]


def _counts(target: Any, draft: Any) -> tuple[Counts, Counts]:
    if not isinstance(target, Counts) or not isinstance(draft, Counts):
        raise TypeError("target and draft must both be Counts, or both distributions; convert one with Counts.of")
    if len(target) != len(draft):
        raise ValueError(
            f"target and draft must have one vocabulary; target has {len(target)} tokens, draft has {len(draft)}"
        )
    return target, draft


ONE = Optimum("one draft", lambda target, draft, _: overlap(target, draft), None, Chunk.overlap)
INDEPENDENT = Optimum("i.i.d. drafts", acceptance, acceptances, Chunk.optimum)
WITHOUT_REPLACEMENT = Optimum(
    "without replacement", acceptance_without_replacement, acceptances_without_replacement, most=prefix_law.MOST
)
