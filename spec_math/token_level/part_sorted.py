"""The tokens of a target and a draft in the order of t/d, of which only the parts that are asked for are ever sorted.

A counting sort puts tokens into buckets of nearly one ratio. At the border of two buckets the sums below are known, and
within a bucket the sums T of t are convex in the sums P of d: with ratios in [r, s], from (P₀, T₀) to (P₁, T₁),
    T ≥ T₀ + r·(P − P₀)   and   T ≥ T₁ − s·(P₁ − P).
What is concave in P besides is least at an end of the bucket on either of these lines. So a bucket is sorted only where
such a bound does not rule it out; all tokens in one bucket are one sort.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.kernels import bits_of, inner_kernel, kernel

LOW, HIGH, STEPS = -16, 16, 32
"""Ratios in [2^LOW, 2^HIGH) fall in STEPS buckets an octave; smaller ones in the first, larger ones in the last."""

BUCKETS = (HIGH - LOW) * STEPS + 2
"""The buckets of tokens that can be drafted; all others are in one more."""

EDGES = np.concatenate(
    [[0.0], *(2.0**octave * (1 + np.arange(STEPS) / STEPS) for octave in range(LOW, HIGH)), [2.0**HIGH, np.inf]]
)
"""Bucket b holds the ratios in [EDGES[b], EDGES[b + 1]], in float64."""

WIDER = 2.0**-20
"""The rounding of ratios and of their sums is less than this share of them."""

_BLOCK, _FEW = 2048, 48
_LARGEST = float(np.finfo(np.float64).max)
_SHIFT = np.int64(52 - 5)
_FIRST = np.int64(((1023 + LOW) << 5) - 1)


def room(size: int) -> tuple[Any, ...]:
    """Return the arrays that `gather` fills for one request after another, for a vocabulary of `size`.

    `order` [V] holds the tokens, bucket b from starts[b] on, in order where done[b]. `below` and `above` [V + 1, 2] are
    the target and the draft mass, of all 1 each, of the tokens before a place and from it on: filled in where buckets
    begin, and within those that are done.

    >>> [array.shape for array in room(3)][:2]
    [(3,), (3,)]
    """
    return (
        np.empty(size, dtype=np.int16),
        np.empty(size, dtype=np.int64),
        np.empty(BUCKETS + 2, dtype=np.int64),
        np.empty(BUCKETS, dtype=np.bool_),
        np.empty((size + 1, 2)),
        np.empty((size + 1, 2)),
    )


@kernel
def gather(target: Any, draft: Any, part: Any) -> tuple[float, float]:
    """Put one request's tokens in buckets, and return the sums of all t and of all d, 1 in place of 0.

    >>> part = room(2)
    >>> gather(np.array([0.5, 0.5]), np.array([0.75, 0.25]), part)
    (1.0, 1.0)
    >>> part[1].tolist(), part[4][0].tolist(), part[4][2].tolist()
    ([0, 1], [0.0, 0.0], [1.0, 1.0])
    """
    keys, order, starts, done, below, above = part
    _keys(target, draft, keys)
    counts, sums = np.zeros(BUCKETS + 1, dtype=np.int64), np.zeros((BUCKETS + 1, 2))
    for i in range(len(keys)):
        key = keys[i]
        counts[key] += 1
        sums[key, 0] += target[i]
        sums[key, 1] += draft[i]
    starts[0] = 0
    for b in range(BUCKETS + 1):
        starts[b + 1] = starts[b] + counts[b]
    places = starts.copy()
    for i in range(len(keys)):
        at = places[keys[i]]
        order[at] = i
        places[keys[i]] = at + 1
    mass, drawn = 0.0, 0.0
    for b in range(BUCKETS + 1):
        mass += sums[b, 0]
        drawn += sums[b, 1]
    mass, drawn = mass if mass > 0.0 else 1.0, drawn if drawn > 0.0 else 1.0
    t, d = 0.0, 0.0
    for b in range(BUCKETS + 1):
        below[starts[b], 0], below[starts[b], 1] = t / mass, d / drawn
        t += sums[b, 0]
        d += sums[b, 1]
    t, d = sums[BUCKETS, 0], sums[BUCKETS, 1]
    above[starts[BUCKETS], 0], above[starts[BUCKETS], 1] = t / mass, d / drawn
    for b in range(BUCKETS - 1, -1, -1):
        done[b] = starts[b] == starts[b + 1]
        t += sums[b, 0]
        d += sums[b, 1]
        above[starts[b], 0], above[starts[b], 1] = t / mass, d / drawn
    return mass, drawn


@kernel
def sort_bucket(b: int, target: Any, draft: Any, totals: tuple[float, float], part: Any) -> None:
    """Put a bucket's tokens in order, the lower index first among equal ratios, and fill in its sums.

    `totals` are what the sums of all t and of all d are divided by.

    >>> part, laws = room(3), (np.array([0.25, 0.25, 0.5]), np.array([0.25, 0.249, 0.501]))
    >>> _ = gather(*laws, part)
    >>> for b in range(BUCKETS):
    ...     sort_bucket(b, *laws, (1.0, 1.0), part)
    >>> part[1].tolist(), part[4][:, 0].tolist()
    ([2, 0, 1], [0.0, 0.5, 0.75, 1.0])
    """
    _, order, starts, done, below, above = part
    if done[b]:
        return
    done[b] = True
    first, stop = starts[b], starts[b + 1]
    tokens = order[first:stop]
    ratios = np.empty(len(tokens))
    for i in range(len(tokens)):
        ratios[i] = ratio_of(tokens[i], target, draft)
    if len(tokens) <= _FEW:
        _insert(ratios, tokens)
    else:
        tokens[:] = tokens[np.argsort(ratios, kind="mergesort")]
    t, d = below[first, 0], below[first, 1]
    for place in range(first, stop - 1):
        t += target[order[place]] / totals[0]
        d += draft[order[place]] / totals[1]
        below[place + 1, 0], below[place + 1, 1] = t, d
    t, d = above[stop, 0], above[stop, 1]
    for place in range(stop - 1, first, -1):
        t += target[order[place]] / totals[0]
        d += draft[order[place]] / totals[1]
        above[place, 0], above[place, 1] = t, d


@kernel
def ratio_of(token: int, target: Any, draft: Any) -> float:
    """Return t/d of a token that can be drafted, in float64; a ratio beyond all floats counts as the largest one.

    >>> ratio_of(0, np.array([0.75]), np.array([0.25]))
    3.0
    """
    return min(np.float64(target[token]) / np.float64(draft[token]), _LARGEST)


@kernel
def bucket_at(place: int, starts: Any) -> int:
    """Return the bucket that holds the token at a place in the order.

    >>> part = room(2)
    >>> _ = gather(np.array([0.5, 0.5]), np.array([0.75, 0.25]), part)
    >>> bool(EDGES[bucket_at(1, part[2])] <= 2 < EDGES[bucket_at(1, part[2]) + 1])
    True
    """
    found: Any = np.searchsorted(starts[: BUCKETS + 1], place, side="right")
    return found - 1


@inner_kernel
def _keys(target: Any, draft: Any, keys: Any) -> None:
    ratios = np.empty(_BLOCK)
    for first in range(0, target.shape[0], _BLOCK):
        last = min(first + _BLOCK, target.shape[0])
        _ratios(target[first:last], draft[first:last], ratios)
        _keys_of_ratios(ratios, draft[first:last], keys[first:last])


# Loops of their own over whole arrays: only so do they become vector instructions.
@inner_kernel(error_model="numpy")
def _ratios(target: Any, draft: Any, ratios: Any) -> None:
    for i in range(target.shape[0]):
        ratios[i] = np.float64(target[i]) / np.float64(draft[i])


@inner_kernel
def _keys_of_ratios(ratios: Any, draft: Any, keys: Any) -> None:
    for i in range(keys.shape[0]):
        key = min(max((bits_of(ratios[i]) >> _SHIFT) - _FIRST, np.int64(0)), np.int64(BUCKETS - 1))
        keys[i] = key if draft[i] > 0 else np.int64(BUCKETS)


@inner_kernel
def _insert(ratios: Any, tokens: Any) -> None:
    for i in range(1, len(tokens)):
        ratio, token, at = ratios[i], tokens[i], i
        while at > 0 and ratios[at - 1] > ratio:
            ratios[at], tokens[at] = ratios[at - 1], tokens[at - 1]
            at -= 1
        ratios[at], tokens[at] = ratio, token
