"""vllm-rbln: the PyTorch twin of its rejection sampler, with sampled drafts and with looked-up ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive
from torch_bridge.stand_ins.unpinned import uniform_probs

ARCHIVE = Archive(
    "vllm-rbln",
    "0.12.0",
    "vllm_rbln-0.12.0-py3-none-any.whl",
    "0af77bcf84421b15ffbb9625b880ce2184f6afa4cc720e91dd2c904d19ee2263",
)
OWN = ("envs", "compilation", "logger", "platform")
GIVEN: dict[str, dict[str, Any]] = {f"vllm_rbln.{one}": {} for one in OWN}
GIVEN["vllm_rbln.v1.sample.ops.top_k_top_p"] = {"GREEDY_TEMPERATURE": 0}
GIVEN["vllm.v1.sample.rejection_sampler"] = {"generate_uniform_probs": uniform_probs}


def _runs(one_hot: bool) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        drafts = step.drafted()
        target = step.rows(step.target, drafts).softmax(-1)
        draft = None if one_hot else step.rows(step.draft, drafts)[:-1].exp().contiguous()
        metadata = SimpleNamespace(all_greedy=False, all_random=True, temperature=torch.ones(1), generators={})
        many, bonus = len(drafts), torch.multinomial(target[-1], 1)[None]
        laws = draft, target[:-1].contiguous(), bonus
        tokens = torch.tensor(drafts, dtype=torch.int32)
        found = module.torch_rejection_sample(tokens, [many], many, torch.tensor([many]), *laws, metadata)
        return [token for token in found[0].tolist() if token >= 0]

    return run


def _engine(name: str, rule: str) -> Engine:
    module, function = "vllm_rbln.v1.sample.rbln_rejection_sampler", "torch_rejection_sample"
    control = Edit("accept = accept & ~invalid_mask", "accept = ~invalid_mask")
    return Engine(name, ARCHIVE, module, function, rule, _runs(rule == "one-hot"), control, (), ("vllm",), GIVEN)


ENGINES = (_engine("vllm-rbln", "chain"), _engine("vllm-rbln one-hot", "one-hot"))
