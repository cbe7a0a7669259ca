"""vllm-ascend on a batch of two requests with temperatures of their own, of which the first is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch

from torch_bridge.engines.engine import PLAIN, Edit, Engine, Step
from torch_bridge.engines.vllm_ascend import ARCHIVE, GIVEN
from torch_bridge.stand_ins.unpinned import Unpinned


def _run(module: Any, step: Step) -> Sequence[int]:
    module.torch = Unpinned()
    many, drafts = step.lookahead, replace(step, options=PLAIN).drafted()
    target, draft = step.rows(step.target, drafts), step.rows(step.draft, drafts)[:-1].exp()
    # The other request's drafts are certain and kept, so that its coins decide nothing.
    sure = torch.eye(draft.shape[-1])[[0] * many]
    heats = torch.tensor([step.options.temperature, 1.0])
    metadata = SimpleNamespace(
        all_greedy=False, all_random=False, temperature=heats, generators={}, top_k=None, top_p=None
    )
    ends = torch.tensor([many, 2 * many])
    logits = module.apply_sampling_constraints(torch.cat([target[:-1], sure.log()]), ends, metadata)
    last = (target[-1] / (step.options.temperature or 1e-3)).softmax(-1)
    found = module.rejection_sample(
        torch.tensor([*drafts, *[0] * many], dtype=torch.int32),
        [many, many],
        many,
        ends,
        torch.cat([draft, sure]),
        logits.contiguous(),
        torch.stack([torch.multinomial(last, 1), torch.tensor([0])]).int(),
        metadata,
    )
    return [token for token in found[0].tolist() if token >= 0]


def _unfiltered(logits: torch.Tensor, *_: Any) -> torch.Tensor:
    return logits


SAMPLER = {"apply_top_k_top_p": _unfiltered}
ENGINES = (
    Engine(
        name="vllm-ascend mixed batch",
        source=ARCHIVE,
        module="vllm_ascend.sample.rejection_sampler",
        function="rejection_sample",
        rule="chain",
        run=_run,
        control=Edit(
            "target_token_probs / draft_token_probs >= uniform_token_probs",
            "(target_token_probs >= 0)",
        ),
        options=("temperature",),
        stubs=("vllm",),
        given={**GIVEN, "vllm_ascend.sample.sampler": SAMPLER},
        most=2,
    ),
)
