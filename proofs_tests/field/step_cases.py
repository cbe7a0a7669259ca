"""The zoo's toy laws as arrays of floats, and the laws of its specimens."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")


import torch

from spec_math.block_level.lossless import emitted_law
from spec_math.field.engines.transformers import emitted
from spec_math.field.installed import engine_part
from spec_math.pathwise.exploration import Explored
from spec_math.zoo import ZOO, toy
from torch_bridge.randomness.source import explore

TARGET = np.array([[float(mass) for mass in row] for row in toy.TARGET])


DRAFT = np.array([[float(mass) for mass in row] for row in toy.DRAFT])


TARGET, DRAFT = (rows / rows.sum(-1, keepdims=True) for rows in (TARGET, DRAFT))


def target(prefix: Any) -> Any:
    return TARGET[len(prefix) % 3]


@cache
def known(name: str) -> Any:
    """A specimen's law of three tokens."""
    entry = next(entry for entry in ZOO if entry.name == name)
    assert entry.generate is not None
    return {text: float(mass) for text, mass in emitted_law(entry.generate, toy.target, 3).items()}


def shipped() -> Any:
    return engine_part("transformers.generation.utils", "_speculative_sampling")._speculative_sampling


def step_law(
    target: Any,
    draft: Any,
    weight: float | None = None,
    step: Any = None,
    dtype: torch.dtype = torch.float32,
    grid: int | None = None,
) -> Explored:
    """The exact law of the tokens that one verification step emits for drafts sampled from the draft's rows."""
    target_logits, draft_logits = (torch.tensor(np.asarray(rows, float)).log().to(dtype) for rows in (target, draft))
    drafted_from, verify = draft_logits.softmax(-1), step or shipped()

    def run() -> tuple[int, ...]:
        drafts = torch.multinomial(drafted_from, 1)[:, 0]
        return emitted(verify, drafts, target_logits.clone(), draft_logits.clone(), weight)

    found = explore(run, grid=grid)
    assert isinstance(found, Explored)
    return found


def verify_step(tokens: Any, target: torch.Tensor, draft: torch.Tensor) -> tuple[int, ...]:
    """One verification step on given drafts, as a function that is judged by its signature."""
    return emitted(shipped(), torch.as_tensor(tokens), target.log(), draft.log())
