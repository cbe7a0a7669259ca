"""Compiled pass over one row of logits: sums under the target's and the draft's law, and bets.

A bet is f(token) − E f for a feature f in [0, 1] of (token, target, draft). E f is a sum over V, f one look-up.

Arithmetic is float32 as the files are, sums are float64. With u = 2^-24: logits lose u·|a − max| where the largest is
taken off, on average over the law at most u·ln V; an exponential loses 4 u, a product and a quotient 3 u. The sum that
divides has the same errors. So E f is off by at most (2 ln V + 12) u: `rounding`.
"""

# ruff: noqa: PLR0913 - numba kernels take their arrays one by one
from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from spec_math.kernels import inner_kernel, kernel

EMITTED = (
    "target above draft",
    "draft over target",
    "target over draft",
    "the favourite",
    "near the favourite",
    "own mass",
    "the favourite, bonus rows",
    "own mass, bonus rows",
)
"""Features of the emitted token y: t > d, min(d/t, 1), min(t/d, 1), t(y) = max t, t(y) ≥ max t / 8, t(y) / max t."""

DRAFTED = ("target above draft", "target over draft", "the favourite", "own mass")
"""Features of the drafted token x: t > d, min(t/d, 1), d(x) = max d, d(x) / max d."""

FACTS = ("overlap", "product", "entropy")
"""Of each row: Σ min(t, d), Σ t·d, and the target's entropy in nats."""

FINE, BAD_TARGET, BAD_DRAFT, IMPOSSIBLE, IMPOSSIBLE_DRAFT = 0, 1, 2, 4, 8
"""Bits of a row's flag: NaN or no mass in a law; a token emitted or drafted whose mass is 0, or that is no token."""

_ONE, _ZERO, _LEAST, _NEAR = np.float32(1), np.float32(0), np.float32(-87), np.float32(0.125)
_TINY = np.float32(1e-37)
_LOG2E, _MAGIC = np.float32(1.44269504), np.float32(12582912.0)
_HIGH, _LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_C0, _C1, _C2, _C3, _C4, _C5 = (
    np.float32(c)
    for c in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
)
_NOTHING = np.float32(-np.inf)
_LANES = 512


def rounding(size: int) -> float:
    """Return how far the arithmetic may put E f from its value, for a vocabulary of `size`.

    >>> rounding(152_000) < 2.2e-6
    True
    """
    return (2 * log(max(size, 1)) + 12) * 2.0**-24


@kernel(nogil=True)
def measure(
    targets: Any, drafts: Any, tokens: Any, scratch: Any, bets: Any, draft_bets: Any, facts: Any, flags: Any
) -> None:
    """Fill bets [n, 8], draft_bets [n, 4], facts [n, 3] and flags [n] from logits [n, V] in float32.

    tokens [n, 2]: emitted and drafted (−1: none). drafts [0, V] means one-hot drafts. scratch: float32 [2, V].

    >>> bets, draft_bets, facts, flags = (np.zeros((1, k), np.float32) for k in (8, 4, 3, 1))
    >>> laws = np.log(np.array([[[0.25, 0.75]], [[0.5, 0.5]]], np.float32))
    >>> tokens, flags = np.array([[1, 0]]), np.zeros(1, np.uint8)
    >>> measure(laws[0], laws[1], tokens, np.empty((2, 2), np.float32), bets, draft_bets, facts, flags)
    >>> [round(bet, 4) for bet in bets[0, :2].tolist()], round(facts[0, 0].item(), 4)
    ([0.25, -0.0833], 0.75)
    """
    size = targets.shape[1]
    t, d = scratch[0], scratch[1]
    for row in range(targets.shape[0]):
        y, x = tokens[row, 0], tokens[row, 1]
        flags[row] = FINE
        bets[row], draft_bets[row], facts[row] = _ZERO, _ZERO, _ZERO
        top = _largest(targets[row])
        total, moment = _exponentials(targets[row], top, t)
        if not (total > 0.0 and np.isfinite(total) and np.isfinite(top)):
            flags[row] = BAD_TARGET
            continue
        over = np.float32(1.0 / total)
        facts[row, 2] = np.float32(np.log(total) - moment / total)
        known = 0 <= y < size and targets[row, y] != _NOTHING
        if not known:
            flags[row] |= IMPOSSIBLE
        e = t[y] if known else _ZERO
        squares, near, ties = _of_target(t, over)
        if known:
            bets[row, 3] = (_ONE if e == _ONE else _ZERO) - ties * over
            bets[row, 4] = (_ONE if e >= _NEAR else _ZERO) - near
            bets[row, 5] = e - squares / over
        if x < 0:
            bets[row, 6], bets[row, 7] = bets[row, 3], bets[row, 5]
            continue
        if drafts.shape[0] == 0:
            if x >= size:
                flags[row] |= IMPOSSIBLE_DRAFT
                continue
            mass = t[x] * over
            facts[row, 0] = facts[row, 1] = mass
            hit = _ONE if y == x else _ZERO
            bets[row, 1] = hit - mass
            bets[row, 0] = -bets[row, 1]
            continue
        top_d = _largest(drafts[row])
        total_d, _ = _exponentials(drafts[row], top_d, d)
        if not (total_d > 0.0 and np.isfinite(total_d) and np.isfinite(top_d)):
            flags[row] |= BAD_DRAFT
            continue
        over_d = np.float32(1.0 / total_d)
        overlap, above, product, clipped, squares_d, ties_d = _of_both(t, d, over, over_d)
        facts[row, 0], facts[row, 1] = overlap, product
        if known:
            mine, other = t[y] * over, d[y] * over_d
            bets[row, 0] = (_ONE if mine > other else _ZERO) - above
            bets[row, 1] = min(mine, other) / max(mine, _TINY) - overlap
            bets[row, 2] = mine / (max(mine, other) + _TINY) - clipped
        # Only now: what is bet on the emitted token must not depend on which token was drafted.
        if x >= size or drafts[row, x] == _NOTHING:
            flags[row] |= IMPOSSIBLE_DRAFT
            continue
        mine, other = t[x] * over, d[x] * over_d
        # Σ over t > d of d is what the overlap leaves after the rest of the target.
        draft_bets[row, 0] = (_ONE if mine > other else _ZERO) - (overlap - (1.0 - above))
        draft_bets[row, 1] = min(mine, other) / max(other, _TINY) - overlap
        draft_bets[row, 2] = (_ONE if d[x] == _ONE else _ZERO) - ties_d * over_d
        draft_bets[row, 3] = d[x] - squares_d / over_d


def _to_bits(_context: Any, x: Any) -> Any:
    def bits(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.int32))

    return types.int32(x), bits


def _to_float(_context: Any, x: Any) -> Any:
    def floats(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float32))

    return types.float32(x), floats


_bits: Any = intrinsic(_to_bits)
_from_bits: Any = intrinsic(_to_float)


@inner_kernel
def _exp(x: Any) -> Any:
    """Return exp(x) for x ≤ 0: 2^n times a polynomial on |r| ≤ ln 2 / 2 (Cephes' expf); NaN stays NaN.

    Below −87 it is exp(−87): no mass that a sum would see.
    """
    x = _LEAST if x < _LEAST else x
    shifted = x * _LOG2E + _MAGIC  # the last bits are now n, the nearest whole number
    n = shifted - _MAGIC
    r = (x - n * _HIGH) - n * _LOW
    p = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _C5
    p = p * r * r + r + _ONE
    return p * _from_bits(np.int32((_bits(shifted) << np.int32(23)) + np.int32(0x3F800000)))


@inner_kernel
def _largest(logits: Any) -> Any:
    """Return the largest logit, NaN passed over: its row's sum will be NaN."""
    lanes = np.full(min(_LANES, logits.shape[0]), _NOTHING, dtype=np.float32)
    for first in range(0, logits.shape[0], lanes.shape[0]):
        _raise(lanes, logits[first : first + lanes.shape[0]])
    top = _NOTHING
    for i in range(lanes.shape[0]):
        top = lanes[i] if lanes[i] > top else top
    return top


@inner_kernel
def _raise(lanes: Any, logits: Any) -> None:
    # Element by element: only so does the loop become vector instructions.
    for i in range(logits.shape[0]):
        lanes[i] = logits[i] if logits[i] > lanes[i] else lanes[i]


@inner_kernel(fastmath={"reassoc", "contract"})
def _exponentials(logits: Any, top: Any, e: Any) -> tuple[float, float]:
    total, moment = 0.0, 0.0
    for i in range(logits.shape[0]):
        x = logits[i] - top
        x = _LEAST if x < _LEAST else x
        value = _exp(x)
        e[i] = value
        total += np.float64(value)
        moment += np.float64(value * x)
    return total, moment


@inner_kernel(fastmath={"reassoc", "contract"})
def _of_target(t: Any, over: Any) -> tuple[float, float, float]:
    squares, near, ties = 0.0, 0.0, 0.0
    for i in range(t.shape[0]):
        mass = t[i] * over
        squares += np.float64(mass * mass)
        near += np.float64(mass if t[i] >= _NEAR else _ZERO)
        ties += np.float64(_ONE if t[i] == _ONE else _ZERO)
    return squares, near, ties


@inner_kernel(fastmath={"reassoc", "contract"}, error_model="numpy")
def _of_both(t: Any, d: Any, over: Any, over_d: Any) -> tuple[float, float, float, float, float, float]:
    overlap, above, product, clipped, squares, ties = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(t.shape[0]):
        mine, other = t[i] * over, d[i] * over_d
        larger = other if mine < other else mine
        overlap += np.float64(mine if mine < other else other)
        above += np.float64(mine if mine > other else _ZERO)
        product += np.float64(mine * other)
        clipped += np.float64(mine * (mine / (larger + _TINY)))
        squares += np.float64(other * other)
        ties += np.float64(_ONE if d[i] == _ONE else _ZERO)
    return overlap, above, product, clipped, squares, ties
