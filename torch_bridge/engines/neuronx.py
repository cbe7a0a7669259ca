"""neuronx-distributed-inference: its fused speculation, whose drafts are the draft's likeliest tokens."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Repository

OWN = "neuronx_distributed_inference"
BESIDE = (
    *("models.application_base", "models.config", "models.layer_boundary_marker", "models.model_wrapper"),
    *("modules.async_execution", "modules.attention.attention_process_groups", "modules.attention.utils"),
    *("modules.autobucketing", "modules.eagle.hidden_state", "modules.eagle.token_tree", "modules.flashdecode.utils"),
    *("modules.generation.seq_parallel_logits_slice", "modules.kvcache.block_kv_cache_manager"),
    *("modules.kvcache.data_parallel_kv_cache_manager", "modules.kvcache.kv_cache_manager", "modules.lora_serving"),
    *("utils.distributed", "utils.random"),
)


def _uniforms(like: torch.Tensor) -> torch.Tensor:
    return torch.rand_like(like)


def _run(module: Any, step: Step) -> Sequence[int]:
    decoder = object.__new__(module.NeuronFusedSpecModel)
    decoder.config = SimpleNamespace(pad_token_id=-1)
    drafts: list[int] = []
    for _ in range(step.lookahead):
        drafts.append(int(step.rows(step.draft, drafts)[-1].argmax()))
    target = step.rows(step.target, drafts).softmax(-1)[None]
    ids, sure, all_ids = torch.tensor([drafts]), torch.ones(1, len(drafts)), torch.arange(target.size(-1))
    listed = all_ids.expand(target.shape)
    adjusted = decoder._adjust_target_probs(sure, ids, target, listed, len(drafts))
    drawn = torch.multinomial(adjusted[0], 1).view(1, -1)
    laws = ids, sure, listed[:, :-1], target[:, :-1]
    found, _ = decoder._speculative_token_selection(ids, drawn, *laws)
    return [token for token in found[0].tolist() if token >= 0]


ENGINES = (
    Engine(
        name="neuronx",
        source=Repository("aws-neuron/neuronx-distributed-inference"),
        module=f"{OWN}.models.model_base",
        function="NeuronFusedSpecModel._adjust_target_probs, _speculative_token_selection",
        rule="one-hot, likeliest",
        run=_run,
        control=Edit("sliced_target_probs - adjusted_draft_probs", "sliced_target_probs"),
        stubs=("neuronx_distributed", "torch_xla", "transformers", *(f"{OWN}.{name}" for name in BESIDE)),
        given={f"{OWN}.modules.generation.sampling": {"rand_like": _uniforms}},
        edits=(Edit(f"import {OWN}.modules.autobucketing as autobucketing", "autobucketing = None"),),
    ),
)
