"""flashspec: Algorithm 1 on log-probabilities, for sampled drafts and for looked-up ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive

ARCHIVE = Archive(
    "flashspec",
    "0.3.1",
    "flashspec-0.3.1-py3-none-any.whl",
    "c8cfb5588be6529ad4fc98c8ff3823dd91e45a8c5da51c163e34710caf4c84f1",
)


def _step(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    target, draft = step.rows(step.target, drafts)[None], step.rows(step.draft, drafts)[None, :-1]
    many, token = module.rejection_step(torch.tensor([drafts]), draft, target)[0].tolist()
    return [*drafts[:many], token]


def _one_hot(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    target = step.rows(step.target, drafts)[None]
    many, token = module.rejection_step_onehot(torch.tensor([drafts]), target)[0].tolist()
    return [*drafts[:many], token]


CHAIN = Edit(
    "first = torch.where(\n        rejected.any(dim=-1),", "first = torch.where(\n        ~rejected.any(dim=-1),"
)
KEPT = Edit("scatter_(1, x_row, 1.0)", "scatter_(1, x_row, 0.0)")
MODULE = "flashspec.sampling.rejection"
ENGINES = (
    Engine("flashspec chain", ARCHIVE, MODULE, "rejection_step", "chain", _step, CHAIN),
    Engine("flashspec one-hot", ARCHIVE, MODULE, "rejection_step_onehot", "one-hot", _one_hot, KEPT),
)
