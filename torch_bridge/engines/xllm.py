"""xLLM: its rule as it is written down in `torch_bridge.restated`, for its own code is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Restated


def _run(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    target, draft = step.rows(step.target, drafts).softmax(-1), step.rows(step.draft, drafts)[:-1].softmax(-1)
    tokens, bonus = torch.tensor(drafts), torch.multinomial(target[-1], 1)
    return module.random_sample(tokens, module.kept(tokens, draft), target[:-1], bonus)


ONE = Defect(
    "Of a draft's law only the mass of the drafted token is kept, and the residual subtracts it there alone: the other "
    "tokens that the draft favours come too often after a rejection. With the whole law kept it is right.",
    (Edit("torch.zeros_like(laws).scatter(-1, tokens[:, None], selected)", "laws"),),
)
ENGINES = (
    Engine(
        name="xLLM",
        source=Restated("jd-opensource/xllm 87e8d6e"),
        module="torch_bridge.restated.xllm",
        function="RejectionSampler::random_sample, restated",
        rule="chain",
        run=_run,
        control=Edit("< ratio[:, 0]", "< 2 * ratio[:, 0]"),
        defects=(ONE,),
    ),
)
