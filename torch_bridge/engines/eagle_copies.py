"""EAGLE's `evaluate_posterior` and a copy of it: two drafted paths, tested token by token as one-hot drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from torch_bridge.engines.drafted_tree import drafted_tree
from torch_bridge.engines.engine import Edit, Engine, Step, Text
from torch_bridge.engines.source import Archive, Repository


def likeliest_paths(step: Step) -> list[Text]:
    """Return two drafted paths: the draft's two likeliest first tokens, each continued by its likeliest ones.

    >>> likeliest_paths(Step(lambda text: [0.5, 0.5], lambda text: [0.25, 0.75], 2))
    [(1, 1), (0, 1)]
    """
    paths: list[Text] = []
    for first in np.argsort(-np.array(step.draft(step.text)), kind="stable")[:2].tolist():
        path: Text = (first,)
        while len(path) < step.lookahead:
            path = (*path, int(np.argmax(step.draft((*step.text, *path)))))
        paths.append(path)
    return paths


def _run(module: Any, step: Step) -> Sequence[int]:
    tree = drafted_tree(lambda text: step.target((*step.text, *text)), likeliest_paths(step), torch.float32)
    best, kept, last = module.evaluate_posterior(tree.logits, tree.candidates, _unchanged)
    token = last if last.numel() == 1 and not last.is_floating_point() else torch.multinomial(last, 1)
    return [*tree.candidates[int(best), 1 : int(kept) + 1].tolist(), int(token)]


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
