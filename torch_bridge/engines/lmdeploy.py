"""lmdeploy: the portable verification of its PyTorch backend; recovered tokens by a race of exponentials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive

ARCHIVE = Archive(
    "lmdeploy",
    "0.18.0",
    "lmdeploy-0.18.0-cp311-cp311-manylinux_2_28_x86_64.whl",
    "e6790a25dcdb0345c160567fdf2ac604fec319389523a8b806834c9d92c8ffe1",
)


def _runs(one_hot: bool) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        drafts = step.drafted()
        target, reported = step.rows(step.target, drafts)[None], step.rows(step.draft, drafts)[None, :-1].exp()
        bonus = torch.multinomial(target[0, -1].softmax(-1), 1)
        sampler = module.DefaultRejectionSamplingImpl()
        found, _, _ = sampler.forward(
            target[:, :-1],
            torch.tensor([drafts]),
            bonus,
            is_greedy=None,
            draft_probs=None if one_hot else reported,
        )
        return [token for token in found[0].tolist() if token >= 0]

    return run


MODULE, CLASS = "lmdeploy.pytorch.backends.default.rejection_sampling", "DefaultRejectionSamplingImpl.forward"
REMOVED = Edit("(target_probs - draft_probs)", "(target_probs)")
KEPT = Edit("random_accepted = target_draft_probs >= uniform_probs", "random_accepted = target_draft_probs < 2")
ABSENT = ("transformers", "psutil")
ENGINES = (
    Engine("lmdeploy", ARCHIVE, MODULE, CLASS, "chain", _runs(False), REMOVED, stubs=ABSENT),
    Engine("lmdeploy one-hot", ARCHIVE, MODULE, CLASS, "one-hot", _runs(True), KEPT, stubs=ABSENT),
)
