"""torch's generators, seeded with one number in each call: undecided, as Python's and NumPy's are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from spec_math.verdict import Lossless, Undecided
from torch_bridge import check_sampler

TARGET, DRAFT = ["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"]


def by(generator: torch.Generator | None, tokens: Any, target: Any, draft: Any) -> Any:
    x = tokens[0]
    if torch.rand((), generator=generator) < target[x] / draft[x]:
        return x
    return torch.multinomial((target - draft).clamp(min=0), 1, generator=generator)


def the_default(tokens: Any, target: Any, draft: Any) -> Any:
    torch.manual_seed(0)
    return by(None, tokens, target, draft)


def its_own(tokens: Any, target: Any, draft: Any) -> Any:
    return by(torch.Generator().manual_seed(5), tokens, target, draft)


@pytest.mark.parametrize("sampler", [the_default, its_own])
def test_one_seed_in_each_call_is_left_open(sampler: Any) -> None:
    verdict = check_sampler(sampler, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert "seeds a generator itself" in verdict.explanation


def handed(tokens: Any, target: Any, draft: Any, generator: torch.Generator) -> Any:
    return by(generator, tokens, target, draft)


def test_a_generator_that_it_is_handed_is_followed() -> None:
    assert isinstance(check_sampler(handed, TARGET, DRAFT), Lossless)


KEPT = torch.Generator()
STATE = KEPT.get_state()


def set_back(tokens: Any, target: Any, draft: Any) -> Any:
    KEPT.set_state(STATE)
    return by(KEPT, tokens, target, draft)


def the_default_set_back(tokens: Any, target: Any, draft: Any) -> Any:
    torch.set_rng_state(STATE)
    return by(None, tokens, target, draft)


def the_default_set_back_elsewhere(tokens: Any, target: Any, draft: Any) -> Any:
    torch.random.set_rng_state(STATE)
    return by(None, tokens, target, draft)


@pytest.mark.parametrize("sampler", [set_back, the_default_set_back, the_default_set_back_elsewhere])
def test_one_state_in_each_call_is_left_open(sampler: Any) -> None:
    verdict = check_sampler(sampler, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert "one state that it kept" in verdict.explanation


def put_back(tokens: Any, target: Any, draft: Any) -> Any:
    state = KEPT.get_state()
    token = by(KEPT, tokens, target, draft)
    KEPT.set_state(state)
    return token


def forked(tokens: Any, target: Any, draft: Any) -> Any:
    with torch.random.fork_rng(devices=()):
        return by(None, tokens, target, draft)


@pytest.mark.parametrize("sampler", [put_back, forked])
def test_a_generator_that_is_put_back_after_each_call_is_left_open(sampler: Any) -> None:
    verdict = check_sampler(sampler, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert "draws from a generator and sets it back to where it was" in verdict.explanation


def looked_at(tokens: Any, target: Any, draft: Any) -> Any:
    KEPT.set_state(KEPT.get_state())
    torch.set_rng_state(torch.get_rng_state())
    return by(KEPT, tokens, target, draft)


def test_a_generator_that_moves_on_is_followed() -> None:
    assert isinstance(check_sampler(looked_at, TARGET, DRAFT), Lossless)
