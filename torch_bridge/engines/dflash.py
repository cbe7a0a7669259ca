"""dflash: drafts of a block at once, verified as a chain; filters of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive


def _run(module: Any, step: Step) -> Sequence[int]:
    sampling = (step.options.temperature, step.options.top_p or 1.0, step.options.top_k or 0)
    drafts: list[int] = []
    for _ in range(step.lookahead):
        last = step.rows(step.draft, drafts)[None, -1:]
        drafts.append(int(module._sample_probs(module._sampling_probs(last, *sampling))))
    target = module._sampling_probs(step.rows(step.target, drafts)[None], *sampling)
    draft = module._sampling_probs(step.rows(step.draft, drafts)[None, :-1], *sampling)
    many, token = module._rejection_sample(torch.tensor([drafts]), target, draft)
    return [*drafts[:many], int(token)]


ENGINES = (
    Engine(
        name="dflash",
        source=Archive(
            "dflash",
            "0.1.0",
            "dflash-0.1.0-py3-none-any.whl",
            "b3fe38d9413efc30a952c8b38b34f1dcc696ba6d7b865acbf540a34cc53afaa2",
        ),
        module="dflash.model",
        function="_rejection_sample",
        rule="chain",
        run=_run,
        control=Edit("residual.sub_(draft_probs[0, accepted])", "residual.sub_(0)"),
        options=("temperature > 0", "top_k", "top_p"),
        stubs=("transformers", "loguru"),
    ),
)
