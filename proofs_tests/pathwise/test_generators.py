"""The generators alive that an audit looks for: all that anybody holds, and none of those that were let go."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proofs_tests.pathwise.every_look import MAKES, THRESHOLDS, Cyclic
from spec_math.audit import check_sampler
from spec_math.pathwise import generators
from spec_math.pathwise.generators import generators_alive, reader

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=THRESHOLDS.values(), ids=THRESHOLDS)
def _collected(request: Any) -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*request.param)
    yield
    gc.set_threshold(*before)


def test_each_look_finds_what_a_look_at_every_object_finds() -> None:
    command = "from proofs_tests.pathwise.every_look import told; print(told())"
    ran = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert eval(ran.stdout) == dict.fromkeys(THRESHOLDS, 0)


@pytest.mark.usefixtures("_collected")
def test_only_the_first_look_is_at_old_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made between two looks grows old meanwhile, a hundred times."""
    gc.collect()
    _ = generators_alive()
    asked: list[tuple[int, ...]] = []
    objects = gc.get_objects
    monkeypatch.setattr(gc, "get_objects", lambda *ages: (asked.append(ages), objects(*ages))[1])
    held: list[Any] = []
    for seed in range(100):
        held.append(MAKES[seed % len(MAKES)](seed))
        gc.collect(1)
        assert len(generators_alive()) > seed
    assert set(asked) == {(0,), (1,)}


@pytest.mark.usefixtures("_collected")
@pytest.mark.parametrize("make", MAKES)
def test_those_that_nobody_holds_any_more_are_let_go(make: Any) -> None:
    """Each look held what it found until the next one, which found it alive for that reason: for ever."""
    gc.collect()
    before = len(generators_alive())
    for seed in range(3):
        held = make(seed)
        assert len(generators_alive()) > before
        del held
        if make is Cyclic:
            gc.collect(1)
    assert len(generators_alive()) == before


def test_a_collection_of_older_objects_ends_garbage_that_a_look_had_found() -> None:
    held = Cyclic(0)
    seen = weakref.ref(held)
    assert any(one is held for one in generators_alive())
    del held
    gc.collect(0)
    gc.collect()
    assert seen() is None


class Seeds(np.random.bit_generator.ISeedSequence):
    """Seeds that hold the generator which they seed: only the collector can end both."""

    def __init__(self) -> None:
        self.generator = np.random.PCG64(self)

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.ones(n_words, dtype)


def test_a_collection_of_all_objects_ends_what_has_no_weak_references() -> None:
    gc.collect()
    before = len(generators_alive())
    held = Seeds()
    assert len(generators_alive()) == before + 1
    del held
    gc.collect(1)
    assert len(generators_alive()) == before + 1
    gc.collect()
    assert len(generators_alive()) == before


def test_an_audit_reads_no_more_states_after_many_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states that are read are counted; each audit but the first stands beside generators of its own."""
    read: list[Any] = []
    reader = generators.reader

    def counted(one: Any) -> Any:
        plain = reader(one)
        return lambda: (read.append(one), plain())[1]

    monkeypatch.setattr(generators, "reader", counted)

    def states_read_beside(made: int) -> int:
        beside = [make(seed) for make in (random.Random, np.random.default_rng) for seed in range(made)]
        read.clear()
        assert check_sampler(first_draft, ["1/2", "1/2"], ["1/2", "1/2"], k=1)
        del beside[:]
        return len(read)

    def first_draft(tokens: Any, target: Any, draft: Any) -> Any:  # noqa: ARG001
        return tokens[0]

    gc.collect()
    alone, beside = states_read_beside(0), [states_read_beside(5) for _ in range(8)]
    assert set(beside) == {beside[0]}
    assert states_read_beside(0) == alone < beside[0]


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


def test_a_reader_holds_its_generator_and_reads_what_a_subclass_inherits() -> None:
    reading, other = reader(random.Random(5)), OwnBits(5)
    _ = [random.Random(seed) for seed in range(100)]
    assert reading() == reader(random.Random(5))()
    before, read = reader(other)(), reader(other)
    assert read() == before
    _ = other.random_raw()
    assert read() != before


def test_a_reader_of_half_a_state_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: half of the words of a state miss a draw."""
    monkeypatch.setattr(generators, "MT19937_BYTES", 8)
    with pytest.raises(AssertionError):
        test_a_reader_says_that_a_state_changed_where_the_state_itself_does(np.random.MT19937)
