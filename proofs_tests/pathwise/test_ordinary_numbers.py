"""What code does on ordinary numbers, it does while it is explored, or is refused: Python's and NumPy's functions.

Before, code that asked a uniform for its type or its text, that caught the error of a use that is not followed, or that
handed NumPy arguments that NumPy refuses, got a law that it does not have.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import pickle
import random
from fractions import Fraction as F  # noqa: N817
from typing import Any

import numpy as np
import pytest

from proofs_tests.pathwise.ordinary_cases import FOLLOWED, Case, P, caught, computed_in_place, g, u, v, written
from spec_math.audit import ExploreError, check_sampler, explore
from spec_math.pathwise import followed
from spec_math.pathwise.numpy_draws import Noise
from spec_math.pathwise.tape import LeakError
from spec_math.verdict import Lossless, Lossy, Undecided


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
    "argmax of shifted uniforms": lambda: int((v(2) + 1).argmax()),
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
