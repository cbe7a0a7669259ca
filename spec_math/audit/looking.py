"""The identity test's evidence after each draw, in one compiled loop: all that is looked at is Ville's to bound."""

# ruff: noqa: PLR0913 - numba kernels take their arrays one by one
from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from spec_math.audit.dirichlet import step as _formula

_step = numba.njit(_formula)

_FAR = 2.0**64
"""Products are kept on the ordinary scale between 1/_FAR and _FAR of where their logs were last taken."""


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def advance(
    tokens: Any,
    labels: Any,
    inverse: Any,
    kappas: Any,
    ratios: Any,
    weights: Any,
    counts: Any,
    pooled: Any,
    logs: Any,
    samples: int,
    threshold: float,
    stop: bool,
) -> tuple[float, int]:
    """Take in tokens [n] one by one, and return the largest log evidence met and the first draw at the threshold or -1.

    labels [V]: each token's pool; inverse [P]: 1/t of each pool, 0 where t = 0; ratios [V, B]: a/t of the alternatives;
    weights [K+B]: logs of the mixture's weights. counts [V], pooled [P] and logs [K+B] are brought up to date, of
    `samples` draws before. With `stop` the loop ends at the threshold. A token of mass 0 is evidence without bound.

    >>> one = np.ones(1)
    >>> state = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(1)
    >>> labels, inverse, ratios = np.arange(2), np.array([2.0, 2.0]), np.ones((2, 0))
    >>> peak, _ = advance(np.array([0, 0]), labels, inverse, 2 * one, ratios, 0 * one, *state, 0, 9.0, False)
    >>> round(float(np.exp(peak)), 12)
    1.333333333333
    """
    size_k = kappas.shape[0]
    size = weights.shape[0]
    products = np.ones(size)
    scaled = np.empty(size)
    top = _rescale(weights, logs, scaled)
    goal = math.exp(min(threshold - top, 700.0))
    peak, most, first = -math.inf, 0.0, -1
    for i in range(tokens.shape[0]):
        x = tokens[i]
        pool = labels[x]
        turned = inverse[pool]
        if turned == 0.0:
            peak = math.inf
            if first < 0:
                first = i
            counts[x] += 1
            pooled[pool] += 1
            if stop:
                break
            continue
        seen, drawn = float(pooled[pool]), float(samples + i)
        total = 0.0
        least, largest = 1.0, 1.0
        for k in range(size_k):
            moved = products[k] * _step(kappas[k], turned, seen, drawn)
            products[k] = moved
            total += scaled[k] * moved
            least, largest = min(least, moved), max(largest, moved)
        for b in range(size - size_k):
            moved = products[size_k + b] * ratios[x, b]
            products[size_k + b] = moved
            total += scaled[size_k + b] * moved
            # A product of 0 stays 0: its log is -inf, and no scale would bring it back.
            least, largest = min(least, moved if moved > 0.0 else 1.0), max(largest, moved)
        counts[x] += 1
        pooled[pool] += 1
        most = max(most, total)
        if total >= goal and first < 0:
            first = i
            if stop:
                break
        if least * _FAR < 1.0 or largest > _FAR:
            peak = max(peak, top + math.log(most))
            _fold(logs, products)
            top = _rescale(weights, logs, scaled)
            goal = math.exp(min(threshold - top, 700.0))
            most = 0.0
    if most > 0.0:
        peak = max(peak, top + math.log(most))
    _fold(logs, products)
    return peak, first


@numba.njit(cache=True)
def _rescale(weights: Any, logs: Any, scaled: Any) -> float:
    top = (weights + logs).max()
    for j in range(weights.shape[0]):
        scaled[j] = math.exp(weights[j] + logs[j] - top)
    return top


@numba.njit(cache=True, error_model="numpy")
def _fold(logs: Any, products: Any) -> None:
    for j in range(logs.shape[0]):
        logs[j] += math.log(products[j]) if products[j] > 0.0 else -math.inf
        products[j] = 1.0
