"""Drafts without replacement as a race of clocks: token x rings at an Exp(d_x) time, and the first k to ring are S.

For H a prefix, c = 1 − d(H), and N_H(s) the number of tokens of H that have rung by time s,

    P(S ⊄ H) = ∫ c e^{−cs} P(N_H(s) < k) ds :   the first token outside H rings before the k-th of H.

The integral is taken by Gauss-Legendre quadrature, all prefixes in one pass, octave by octave of time.
"""

from __future__ import annotations

from spec_math.arrays import Array
from spec_math.token_level import clock_octaves

MOST = 64
"""The most drafts that the quadrature takes: its error bound grows as κ^k, to 1.1·10^-10 at 64."""


def rounding(size: int) -> float:
    """Return what an optimum without replacement of V float masses may be off by, for at most MOST drafts.

    It is 1 − g + T of one prefix, T within (V + 8)·2^-53, with `last` below 2^11, as it is for all masses of float64.

    >>> rounding(1000) < 1.2e-9
    True
    """
    return (20 + 2 * 2**11) * (size + 8) * 2.0**-53 + 1.2e-10


def outside(draft: Array, above: Array, k: int) -> Array:
    """Return P(S ⊄ prefix i) for i = 0..n, 2 ≤ k < n: draft [n] in the order of the prefixes, above [n + 1] its tails.

    Float64, within (20 + 2·last)·(n + 1)·2^-53 + 2^-51 for k ≤ 21 (see `clock_octaves`). O(n k) times the nodes.

    Raises:
        ValueError: k exceeds 64.

    >>> thirds = np.full(3, 1 / 3)
    >>> outside(thirds, np.array([1, 2 / 3, 1 / 3, 0]), 2).round(12).tolist()
    [1.0, 1.0, 0.666666666667, 0.0]
    """
    return outsides(draft, above, (k,))[0]


def outsides(draft: Array, above: Array, ks: tuple[int, ...]) -> Array:
    """Return `outside` for several k in one pass, [number of ks, n + 1]: the rings counted for the largest serve all.

    The grid is that of the largest k; what is cut off and missed is less for smaller ones.

    Raises:
        ValueError: a k exceeds 64.

    >>> thirds = np.full(3, 1 / 3)
    >>> outsides(thirds, np.array([1, 2 / 3, 1 / 3, 0]), (2,)).round(12).tolist()
    [[1.0, 1.0, 0.666666666667, 0.0]]
    """
    wanted = sorted(set(ks))
    _bounded(draft, wanted[-1])
    return clock_octaves.outsides(draft, above, wanted)[[wanted.index(k) for k in ks]]


def gains(draft: Array, above: Array, k: int) -> Array:
    """Return g_{i+1} − g_i, g_i = P(S ⊆ prefix i), for i = 0..n − 1, as integrals of terms ≥ 0.

    With B the first i tokens and y the next, the k-th of B + y to ring before all others is y itself, or a token of B
    after y has rung: d ∫ e^{−cs} P(N_B = k−1) ds + ∫ e^{−(c−d)s} (1 − e^{−ds}) ρ(s) ds, where ρ is the density of the
    (k−1)-th ring of B. Arrays and cost as `outside`. As s·ρ(s) ≤ k − 1, rounding is k times as large at most, and so is
    the quadrature error of each interval.

    Raises:
        ValueError: k exceeds 64.

    >>> gains(np.full(3, 1 / 3), np.array([1, 2 / 3, 1 / 3, 0]), 2).round(12).tolist()
    [0.0, 0.333333333333, 0.666666666667]
    """
    return clock_octaves.gains(draft, above, _bounded(draft, k))


def _bounded(draft: Array, k: int) -> int:
    if k > MOST:
        raise ValueError(
            f"the clocks of drafts without replacement are computed in floats for k <= {MOST}, where their error bound "
            f"reaches 1.1e-10; got k = {k} of {len(draft)} tokens: use Fractions, or fewer drafts"
        )
    return k
