"""The identity test's evidence after each draw, in one compiled loop; Ville's inequality covers all the looks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from spec_math.audit.sequential.dirichlet import step as _formula
from spec_math.kernels import kernel


class Setting(NamedTuple):
    """What a test fixes before the first draw: its pools, its priors, its alternatives, and their weights.

    labels [V]: each token's pool; inverse [P]: 1/t of each pool, 0 where t = 0; kappas [K]; ratios [V, B]: a/t of the
    alternatives; weights [K + B]: the logs of the mixture's weights.
    """

    labels: Any
    inverse: Any
    kappas: Any
    ratios: Any
    weights: Any


class Running(NamedTuple):
    """What a test has seen: counts of tokens [V] and of pools [P], and the log of each part of the mixture [K + B]."""

    counts: Any
    pooled: Any
    logs: Any


def nothing_seen(setting: Setting) -> Running:
    """Return the state before the first draw.

    >>> one = np.ones(1)
    >>> nothing_seen(Setting(np.arange(2), np.ones(2), one, np.ones((2, 0)), 0 * one)).counts.tolist()
    [0, 0]
    """
    whole = np.zeros(len(setting.labels), dtype=np.int64), np.zeros(len(setting.inverse), dtype=np.int64)
    return Running(*whole, np.zeros(len(setting.weights)))


_step = kernel(_formula)

_FAR = 2.0**64
"""Products are kept on the ordinary scale between 1/_FAR and _FAR of where their logs were last taken."""


@kernel(error_model="numpy", fastmath={"reassoc", "contract", "nnan", "nsz"})
def advance(tokens: Any, setting: Any, running: Any, samples: int, threshold: float, stop: bool) -> tuple[float, int]:
    """Take in tokens [n] one by one, and return the largest log evidence met and the first draw at the threshold or -1.

    The state is brought up to date; `samples` draws came before. With `stop` the loop ends at the threshold. A token of
    mass 0 is evidence without bound.

    >>> setting = Setting(np.arange(2), np.array([2.0, 2.0]), np.array([2.0]), np.ones((2, 0)), np.zeros(1))
    >>> peak, _ = advance(np.array([0, 0]), setting, nothing_seen(setting), 0, 9.0, False)
    >>> round(np.exp(peak).item(), 12)
    1.333333333333
    """
    size_k, size = setting.kappas.shape[0], setting.weights.shape[0]
    counts, pooled, logs, weights = running.counts, running.pooled, running.logs, setting.weights
    products, scaled = np.ones(size), np.empty(size)
    top = rescale(weights, logs, scaled)
    goal = math.exp(min(threshold - top, 700.0))
    peak, most, first = -math.inf, 0.0, -1
    for i in range(tokens.shape[0]):
        x = tokens[i]
        pool = setting.labels[x]
        turned = setting.inverse[pool]
        seen, drawn = float(pooled[pool]), float(samples + i)
        counts[x] += 1
        pooled[pool] += 1
        if turned == 0.0:
            peak, first = math.inf, i if first < 0 else first
            if stop:
                break
            continue
        total, least, largest = 0.0, 1.0, 1.0
        for k in range(size_k):
            moved = products[k] * _step(setting.kappas[k], turned, seen, drawn)
            products[k] = moved
            total += scaled[k] * moved
            least, largest = min(least, moved), max(largest, moved)
        for b in range(size - size_k):
            moved = products[size_k + b] * setting.ratios[x, b]
            products[size_k + b] = moved
            total += scaled[size_k + b] * moved
            # A product of 0 stays 0: its log is -inf, and no scale would bring it back.
            least, largest = min(least, moved if moved > 0.0 else 1.0), max(largest, moved)
        most = max(most, total)
        if total >= goal and first < 0:
            first = i
            if stop:
                break
        if least * _FAR < 1.0 or largest > _FAR:
            peak = max(peak, top + math.log(most)) if most > 0.0 else peak
            fold(logs, products)
            top = rescale(weights, logs, scaled)
            goal = math.exp(min(threshold - top, 700.0))
            most = 0.0
    peak = max(peak, top + math.log(most)) if most > 0.0 else peak
    fold(logs, products)
    return peak, first


@kernel
def rescale(weights: Any, logs: Any, scaled: Any) -> float:
    """Write weight · exp(log) [N], the largest made 1, and return the log of the largest.

    >>> scaled = np.empty(2)
    >>> rescale(np.zeros(2), np.array([1000.0, -np.inf]), scaled), scaled.tolist()
    (1000.0, [1.0, 0.0])
    """
    top = (weights + logs).max()
    for j in range(weights.shape[0]):
        scaled[j] = math.exp(weights[j] + logs[j] - top)
    return top


@kernel(error_model="numpy")
def fold(logs: Any, products: Any) -> None:
    """Move products [N] into their logs [N], and make them 1.

    >>> logs, products = np.zeros(2), np.array([1.0, 0.0])
    >>> fold(logs, products)
    >>> logs.tolist(), products.tolist()
    ([0.0, -inf], [1.0, 1.0])
    """
    for j in range(logs.shape[0]):
        logs[j] += math.log(products[j]) if products[j] > 0.0 else -math.inf
        products[j] = 1.0
