"""A law as a tensor to explore with, loops as short as the compiler needs, and Triton's interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def p() -> Any:
    """The law that explored code draws from, as a tensor."""
    import torch

    from proofs_tests.torch_bridge.randomness.explored_laws import LAW

    return torch.tensor(LAW)


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two or three rounds of the same loops, every kind of round among them: the compiler takes seconds in place of
    minutes. What they find is compared with as many rounds that were not compiled."""
    from spec_math.token_level.batch import plan, rejection

    monkeypatch.setattr(plan, "STEPS", 3)
    monkeypatch.setattr(plan, "BITS", 2)
    monkeypatch.setattr(rejection, "STEPS", 3)


@pytest.fixture
def interpreted() -> Iterator[None]:
    """Kernels run under Triton's interpreter, which puts its language in place once a test."""
    from spec_math.field.source_file import language_once

    with language_once():
        yield
