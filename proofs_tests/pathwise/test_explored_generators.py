"""Generators that explored code finds, seeds or keeps: followed, refused where they cannot be, left as they were."""

from __future__ import annotations

import gc
import random
from functools import partial
from typing import Any

import numpy as np
import pytest

from proofs_tests.pathwise.explored_functions import HIDDEN, F
from spec_math.audit import ExploreError, LeakError, explore


def test_a_generator_seeded_anew_repeats_itself() -> None:
    def seeded() -> tuple[bool, bool]:
        random.seed(7)
        first = random.random() < F(1, 2)
        random.seed(7)
        return first, random.random() < F(1, 2)

    def drawn_on() -> tuple[bool, bool]:
        random.seed(7)
        return random.random() < F(1, 2), random.random() < F(1, 2)

    def numpy_seeded() -> tuple[bool, bool]:
        return tuple(np.random.default_rng(7).random() < F(1, 2) for _ in range(2))  # type: ignore[return-value]

    assert explore(seeded) == explore(numpy_seeded) == {(True, True): F(1, 2), (False, False): F(1, 2)}
    assert len(explore(drawn_on)) == 4  # type: ignore[arg-type]
    with pytest.raises(ExploreError, match="drawn from twice"):
        explore(lambda: (np.random.default_rng(7).random() < F(1, 2), np.random.default_rng(7).integers(3)))


def test_numbers_of_one_seed_are_the_same_in_calls_of_other_sizes_or_are_refused() -> None:
    """The second of two uniforms is the second of two calls for one. Of other numbers that is not known."""

    def at_once_and_in_turn(draw: Any) -> tuple[bool, bool]:
        at_once = draw(np.random.default_rng(7), 2)
        generator = np.random.default_rng(7)
        in_turn = [draw(generator, None), draw(generator, None)]
        return bool(at_once[1] < F(1, 2)), bool(in_turn[1] < F(1, 2))

    def uniforms(generator: Any, size: Any) -> Any:
        return generator.random(size)

    assert explore(lambda: at_once_and_in_turn(uniforms)) == {(True, True): F(1, 2), (False, False): F(1, 2)}
    real = np.random.default_rng(7)
    assert np.random.default_rng(7).random(2)[1] == [real.random(), real.random()][1]
    with pytest.raises(ExploreError, match="number 1 of a call"):
        explore(lambda: at_once_and_in_turn(lambda generator, size: generator.integers(4, size=size)))
    with pytest.raises(ExploreError, match="a uniform of 53 bits and now as a uniform of 24 bits"):
        explore(lambda: [np.random.default_rng(7).random(dtype=kind) < 1 / 2 for kind in (np.float64, np.float32)])


def test_leaking_state_is_reported_with_what_differed() -> None:
    calls = [0]

    def asks_otherwise() -> bool:
        calls[0] += 1
        return random.random() < F(1, calls[0] + 1)

    def ends_early() -> Any:
        calls[0] += 1
        return calls[0] > 1 or random.random() < F(1, 2)

    def asks_more() -> Any:
        calls[0] += 1
        return random.random() < F(1, 2), calls[0] > 2 and random.random() < F(1, 3)

    def answers_otherwise() -> int:
        calls[0] += 1
        return calls[0]

    for fn, said in (
        (asks_otherwise, r"asked <python uniform 0> < 1/\d where the run before it asked <python uniform 0> < 1/2"),
        (ends_early, r"with the same 0 answer\(s\), this run ended where the run before it asked"),
        (asks_more, r"with the same 1 answer\(s\), this run asked <python uniform 1> < 1/3 where .* had ended"),
        (answers_otherwise, r"the first run returned 1 and the last one \d"),
    ):
        calls[0] = 0
        with pytest.raises(LeakError, match=said):
            explore(fn)


_NUMPYS = np.random.default_rng(0)
_PYTHONS = random.Random(0)
_IMPORTED, _OLD, _BOUND = random.random, np.random.rand, _NUMPYS.random
_STATE = np.random.RandomState(0)
_CLASS, _MAKE = random.Random, np.random.default_rng


class _Sampler:
    """A sampler with a generator of its own."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(2)

    def step(self) -> bool:
        return bool(self.generator.random() < 0.25)

    __call__ = step


def _closed_over(generator: Any) -> Any:
    return lambda: generator.random() < 0.25


@pytest.mark.parametrize(
    "fn",
    [
        lambda: _NUMPYS.random() < 0.25,
        lambda: _PYTHONS.random() < 0.25,
        lambda: _STATE.rand() < 0.25,
        lambda: _IMPORTED() < 0.25,
        lambda: _OLD() < 0.25,
        lambda: _BOUND() < 0.25,
        lambda: _CLASS(7).random() < 0.25,
        lambda: _MAKE(7).random() < 0.25,
        lambda: HIDDEN[1].random() < 0.25,
        lambda: isinstance(_NUMPYS, np.random.Generator) and _NUMPYS.choice(4) == 0,
        _closed_over(np.random.default_rng(3)),
        _closed_over(random.Random(3)),
        _Sampler().step,
        _Sampler(),
        partial(lambda generator, cut: generator().random() < cut, lambda: _NUMPYS, 0.25),
    ],
)
def test_generators_that_a_function_finds_are_followed(fn: Any) -> None:
    """In its module, its closure or its object, by whatever name, and left as they were."""
    states = repr(_NUMPYS.bit_generator.state), _PYTHONS.getstate(), random.getstate(), repr(_STATE.get_state())
    assert explore(fn) == {True: 0.25, False: 0.75}
    assert states == (
        repr(_NUMPYS.bit_generator.state),
        _PYTHONS.getstate(),
        random.getstate(),
        repr(_STATE.get_state()),
    )


def test_two_names_of_one_generator_are_one() -> None:
    def both() -> tuple[bool, bool]:
        return _NUMPYS.random() < F(1, 2), _BOUND() < F(1, 2)

    assert len(explore(both)) == 4  # type: ignore[arg-type]

    def again() -> tuple[bool, bool]:
        state = _PYTHONS.getstate()
        first = _PYTHONS.random() < F(1, 2)
        _PYTHONS.setstate(state)
        return first, _PYTHONS.random() < F(1, 2)

    assert explore(again) == {(True, True): F(1, 2), (False, False): F(1, 2)}


def test_a_generator_kept_from_an_earlier_exploration_is_refused() -> None:
    kept: list[Any] = []

    def keeps() -> bool:
        if not kept:
            kept.append(np.random.default_rng(0))
        return bool(kept[0].random() < 0.5)

    assert explore(keeps) == {True: 0.5, False: 0.5}
    with pytest.raises(ExploreError, match="outside the run that made it"):
        explore(keeps)


def test_a_generator_that_the_collector_was_told_to_pass_over_is_seen() -> None:
    held = (np.random.default_rng(1),)  # a tuple: what a list holds is followed
    gc.freeze()
    try:
        with pytest.raises(ExploreError, match="made before the run"):
            explore(lambda: held[0].random() < 0.5)
    finally:
        gc.unfreeze()


def test_the_real_generators_are_as_they_were() -> None:
    random.seed(1)
    before = random.random
    state = random.getstate()
    explore(lambda: random.random() < F(1, 2))
    assert random.random == before
    assert random.getstate() == state
    assert np.random.default_rng(0).random() == np.random.default_rng(0).random()
