"""TensorRT-LLM: the torch functions of its sampler that verify drafts, called as the sampler calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Repository
from torch_bridge.stand_ins.unpinned import Unpinned


def _run(module: Any, step: Step) -> Sequence[int]:
    module.torch = Unpinned()
    generator, options = step.kept.setdefault("generator", torch.Generator()), step.options
    sampling = {"top_k": options.top_k or 3, "top_p": options.top_p or 1.0, "temperature": options.temperature}
    drafts: list[int] = []
    laws: list[torch.Tensor] = []
    for _ in range(step.lookahead):
        token, law = module.top_k_top_p_sampling_batch(step.rows(step.draft, drafts)[-1:], **sampling)
        drafts.append(int(token))
        laws.append(law[0])
    tokens, target = module.top_k_top_p_sampling_batch(step.rows(step.target, drafts), **sampling)
    rejected = module.get_rejected_indices(torch.stack(laws), target, generator, drafts)
    if rejected.numel() == 0:
        return [*drafts, int(tokens[-1])]
    kept = int(rejected[0])
    return [*drafts[:kept], module.sample_rejected(torch.stack(laws), target, generator, kept)]


ENGINES = (
    Engine(
        name="TensorRT-LLM",
        source=Repository("NVIDIA/TensorRT-LLM"),
        module="tensorrt_llm._torch.pyexecutor.sampling_utils",
        function="get_rejected_indices, sample_rejected",
        rule="chain",
        run=_run,
        control=Edit("new = last_target - last_draft", "new = last_target"),
        options=("temperature > 0", "top_k", "top_p"),
        given={"tensorrt_llm.bindings.executor": {}, "tensorrt_llm.sampling_params": {}},
    ),
)
