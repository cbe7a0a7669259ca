"""vllm-ascend: the PyTorch functions of its rejection sampler, token by token and, from three drafts on, as a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Archive
from torch_bridge.stand_ins.unpinned import Unpinned, uniform_probs

ARCHIVE = Archive(
    "vllm-ascend",
    "0.18.0",
    "vllm_ascend-0.18.0-cp311-cp311-manylinux_2_24_aarch64.whl",
    "5395dc4065dea188d0fead4a01c20243a92101a27b4e79c23aeacda844a3f690",
)
VLLM = {"GREEDY_TEMPERATURE": 0, "MAX_SPEC_LEN": 128, "PLACEHOLDER_TOKEN_ID": -1}
GIVEN = {
    "vllm.triton_utils": {"HAS_TRITON": False},
    "vllm.v1.sample.rejection_sampler": {**VLLM, "generate_uniform_probs": uniform_probs},
    "vllm_ascend.ops.triton.reject_sample": {},
    "vllm_ascend.sample.sampler": {},
}


def _runs(one_hot: bool) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        module.torch = Unpinned()
        drafts = step.drafted()
        target, draft = step.rows(step.target, drafts), step.rows(step.draft, drafts)[:-1].exp()
        metadata = SimpleNamespace(all_greedy=False, all_random=True, temperature=torch.ones(1), generators={})
        many = len(drafts)
        found = module.rejection_sample(
            torch.tensor(drafts, dtype=torch.int32),
            [many],
            many,
            torch.tensor([many]),
            None if one_hot else draft.contiguous(),
            target[:-1].contiguous(),
            torch.multinomial(target[-1].softmax(-1), 1)[None],
            metadata,
        )
        return [token for token in found[0].tolist() if token >= 0]

    return run


def _engine(name: str, rule: str, old: str, **known: Any) -> Engine:
    module, control = "vllm_ascend.sample.rejection_sampler", Edit(old, "(target_token_probs >= 0)")
    run, function = _runs(rule == "one-hot"), "rejection_sample"
    return Engine(name, ARCHIVE, module, function, rule, run, control, (), ("vllm",), GIVEN, **known)


RATIO = "target_token_probs / draft_token_probs >= uniform_token_probs"
OFF = (Edit("using_block_verify = max_spec_len >= 3 and draft_probs is not None", "using_block_verify = False"),)
BLOCK = Defect(
    "The coins are multiplied with each other as the ratios are, and the residual is that of one token; token by token "
    "it is right. With coins that are no grid all three drafts of the smallest case are kept too often by "
    "(x + x²/2)/8 = 0.53, x = 3·log 2.",
    OFF,
)
ENGINES = (
    _engine("vllm-ascend", "chain", RATIO, most=2),
    _engine("vllm-ascend one-hot", "one-hot", RATIO, most=2),
    _engine("vllm-ascend block", "block", "(pi >= uniform_token_probs)", defects=(BLOCK,), grid=3, narrow=True),
)
