"""Two drafted paths, for engines that are handed a tree: the draft's likeliest tokens, without any coin.

Source: worked out here.
"""

from __future__ import annotations

import numpy as np
import torch

from torch_bridge.engines.drafted_tree import NO_TOKEN, DraftedTree, drafted_tree
from torch_bridge.engines.engine import Step, Text


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


def likeliest_tree(step: Step, fill: int = NO_TOKEN) -> DraftedTree:
    """Lay these paths out as `drafted_tree` does, with the target's laws after the step's text in float32.

    >>> likeliest_tree(Step(lambda text: [0.5, 0.5], lambda text: [0.25, 0.75], 2)).candidates.tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return drafted_tree(lambda text: step.target((*step.text, *text)), likeliest_paths(step), torch.float32, fill)
