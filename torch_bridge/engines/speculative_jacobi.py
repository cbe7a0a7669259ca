"""Speculative Jacobi decoding: its sampler, handed drafts with the laws that they were drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Repository


def _run(module: Any, step: Step) -> Sequence[int]:
    heat, drafts = step.options.temperature, step.drafted()
    target = (step.rows(step.target, drafts) / heat).softmax(-1)
    draft = (step.rows(step.draft, drafts) / heat).softmax(-1).roll(1, 0)  # row i is of the draft in place i

    def warped(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
        return scores / heat

    states = [torch.zeros(1, dtype=torch.long), torch.zeros(1, target.size(-1)), torch.zeros(1, dtype=torch.long)]
    sampler = module.SpeculativeSampler([], [], 2, None, "jacobian_states", *states)
    advanced = torch.cat([torch.zeros(len(drafts), dtype=torch.long), torch.multinomial(target[-1], 1)])
    tokens, laws = torch.tensor([[step.prompt[-1], *drafts]]), (draft[None], target[None])
    kept, found, _ = sampler(tokens, advanced[None], *laws, None, warped, all_collected_input_ids=step.ids())
    return found[0, : kept[0]].tolist()


TWICE = Defect(
    "The logits warper is applied to the logarithm of the residual, which is a difference of laws that were warped: "
    "the temperature divides it once more.",
    (Edit("logits_warper = logits_warper,\n                        all_c", "all_c"),),
)
ENGINES = (
    Engine(
        name="speculative Jacobi",
        source=Repository("tyshiwo1/Accelerating-T2I-AR-with-SJD"),
        module="scheduler.jacobi_iteration_lumina_mgpt",
        function="SpeculativeSampler.__call__",
        rule="chain",
        run=_run,
        control=Edit("token_advanced_prob - token_draft_prob", "token_advanced_prob - 0 * token_draft_prob"),
        options=("temperature > 0",),
        stubs=("transformers", "absl", "scheduler.logit_processor_3dim"),
        defects=(TWICE,),
    ),
)
