"""One state of a generator, drawn from twice: what both draws share is followed where it is known, and else refused.

Before, an exponential and a uniform of one seed were taken for one number, as were noise of NumPy's and its uniforms,
whole numbers of two types, choices among two and among three, and what random.sample and random.randrange draw.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction as F  # noqa: N817
from typing import Any, cast

import numpy as np
import pytest

from spec_math.audit import ExploreError, check_sampler, explore
from spec_math.pathwise.tape import Tape
from spec_math.verdict import Undecided

Draw = Callable[[Any], Any]
HALF = ["1/2", "1/2"]


def twice(make: Callable[[int], Any], first: Draw, second: Draw, seed: int = 7) -> tuple[Any, Any]:
    return first(make(seed)), second(make(seed))


PYTHON = random.Random


def NEW(seed: int) -> Any:  # noqa: N802
    return np.random.default_rng(seed)


def OLD(seed: int) -> Any:  # noqa: N802
    return np.random.RandomState(seed)


REFUSED: dict[str, tuple[Callable[[int], Any], Draw, Draw]] = {
    "expovariate and random": (PYTHON, lambda g: g.expovariate(1) < math.log(2), lambda g: g.random() < 0.5),
    "sample and randrange": (PYTHON, lambda g: g.sample(range(3), 2)[0], lambda g: g.randrange(3)),
    "sample and choice": (PYTHON, lambda g: g.sample(range(3), 2)[0], lambda g: g.choice(range(3))),
    "sample and shuffle": (PYTHON, lambda g: g.sample(range(2), 2)[0], lambda g: g.shuffle([0, 1])),
    "samples of two sizes": (PYTHON, lambda g: g.sample(range(30), 6)[0], lambda g: g.sample(range(30), 5)[0]),
    "exponential and random": (NEW, lambda g: bool(g.exponential() < 1), lambda g: bool(g.random() < 0.5)),
    "exponential and gumbel": (NEW, lambda g: bool(g.exponential() < 1), lambda g: bool(g.gumbel() < 0.5)),
    "exponentials of two types": (
        NEW,
        lambda g: bool(g.exponential() < 1),
        lambda g: bool(g.standard_exponential(dtype=np.float32) < 1),
    ),
    "exponentials by two methods": (
        NEW,
        lambda g: bool(g.exponential() < 1),
        lambda g: bool(g.standard_exponential(method="inv") < 1),
    ),
    "old exponential and random": (OLD, lambda g: bool(g.exponential() < 1), lambda g: bool(g.rand() < 0.5)),
    "old exponential and gumbel": (OLD, lambda g: bool(g.exponential() < 1), lambda g: bool(g.gumbel() < 0.5)),
    "integers of two types": (NEW, lambda g: int(g.integers(3)), lambda g: int(g.integers(3, dtype=np.uint8))),
    "choice among two and three": (NEW, lambda g: int(g.choice(2)), lambda g: int(g.choice(3))),
    "choice of two and of three": (
        NEW,
        lambda g: int(g.choice(5, 2, replace=False)[0]),
        lambda g: int(g.choice(5, 3, replace=False)[0]),
    ),
    "choice without masses and by them": (
        NEW,
        lambda g: int(g.choice(2, 2, replace=False)[0]),
        lambda g: int(g.choice(2, 2, replace=False, p=[0.5, 0.5])[0]),
    ),
    "multinomial of one and of two": (
        NEW,
        lambda g: int(g.multinomial(1, [0.5, 0.5])[0]),
        lambda g: int(g.multinomial(2, [0.5, 0.5])[0]),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_two_draws_of_one_seed_share_by_their_inside_is_refused(name: str) -> None:
    with pytest.raises(ExploreError, match="drawn from twice"):
        explore(lambda: twice(*REFUSED[name]))


FOLLOWED: dict[str, tuple[Callable[[int], Any], Draw, Draw]] = {
    "random and choices": (PYTHON, lambda g: g.random() < 0.5, lambda g: g.choices([True, False])[0]),
    "randrange and choice": (PYTHON, lambda g: g.randrange(3), lambda g: g.choice(range(3))),
    "samples of one size": (PYTHON, lambda g: g.sample(range(3), 2)[1], lambda g: g.sample([0, 1, 2], 2)[1]),
    "exponentials of two scales": (NEW, lambda g: bool(g.exponential() < 1), lambda g: bool(g.exponential(2.0) < 2)),
    "random and choice by masses": (
        NEW,
        lambda g: bool(g.random() < 0.5),
        lambda g: bool(g.choice([True, False], p=[0.5, 0.5])),
    ),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_draws_of_one_seed_that_libraries_make_alike_are_one(name: str) -> None:
    make, first, second = FOLLOWED[name]
    found = explore(lambda: twice(make, first, second))
    assert isinstance(found, dict)
    assert all(a == b for a, b in found)
    for seed in range(50):
        one, other = twice(make, first, second, seed)
        assert one == other


def test_a_tape_that_takes_noise_for_uniforms_has_a_wrong_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: Python's expovariate is -log(1 - u), so that both draws agree on every seed."""
    plain: Any = Tape.atom

    def one_kind(self: Any, key: Any, bits: int, name: str, kind: str = "") -> Any:  # noqa: ARG001
        return plain(self, key, bits, name)

    use = REFUSED["expovariate and random"]
    assert {twice(*use, seed=seed) for seed in range(50)} == {(True, True), (False, False)}
    monkeypatch.setattr(Tape, "atom", one_kind)
    found = explore(lambda: twice(*use))
    assert isinstance(found, dict)
    assert (True, True) not in found


def mirrored(target: Any, draft: Any) -> int:  # noqa: ARG001
    state = random.getstate()
    early = random.expovariate(1) < math.log(2)
    random.setstate(state)
    return int(early == (random.random() < 0.5))


def sampled(target: Any, draft: Any) -> int:  # noqa: ARG001
    state = random.getstate()
    pair = random.sample([0, 1, 2], 2)
    random.setstate(state)
    first, second = random.randrange(3), random.randrange(2)
    return int(not (first == 0 and second == 0 and pair[1] == 2))


def by_an_iterator(target: Any, draft: Any) -> int:  # noqa: ARG001
    return random.choices(range(2), cum_weights=itertools.accumulate(target))[0]  # type: ignore[arg-type]


def by_a_set(target: Any, draft: Any) -> int:  # noqa: ARG001
    return int(random.choices(range(2), cum_weights={0, 1})[0])  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("sampler", "target"),
    [(mirrored, ["0", "1"]), (sampled, ["1/6", "5/6"]), (by_an_iterator, ["1/4", "3/4"]), (by_a_set, ["0", "1"])],
)
def test_a_sampler_whose_law_is_not_known_gets_no_verdict(sampler: Any, target: list[str]) -> None:
    """Before, the first two were Lossy and the third Lossless; the first always draws 1, the others raise."""
    assert isinstance(check_sampler(sampler, target, HALF), Undecided)


def test_sums_of_weights_are_taken_as_they_are_given() -> None:
    law, array = {0: F(1, 4), 1: F(3, 4)}, cast(Any, np.array([1, 4]))
    assert explore(lambda: random.choices(range(2), cum_weights=(1, 4))[0]) == law
    assert explore(lambda: random.choices(range(2), cum_weights=array)[0]) == law
    assert explore(lambda: random.choices(range(2), iter([1, 3]))[0]) == law  # type: ignore[arg-type]
