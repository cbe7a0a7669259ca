"""EAGLE's `evaluate_posterior` and a copy of it: two drafted paths, tested token by token as one-hot drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.likeliest_tree import likeliest_tree
from torch_bridge.engines.source import Archive, Repository


def _run(module: Any, step: Step) -> Sequence[int]:
    tree = likeliest_tree(step)
    best, kept, last = module.evaluate_posterior(tree.logits, tree.candidates, _unchanged)
    token = last if last.numel() == 1 and not last.is_floating_point() else torch.multinomial(last, 1)
    return [*tree.accepted(best, kept), int(token)]


def _unchanged(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
    return scores


CONTROL = Edit("r <= acp", "r <= 2 * acp")
ENGINES = (
    Engine(
        name="AngelSlim",
        source=Archive(
            "angelslim",
            "0.5.0",
            "angelslim-0.5.0-py3-none-any.whl",
            "66a6ec607419c9eac99c38c8117742fb322b740042875fb5c3950a9a9ed94bc6",
        ),
        module="angelslim.compressor.speculative.utils.util",
        function="evaluate_posterior",
        rule="tree, one-hot",
        run=_run,
        control=CONTROL,
        stubs=("transformers", "modelscope"),
    ),
    Engine(
        name="EAGLE",
        source=Repository("SafeAILab/EAGLE"),
        module="eagle.model.utils",
        function="evaluate_posterior",
        rule="tree, one-hot",
        run=_run,
        control=CONTROL,
        stubs=("transformers",),
    ),
)
