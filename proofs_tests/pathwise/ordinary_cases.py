"""Code on ordinary numbers that exploring follows, with the law of each."""

from __future__ import annotations

import copy
import heapq
import math
import random
from bisect import bisect, bisect_left
from collections.abc import Callable
from fractions import Fraction as F  # noqa: N817
from itertools import permutations
from typing import Any

import numpy as np

Case = Callable[[], Any]


P = np.array([0.25, 0.25, 0.5])


C = P.cumsum()


HALF, QUARTER = {False: F(1, 2), True: F(1, 2)}, {True: F(1, 4), False: F(3, 4)}


BY_P = {0: F(1, 4), 1: F(1, 4), 2: F(1, 2)}


ORDERS = {order: F(1, 6) for order in permutations(range(3))}


PAIRS = {(a, b): F(1, 6) for a, b in permutations(range(3), 2)}


def u() -> Any:
    return random.random()


def v(size: Any = 1, **how: Any) -> Any:
    return np.random.default_rng().random(size, **how)


def g() -> Any:
    return np.random.default_rng()


def caught(use: Case, error: Any = Exception) -> Case:
    def tried() -> Any:
        try:
            return use()
        except error:
            return "caught"

    return tried


def through(change: Callable[[Any], Any]) -> tuple[bool, bool]:
    one = u()
    return one < 0.5, change(one) < 0.5


def shuffled(x: Any) -> Any:
    random.shuffle(x)
    return tuple(tuple(row) if hasattr(row, "__len__") else row for row in (x.tolist() if hasattr(x, "tolist") else x))


def inserted() -> int:
    sums = [0.25, 0.5, 1.0]
    one = u()
    heapq.heapify(sums)
    return bisect(sums, one)


def written(kind: str) -> Case:
    def write() -> bool:
        buffer = np.zeros(2, dtype=kind)
        buffer[0] = v()[0]
        return bool(buffer[0] < 0.25)

    return write


def computed_in_place() -> bool:
    buffer = np.full(1, 0.5)
    buffer -= v()
    return bool(buffer[0] > 0.25)


FOLLOWED: dict[str, tuple[Case, dict[Any, Any]]] = {
    "chained": (lambda: 0.25 < u() < 0.5, QUARTER),
    "min": (lambda: min(u(), 0.5) < 0.25, QUARTER),
    "sorted": (lambda: sorted([0.25, u(), 0.5]).index(0.25), {0: F(3, 4), 1: F(1, 4)}),
    "bisect": (lambda: bisect([0.25, 0.5, 1.0], u()), BY_P),
    "bisect_left": (lambda: bisect_left([0.25, 0.5, 1.0], u()), BY_P),
    "a search after a heap": (inserted, BY_P),
    "int": (lambda: int(u() * 4), dict.fromkeys(range(4), F(1, 4))),
    "floor": (lambda: math.floor(u() * 4), dict.fromkeys(range(4), F(1, 4))),
    "1 - u": (lambda: 1 - u() < 0.25, QUARTER),
    "1 / u": (lambda: 1 / u() > 4, QUARTER),
    "u ** 2": (lambda: u() ** 2 < 0.25, HALF),
    "NaN": (lambda: u() >= float("nan"), {False: F(1)}),
    "uniform": (lambda: random.uniform(4, 2) > 3.5, QUARTER),
    "randrange": (lambda: random.randrange(10, 0, -3), dict.fromkeys((10, 7, 4, 1), F(1, 4))),
    "choices": (lambda: random.choices(range(3), [1, 1, 2])[0], BY_P),
    "choices by sums": (lambda: random.choices(range(3), cum_weights=[1, 2, 4])[0], BY_P),
    "choices by an iterator, twice": (
        lambda: tuple(random.choices(range(2), iter([1, 3]), k=2)),  # type: ignore[arg-type]
        {(0, 0): F(1, 16), (0, 1): F(3, 16), (1, 0): F(3, 16), (1, 1): F(9, 16)},
    ),
    "choices by a negative weight": (lambda: random.choices(range(3), [0.5, -0.25, 0.75])[0], {0: F(1, 4), 2: F(3, 4)}),
    "choices by a negative weight first": (
        lambda: random.choices(range(3), [-0.25, 0.5, 0.75])[0],
        {1: F(1, 4), 2: F(3, 4)},
    ),
    "sample": (lambda: tuple(random.sample(range(3), 2)), PAIRS),
    "shuffle": (lambda: shuffled([0, 1, 2]), ORDERS),
    "shuffle of rows that are views": (
        lambda: shuffled(np.arange(2)[:, None]),
        {((0,), (1,)): F(1, 2), ((0,), (0,)): F(1, 2)},
    ),
    "a copy of a uniform": (lambda: through(copy.copy), {(True, True): F(1, 2), (False, False): F(1, 2)}),
    "u < in an array": (lambda: bool((v() < 0.25)[0]), QUARTER),
    "where": (lambda: bool(np.where([True], v(), 1.0)[0] < 0.25), QUARTER),
    "clip": (lambda: bool(np.clip(v(), 0.125, 0.5)[0] < 0.25), QUARTER),
    "maximum": (lambda: bool(np.maximum(v(), 0.25)[0] <= 0.25), QUARTER),
    "floor of an array": (lambda: int(np.floor(v() * 4)[0]), dict.fromkeys(range(4), F(1, 4))),
    "astype int": (lambda: int((v() * 4).astype(int)[0]), dict.fromkeys(range(4), F(1, 4))),
    "into whole numbers": (lambda: written("i8")(), {True: F(1)}),
    "into objects": (lambda: written("O")(), QUARTER),
    "searchsorted": (lambda: int(np.searchsorted(C, v()[0], side="right")), BY_P),
    "searchsorted by a sorter": (lambda: int(np.searchsorted(C[::-1], v()[0], sorter=[2, 1, 0])), BY_P),
    "digitize": (lambda: int(np.digitize(v(), C)[0]), BY_P),
    "argmax of sums": (lambda: int(np.argmax(C > v()[0])), BY_P),  # noqa: SIM300
    "ties of argmax": (lambda: int(np.argmax(v(2) > 0.5)), {0: F(3, 4), 1: F(1, 4)}),
    "less with where": (lambda: int(np.less(v(2), 0.25, where=[True, False], out=np.zeros(2, bool)).sum()), QUARTER),
    "exponential of a scale each": (lambda: int(g().exponential(1 / P).argmin()), BY_P),
    "exponential of dtype": (lambda: int((g().standard_exponential(3, dtype=np.float32) / P).argmin()), BY_P),
    "uniform of bounds each": (
        lambda: tuple((g().uniform([0, 1], [1, 5]) < [0.25, 2]).tolist()),
        {(a, b): QUARTER[a] * QUARTER[b] for a in QUARTER for b in QUARTER},
    ),
    "integers up to and with": (lambda: int(g().integers(1, 4, endpoint=True)), dict.fromkeys(range(1, 5), F(1, 4))),
    "integers by place": (lambda: int(g().integers(1, 4, None, np.int64, True)), dict.fromkeys(range(1, 5), F(1, 4))),
    "integers of bytes": (
        lambda: int((-g().integers(0, 4, size=1, dtype=np.uint8))[0]),
        dict.fromkeys((0, 255, 254, 253), F(1, 4)),
    ),
    "integers of bounds each": (
        lambda: tuple(g().integers([1, 2], [3, 4]).tolist()),
        {(a, b): F(1, 4) for a in (1, 2) for b in (2, 3)},
    ),
    "randint of bytes": (lambda: int((np.random.randint(0, 2, 1, np.uint8) - 1)[0]), {0: F(1, 2), 255: F(1, 2)}),  # noqa: NPY002
    "choice by p": (lambda: int(g().choice(3, p=P)), BY_P),
    "choice of texts": (lambda: str(g().choice(["a", "b"])), {"a": F(1, 2), "b": F(1, 2)}),
    "choice of rows": (lambda: tuple(g().choice([(0, 1), (2, 3)]).tolist()), {(0, 1): F(1, 2), (2, 3): F(1, 2)}),
    "choice without replacement": (lambda: tuple(g().choice(3, 2, replace=False).tolist()), PAIRS),
    "multinomial": (lambda: int(g().multinomial(1, P).argmax()), BY_P),
    "multinomial of one draw in a list": (lambda: int(g().multinomial([1], P)[0].argmax()), BY_P),
    "multinomial of none and of one": (
        lambda: tuple(g().multinomial([0, 1], P).reshape(-1).tolist()),
        {(0, 0, 0, *(int(token == one) for one in BY_P)): mass for token, mass in BY_P.items()},
    ),
    "multinomial of two laws, of a size": (
        lambda: tuple(g().multinomial(1, [[1, 0], [0.5, 0.5]], size=2).argmax(axis=1).tolist()),
        {(0, 0): F(1, 2), (0, 1): F(1, 2)},
    ),
    "multinomial of a number and laws in a table": (
        lambda: int(g().multinomial(1, [[0.25, 0.75]], size=(2, 1))[:, 0, 1].sum()),
        {0: F(1, 16), 1: F(6, 16), 2: F(9, 16)},
    ),
    "a child of a generator": (lambda: bool(g().spawn(1)[0].random() < 0.25), QUARTER),
}
"""The function, and its law by hand."""
