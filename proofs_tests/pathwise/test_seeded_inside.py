"""A function that seeds a generator with one number in each call repeats itself: no verdict calls that lossless."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import pytest

from spec_math.audit import check_sampler
from spec_math.field.stand_ins import split, uniform
from spec_math.pathwise.tape import GivenKey
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

TARGET, DRAFT = ["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"]


def by(uniform: Any, tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    if uniform() < target[x] / draft[x]:
        return x
    left = [max(t - d, 0 * t) for t, d in zip(target, draft, strict=True)]
    rest = uniform() * sum(left)
    for token, mass in enumerate(left):
        if rest < mass:
            return token
        rest = rest - mass
    return len(left) - 1


def python_s(tokens: Any, target: Any, draft: Any) -> int:
    return by(random.Random(7).random, tokens, target, draft)


def the_module_s(tokens: Any, target: Any, draft: Any) -> int:
    random.seed(a=0)
    return by(random.random, tokens, target, draft)


def of_the_tokens(tokens: Any, target: Any, draft: Any) -> int:
    random.seed(tokens[0])
    return by(random.random, tokens, target, draft)


def numpy_s(tokens: Any, target: Any, draft: Any) -> int:
    return by(np.random.default_rng(1234).random, tokens, target, draft)


def bits_of_numpy_s(tokens: Any, target: Any, draft: Any) -> int:
    return by(np.random.Generator(np.random.Philox(1)).random, tokens, target, draft)


def old_numpy_s(tokens: Any, target: Any, draft: Any) -> int:
    np.random.seed(42)  # noqa: NPY002
    return by(np.random.random_sample, tokens, target, draft)


def state_of_old_numpy_s(tokens: Any, target: Any, draft: Any) -> int:
    return by(np.random.RandomState(3).random_sample, tokens, target, draft)


SEEDED = [python_s, the_module_s, of_the_tokens, numpy_s, bits_of_numpy_s, old_numpy_s, state_of_old_numpy_s]


def left_open(sampler: Any) -> str:
    """Return why a sampler is undecided that returns one token for the same drafts, each time."""
    laws = [np.array([1 / 2, 3 / 8, 1 / 8]), np.array([1 / 4, 1 / 4, 1 / 2])]
    assert all(len({sampler((x,), *laws) for _ in range(20)}) == 1 for x in range(3))
    verdict = check_sampler(sampler, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN
    return verdict.explanation


@pytest.mark.parametrize("sampler", SEEDED)
def test_one_seed_in_each_call_is_left_open(sampler: Any) -> None:
    assert "seeds a generator itself" in left_open(sampler)


HELD, HELD_IN_NUMPY = random.Random(7), np.random.default_rng(1234)


def seeded_outside(tokens: Any, target: Any, draft: Any) -> int:
    return by(HELD.random, tokens, target, draft)


def numpy_s_seeded_outside(tokens: Any, target: Any, draft: Any) -> int:
    return by(HELD_IN_NUMPY.random, tokens, target, draft)


def taken_as_an_argument(tokens: Any, target: Any, draft: Any, rng: np.random.Generator) -> int:
    return by(rng.random, tokens, target, draft)


def of_a_key(key: tuple[int, ...], tokens: Any, target: Any, draft: Any) -> int:
    keys = iter(split(key, 9))
    return by(lambda: uniform(next(keys)), tokens, target, draft)


def of_a_given_key(tokens: Any, target: Any, draft: Any) -> int:
    return of_a_key(GivenKey((0,)), tokens, target, draft)


def of_a_key_of_its_own(tokens: Any, target: Any, draft: Any) -> int:
    return of_a_key((0,), tokens, target, draft)


def made_of_entropy(tokens: Any, target: Any, draft: Any) -> int:
    random.seed()
    return by(np.random.default_rng().random, tokens, target, draft)


CURED = [seeded_outside, numpy_s_seeded_outside, taken_as_an_argument, of_a_given_key, made_of_entropy]


def test_a_key_of_jax_seeds_nothing_where_the_caller_gave_it() -> None:
    assert "seeds a generator itself" in left_open(of_a_key_of_its_own)


@pytest.mark.parametrize("sampler", CURED)
def test_the_cures_that_it_names_are_lossless(sampler: Any) -> None:
    assert isinstance(check_sampler(sampler, TARGET, DRAFT), Lossless)


def twice_one_seed(tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    if random.Random(7).random() < target[x] / draft[x]:
        return x
    # The number by which the draft was rejected, once more.
    left = [max(t - d, 0 * t) for t, d in zip(target, draft, strict=True)]
    return random.Random(7).choices(range(len(left)), left)[0]


def test_what_no_seed_makes_right_stays_lossy() -> None:
    assert isinstance(check_sampler(twice_one_seed, TARGET, DRAFT), Lossy)


def of_a_clock(tokens: Any, target: Any, draft: Any) -> int:
    return by(random.Random(time.time_ns()).random, tokens, target, draft)


def test_a_seed_of_a_clock_is_refused_with_the_clock_s_name() -> None:
    # Python took no object for a seed, and said so in place of the reason.
    verdict = check_sampler(of_a_clock, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert "time.time_ns" in verdict.explanation


KEPT, KEPT_IN_NUMPY, OLD = random.Random(7), np.random.default_rng(1234), np.random.RandomState(3)
STATES = KEPT.getstate(), KEPT_IN_NUMPY.bit_generator.state, OLD.get_state()
OF_THE_MODULES = random.getstate(), np.random.get_state()  # noqa: NPY002


def set_back_in_python(tokens: Any, target: Any, draft: Any) -> int:
    KEPT.setstate(STATES[0])
    return by(KEPT.random, tokens, target, draft)


def the_module_set_back(tokens: Any, target: Any, draft: Any) -> int:
    random.setstate(OF_THE_MODULES[0])
    return by(random.random, tokens, target, draft)


def set_back_in_numpy(tokens: Any, target: Any, draft: Any) -> int:
    KEPT_IN_NUMPY.bit_generator.state = STATES[1]
    return by(KEPT_IN_NUMPY.random, tokens, target, draft)


def set_back_in_old_numpy(tokens: Any, target: Any, draft: Any) -> int:
    OLD.set_state(STATES[2])
    return by(OLD.random_sample, tokens, target, draft)


def old_numpy_set_back(tokens: Any, target: Any, draft: Any) -> int:
    np.random.set_state(OF_THE_MODULES[1])  # noqa: NPY002
    return by(np.random.random_sample, tokens, target, draft)


SET_BACK = [set_back_in_python, the_module_set_back, set_back_in_numpy, set_back_in_old_numpy, old_numpy_set_back]


@pytest.mark.parametrize("sampler", SET_BACK)
def test_one_state_in_each_call_is_left_open(sampler: Any) -> None:
    assert "the function sets a generator to one state that it kept, in call after call" in left_open(sampler)


def puts_python_back(tokens: Any, target: Any, draft: Any) -> int:
    state = KEPT.getstate()
    token = by(KEPT.random, tokens, target, draft)
    KEPT.setstate(state)
    return token


def puts_numpy_back(tokens: Any, target: Any, draft: Any) -> int:
    state = KEPT_IN_NUMPY.bit_generator.state
    token = by(KEPT_IN_NUMPY.random, tokens, target, draft)
    KEPT_IN_NUMPY.bit_generator.state = state
    return token


def puts_old_numpy_back(tokens: Any, target: Any, draft: Any) -> int:
    state = np.random.get_state()  # noqa: NPY002
    token = by(np.random.random_sample, tokens, target, draft)
    np.random.set_state(state)  # noqa: NPY002
    return token


def puts_one_back_and_draws_from_another(tokens: Any, target: Any, draft: Any) -> int:
    x, state = tokens[0], KEPT.getstate()
    kept = KEPT.random() < target[x] / draft[x]
    KEPT.setstate(state)
    left = [max(t - d, 0 * t) for t, d in zip(target, draft, strict=True)]
    other = random.choices(range(len(left)), left)[0]
    return x if kept else other


def test_one_of_two_generators_is_put_back() -> None:
    """Whether a draft is kept is settled by the draft; what is drawn in its place, after that, is not."""
    verdict = check_sampler(puts_one_back_and_draws_from_another, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert "draws from a generator and sets it back to where it was" in verdict.explanation


@pytest.mark.parametrize("sampler", [puts_python_back, puts_numpy_back, puts_old_numpy_back])
def test_a_generator_that_is_put_back_after_each_call_is_left_open(sampler: Any) -> None:
    assert "draws from a generator and sets it back to where it was" in left_open(sampler)


def looks_at_python_s(tokens: Any, target: Any, draft: Any) -> int:
    state = KEPT.getstate()
    KEPT.setstate(state)
    return by(KEPT.random, tokens, target, draft)


def looks_at_another_of_python_s(tokens: Any, target: Any, draft: Any) -> int:
    state = KEPT.getstate()
    token = by(random.random, tokens, target, draft)
    KEPT.setstate(state)
    return token


def looks_at_numpy_s(tokens: Any, target: Any, draft: Any) -> int:
    KEPT_IN_NUMPY.bit_generator.state = KEPT_IN_NUMPY.bit_generator.state
    return by(KEPT_IN_NUMPY.random, tokens, target, draft)


@pytest.mark.parametrize("sampler", [looks_at_python_s, looks_at_another_of_python_s, looks_at_numpy_s])
def test_a_generator_that_moves_on_is_followed(sampler: Any) -> None:
    """The controls: a state that is read and set again at once changes nothing."""
    assert isinstance(check_sampler(sampler, TARGET, DRAFT), Lossless)
