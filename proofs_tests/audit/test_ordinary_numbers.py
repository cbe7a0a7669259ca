"""What code does on ordinary numbers, it does while it is explored, or is refused: Python's and NumPy's functions.

Before, code that asked a uniform for its type or its text, that caught the error of a use that is not followed, or that
handed NumPy arguments that NumPy refuses, got a law that it does not have.
"""

from __future__ import annotations

import copy
import functools
import heapq
import json
import math
import pickle
import random
from bisect import bisect, bisect_left
from collections.abc import Callable
from fractions import Fraction as F  # noqa: N817
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from spec_math.audit import ExploreError, check_sampler, explore
from spec_math.audit.exploration import followed
from spec_math.audit.exploration.numpy_draws import Noise
from spec_math.audit.exploration.tape import LeakError
from spec_math.verdict import Lossless, Lossy, Undecided

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
    "choices by a negative weight": (
        lambda: random.choices(range(3), [0.5, -0.25, 0.75])[0],
        {0: F(1, 4), 2: F(3, 4)},
    ),
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


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_followed_has_its_law(name: str) -> None:
    use, law = FOLLOWED[name]
    assert explore(use) == law


REFUSED: dict[str, Case] = {
    "its type": lambda: type(u()) is float,
    "isinstance": lambda: isinstance(u(), float),
    "an attribute": lambda: hasattr(u(), "is_integer"),
    "its text": lambda: str(u()) < "0.5",
    "its text in another": lambda: f"{u()}" < "0.5",
    "its text by percent": lambda: "%s" % u() < "0.5",  # noqa: UP031
    "its form": lambda: repr(u()) < "0.5",
    "json": caught(lambda: json.loads(json.dumps(u())) < 0.5, TypeError),
    "round": caught(lambda: round(u())),
    "%": caught(lambda: u() % 0.5 < 0.25, TypeError),
    "//": caught(lambda: u() // 0.5, TypeError),
    "abs": caught(lambda: abs(u() - 0.5) < 0.25, TypeError),
    "hash": caught(lambda: hash(u()) % 2, TypeError),
    "as a key": caught(lambda: {u(): 1}.get(0.5, 0), TypeError),
    "in a set": caught(lambda: u() in {0.1}, TypeError),
    "float": caught(lambda: float(u()) < 0.5),
    "hex": caught(lambda: u().hex() < "0x1", AttributeError),
    "Fraction": caught(lambda: F(u()) < F(1, 2), TypeError),
    "Fraction on one path": lambda: u() < 0.5 or F(u()) < F(1, 2),
    "another error in its place": lambda: raised_again(),
    "its error and another value": lambda: finally_returned(),
    "pickle": caught(lambda: pickle.loads(pickle.dumps(u())) < 0.5),
    "deepcopy": caught(lambda: copy.deepcopy([u()])[0] < 0.5),
    "a state that is written down": lambda: pickle.loads(pickle.dumps(random.Random())).random() < 0.5,
    "getrandbits of a subclass": lambda: NoBits(1).randrange(3),
    "both log u and log(1 - u)": lambda: both_logarithms(),
    "u, and then log(1 - u)": lambda: u_and_its_logarithm(),
    "isnan": lambda: bool(np.isnan(v())[0]),
    "isfinite on one path": lambda: u() < 0.5 or bool(np.isfinite(v())[0]),
    "round of an array": caught(lambda: int((v() * 3).round()[0])),
    "dtype": lambda: str(v().dtype),
    "zeros_like": lambda: str(np.zeros_like(v()).dtype),
    "tobytes": lambda: v().tobytes()[0] % 2,
    "keepdims": lambda: g().exponential(size=(2, 3)).argmin(axis=-1, keepdims=True).shape,
    "text of a ring": lambda: str(g().exponential())[0],
    "kind of a number": lambda: type(v()[0]).__name__,
    "float32": written("f4"),
    "float64": written("f8"),
    "complex": written("c16"),
    "in place": computed_in_place,
    "subtract into": lambda: bool(np.subtract(v(), 0.25, out=np.zeros(1))[0] < 0),
    "copyto": lambda: (lambda b: (np.copyto(b, v()), bool(b[0] < 0.25))[1])(np.zeros(1)),
    "random into": lambda: bool(g().random(out=np.zeros(1))[0] < 0.25),
    "permutation": lambda: tuple(g().permutation(3).tolist()),
    "raw bits": lambda: int(g().bit_generator.random_raw() % 2),
    "jumped": lambda: bool(np.random.Generator(np.random.PCG64().jumped()).random() < 0.5),
    "a sum of two": lambda: bool(v(2).sum() < 1),
    "argmax of uniforms": lambda: int(v(2).argmax()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed_is_refused(name: str) -> None:
    with pytest.raises(ExploreError):
        explore(REFUSED[name])


def raised_again() -> bool:
    if u() < 0.5:
        return True
    try:
        return math.sqrt(u()) < 0.5
    except Exception as error:
        raise ValueError("bad input") from error


def finally_returned() -> int:
    try:
        return int(math.log(u()) < -1)
    finally:
        return 7  # noqa: B012, SIM107


def both_logarithms() -> tuple[bool, ...]:
    one = v()
    return bool(np.log(one)[0] > -0.5), bool(np.log(1 - one)[0] > -0.5)


def u_and_its_logarithm() -> tuple[bool, ...]:
    one = v()
    return bool(one[0] < 0.25), bool(np.log(1 - one)[0] > -0.5)


class NoBits(random.Random):
    def getrandbits(self, k: int, /) -> int:
        return 0 * k


NOBODY: list[int] = []

RAISING: dict[str, tuple[Case, type[Exception]]] = {
    "choices by too few weights": (lambda: random.choices(range(3), [0.5, 0.5])[0], ValueError),
    "choices by too many weights": (lambda: random.choices(range(2), [1, 1, 1])[0], ValueError),
    "choices by no mass": (lambda: random.choices(range(2), [0, 0])[0], ValueError),
    "choice of nothing": (lambda: random.choice(NOBODY), IndexError),
    "sample of a set": (lambda: random.sample({0, 1}, 1)[0], TypeError),  # type: ignore[arg-type]
    "expovariate of 0": (lambda: random.expovariate(0) < 1, ZeroDivisionError),
    "exponential of a negative scale": (lambda: g().exponential(-2) < 1, ValueError),
    "gumbel of a negative scale": (lambda: g().gumbel(0, -2) < 1, ValueError),
    "choice by a negative mass": (lambda: int(g().choice(2, p=[-0.5, 1.5])), ValueError),
    "choice by too few masses": (lambda: int(g().choice(3, p=[0.5, 0.5])), ValueError),
    "choice of nothing, of NumPy's": (lambda: int(g().choice([])), ValueError),
    "integers beyond a type": (lambda: int(g().integers(0, 300, dtype=np.uint8)), ValueError),
    "random of half precision": (lambda: bool(g().random(dtype=np.float16) < 1), TypeError),
    "multinomial of a list, of the old one": (lambda: int(np.random.multinomial([1, 1], P)[0]), TypeError),  # type: ignore[arg-type]  # noqa: NPY002
    "multinomial of a negative mass": (lambda: int(g().multinomial(1, [-0.5, 1.5])[0]), ValueError),
}


@pytest.mark.parametrize("name", RAISING)
def test_arguments_that_a_library_refuses_are_refused_alike(name: str) -> None:
    use, error = RAISING[name]
    with pytest.raises(error):
        use()
    with pytest.raises(error):
        explore(use)


def test_a_ring_of_no_time_is_first() -> None:
    assert explore(lambda: bool(g().exponential() * 0 < 0.5)) == {True: F(1)}
    with pytest.raises(ExploreError, match="exponential or Gumbel noise only"):
        explore(lambda: int((g().exponential(size=2) * np.array([0.0, 1.0])).argmin()))


@pytest.mark.parametrize("is_log", [True, False], ids=["Gumbel noise", "-E"])
def test_a_zero_loses_to_rates_alone(is_log: bool) -> None:
    """Before, 0 never won a race, though 0 > −E always, and 0 > −log E by half."""
    assert explore(lambda: int(np.append(1 / g().exponential(size=1), 0.0).argmax())) == {0: F(1)}
    with pytest.raises(ExploreError, match="exponential or Gumbel noise only"):
        explore(lambda: int(np.append(ring(is_log), 0.0).view(Noise).argmax()))


def ring(is_log: bool) -> Any:
    noise = g().exponential(size=2)
    return -(np.log(noise) if is_log else noise)


def test_gumbel_noise_of_no_size_decides_nothing() -> None:
    assert explore(lambda: int((np.array([1.0, 2.0]) + 0.0 * g().gumbel(size=2)).argmax())) == {1: F(1)}


@pytest.mark.parametrize("size", [5, 200])
def test_what_asks_for_a_type_is_found_in_a_large_vocabulary_too(size: int) -> None:
    law = [F(2 * token + 1, size * size) for token in range(size)]

    def walked() -> int:
        one = u()
        token = next(token for token in range(size) if one < sum(law[: token + 1]))
        return token if isinstance(one, float) else size - 1 - token

    with pytest.raises(ExploreError, match="on ordinary numbers"):
        explore(walked)


def _none(*_: Any) -> None:
    return None


def test_an_explorer_without_ordinary_numbers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the objects alone say that a uniform is no float, and that its text begins with "<"."""
    monkeypatch.setattr(followed, "numbers_for", _none)
    assert explore(REFUSED["isinstance"]) == {False: F(1)}
    assert explore(REFUSED["its text"]) == {False: F(1)}


def test_a_verdict_on_misread_numbers_is_left_open() -> None:
    def careful(target: Any, draft: Any) -> int:  # noqa: ARG001
        one = u()
        if not isinstance(one, float):
            return 0
        return int(one >= target[0])

    def lazy(target: Any, draft: Any) -> int:  # noqa: ARG001
        try:
            return int(np.ceil(v() - target[0])[0])
        except Exception:
            return 0

    def right(target: Any, draft: Any) -> int:
        return int(u() >= target[0] + 0 * draft[0])

    def wrong(target: Any, draft: Any) -> int:
        return right([target[0] / 2], draft)

    half = ["1/2", "1/2"], ["1/2", "1/2"]
    assert isinstance(check_sampler(careful, *half), Undecided)
    assert isinstance(check_sampler(lazy, *half), Undecided)
    assert isinstance(check_sampler(right, *half), Lossless)
    assert isinstance(check_sampler(wrong, *half), Lossy)


def test_what_is_kept_between_runs_is_found() -> None:
    @functools.cache
    def once(_: int) -> Any:
        return random.random()

    with pytest.raises(LeakError):
        explore(lambda: once(0) < 0.25)
