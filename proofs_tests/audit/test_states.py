"""Readers of states: what a generator's own state says has changed, its reader says, and nothing else.

Before, an audit beside other threads called ctypes for each generator of the process, twice a run: four fifths of its
time. The oracle is each generator's own property, or getstate().
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.audit.exploration import states
from spec_math.audit.exploration.states import reader


class Own(random.Random):
    def random(self) -> float:
        return 0.5


class OwnBits(np.random.PCG64):
    """Has a state of its own beside that of the class in C."""

    state: Any = None


BITS: list[Any] = [np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64]


def moves(one: Any) -> list[Callable[[], Any]]:
    if isinstance(one, random.Random):
        return [
            one.random,
            lambda: None,
            lambda: random.Random.random(one),
            lambda: one.getrandbits(8),
            lambda: one.seed(3),
        ]
    drawing = np.random.Generator(one)
    halves = [lambda: drawing.integers(9, dtype=np.uint32)] * 3
    return [one.random_raw, *halves, drawing.random, lambda: None, lambda: drawing.integers(9)]


def shown(one: Any) -> Any:
    return one.getstate() if isinstance(one, random.Random) else flat(one.state)


def flat(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: flat(value) for key, value in state.items()}  # pyright: ignore[reportUnknownVariableType]
    return state.tolist() if isinstance(state, np.ndarray) else state


@pytest.mark.parametrize("make", [random.Random, Own, *BITS])
def test_a_reader_says_that_a_state_changed_where_the_state_itself_does(make: Any) -> None:
    one = make(1)
    read = reader(one)
    for _ in range(200):
        for move in moves(one):
            before, told = shown(one), read()
            _ = move()
            assert (read() != told) == (shown(one) != before)


@pytest.mark.parametrize("make", BITS)
def test_what_lies_in_memory_is_read_there_and_comes_back_when_it_is_set_back(make: Any) -> None:
    one = make(1)
    state, read = one.state, reader(one)
    assert isinstance(read(), bytes)
    before = read()
    _ = one.random_raw(1000)
    assert read() != before
    one.state = state
    assert read() == before


def test_a_reader_holds_its_generator_and_reads_what_a_subclass_inherits() -> None:
    reading, other = reader(random.Random(5)), OwnBits(5)
    _ = [random.Random(seed) for seed in range(100)]
    assert reading() == reader(random.Random(5))()
    before, read = reader(other)(), reader(other)
    assert read() == before
    _ = other.random_raw()
    assert read() != before


@pytest.mark.parametrize("make", BITS)
def test_a_reader_of_half_the_bytes_is_rejected(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: fewer bytes, from the wrong side, miss a draw."""
    monkeypatch.setitem(states._SIZES, make, 8)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(AssertionError):
        test_a_reader_says_that_a_state_changed_where_the_state_itself_does(make)


def test_where_states_do_not_lie_in_memory_the_generators_themselves_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "_READABLE", False)
    monkeypatch.setattr(states, "_SIZES", {})
    for make in (random.Random, *BITS):
        test_a_reader_says_that_a_state_changed_where_the_state_itself_does(make)
