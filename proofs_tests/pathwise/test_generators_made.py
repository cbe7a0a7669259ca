"""A generator that a function is handed is made for each call where its kind is plain, and else asked for."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.audit import check_sampler
from spec_math.samplers.call import call_of
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

NUMPY, PYTHON = "np.random.default_rng()", "random.Random()"


def in_numpy(target: Any, draft: Any, rng: Any) -> int:
    token = rng.choice(len(draft), p=draft)
    if rng.random() < target[token] / draft[token]:
        return int(token)
    left = np.maximum(target - draft, 0)
    return int(rng.choice(len(left), p=left / left.sum()))


def without_residual(target: Any, draft: Any, rng: Any) -> int:
    token = rng.choice(len(draft), p=draft)
    return int(token if rng.random() < target[token] / draft[token] else rng.choice(len(target), p=target))


def in_python(rng: Any, target: Any, draft: Any) -> int:
    token = rng.choices(range(len(draft)), weights=list(draft))[0]
    if rng.random() * draft[token] < target[token]:
        return int(token)
    left = [max(0, t - d) for t, d in zip(target, draft, strict=True)]
    return int(rng.choices(range(len(left)), weights=left)[0])


def typed(target: Any, draft: Any, rng: np.random.Generator) -> int:
    return in_numpy(target, draft, rng)


def typed_in_text(target: Any, draft: Any, *, rng: random.Random | None) -> int:
    return in_python(rng, target, draft)


def drawn_from(law: Any, generator: Any) -> int:
    return int(generator.choice(len(law), p=law))


def handed_on(target: Any, draft: Any, rng: Any) -> int:  # noqa: ARG001
    return drawn_from(target, generator=rng)


def with_drafts(draft_tokens: Any, rng: Any, target: Any, draft: Any) -> int:
    token = draft_tokens[0]
    if rng.random() < target[token] / draft[token]:
        return int(token)
    left = np.maximum(target - draft, 0)
    return int(rng.choice(len(left), p=left / left.sum()))


@pytest.mark.parametrize(
    ("sampler", "made"),
    [(in_numpy, NUMPY), (in_python, PYTHON), (typed, NUMPY), (typed_in_text, PYTHON), (with_drafts, NUMPY)],
)
def test_a_generator_of_a_plain_kind_is_made_in_each_call_and_the_verdict_says_so(
    sampler: Callable[..., Any], made: str
) -> None:
    verdict = check_sampler(sampler, ["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"])
    assert isinstance(verdict, Lossless), verdict
    assert f"rng: {made} of each call" in " ".join(verdict.assumed)


def test_a_lossy_sampler_that_is_handed_its_generator_is_rejected() -> None:
    assert isinstance(check_sampler(without_residual, ["1/2", "1/2"], ["3/4", "1/4"]), Lossy)


def seeded_again(target: Any, draft: Any, rng: Any) -> int:  # noqa: ARG001
    rng.seed(3)
    return int(rng.choices(range(len(target)), weights=list(target))[0])


def looked_at(target: Any, draft: Any, rng: Any) -> int:  # noqa: ARG001
    return int(rng.choice(len(target), p=target)) if isinstance(rng, np.random.Generator) else 0


def handed_to_somebody(target: Any, draft: Any, rng: Any) -> int:  # noqa: ARG001
    return int(sorted([0, 1], key=rng)[0])


def spread(target: Any, draft: Any, rng: Any) -> int:  # noqa: ARG001
    return drawn_from(*[target], rng)


def positional_only(target: Any, draft: Any, rng: Any, /) -> int:  # noqa: ARG001
    return int(rng.choice(len(target), p=target))


def old_style(target: Any, draft: Any, rng: Any) -> int:  # noqa: ARG001
    # Between 0 and 1 with Python's generators, always 0 with NumPy's old ones.
    return int(rng.randint(0, 1))


def of_another_type(target: Any, draft: Any, rng: np.random.RandomState) -> int:  # noqa: ARG001
    return int(rng.choice(len(target), p=target))


def of_a_seed(target: Any, draft: Any, seed: Any) -> int:  # noqa: ARG001
    return random.Random(seed).choices([0, 1], weights=list(target))[0]


@pytest.mark.parametrize(
    "sampler",
    [
        seeded_again,
        looked_at,
        handed_on,
        handed_to_somebody,
        spread,
        positional_only,
        of_another_type,
        of_a_seed,
        old_style,
    ],
)
def test_a_generator_of_an_unknown_kind_is_asked_for(sampler: Callable[..., Any]) -> None:
    verdict = check_sampler(sampler, ["1/2", "1/2"], ["3/4", "1/4"])
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.NOT_JUDGED
    assert ("seed" if sampler is of_a_seed else "rng") in verdict.explanation


def test_each_kind_of_generator_is_suggested() -> None:
    def verify(target: Any, draft: Any, rng: Any, /) -> int:  # noqa: ARG001
        return int(rng.choice(len(target), p=target))

    assert f"rng={NUMPY},\n    rng={PYTHON},\n    rng=torch.Generator()," in call_of(verify).unclear
