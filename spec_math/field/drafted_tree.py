"""A drafted tree as EAGLE and Medusa hand it over: candidates [paths, depth + 1] and the target's logits along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from spec_math.arrays import as_law
from spec_math.field.engine import Step, Text
from spec_math.language.model import Model

NO_TOKEN = -1
"""What EAGLE fills shorter paths up with; Medusa takes token 0."""


class DraftedTree(NamedTuple):
    """candidates [paths, depth + 1], the root token first; logits [paths, depth + 1, V] of the token after each."""

    candidates: torch.Tensor
    logits: torch.Tensor

    def copied(self) -> DraftedTree:
        """Return a tree of its own: a verifier that writes into its tensors must not spoil the next path.

        >>> drafted_tree(lambda prefix: [0.25, 0.75], [(1,)]).copied().candidates.tolist()
        [[0, 1]]
        """
        return DraftedTree(self.candidates.clone(), self.logits.clone())

    def accepted(self, best: Any, length: Any) -> Text:
        """Return the first tokens of a path, without the root.

        >>> drafted_tree(lambda prefix: [0.25, 0.75], [(0, 1), (1,)]).accepted(0, torch.tensor(1))
        (0,)
        """
        return tuple(self.candidates[int(best), 1 : int(length) + 1].tolist())


def drafted_tree(
    target: Model, paths: Sequence[Text], dtype: torch.dtype = torch.float64, fill: int = NO_TOKEN
) -> DraftedTree:
    """Lay out drafted paths and the logarithms of the target's laws after each of their prefixes.

    The root, token 0 here, stands for what was emitted before. Short paths are filled up with `fill`, and their logits
    with those of the last of the tree's nodes, as an index of -1 finds them.

    Raises:
        ValueError: there is no path, a path is empty, or it holds what is no token of the target.

    >>> tree = drafted_tree(lambda prefix: [0.25, 0.75], [(0, 1), (1,)])
    >>> tree.candidates.tolist(), list(tree.logits.shape)
    ([[0, 0, 1], [0, 1, -1]], [2, 3, 2])
    """
    if not paths or not all(paths):
        raise ValueError(f"a drafted tree needs paths of at least one token each; got {list(paths)}")
    size = len(as_law(target(()), "target"))
    strays = [token for path in paths for token in path if not 0 <= token < size]
    if strays:
        raise ValueError(f"the token {strays[0]} of a drafted path is outside 0..{size - 1}")
    depth = max(map(len, paths))
    candidates = torch.full((len(paths), depth + 1), fill)
    logits = torch.empty(len(paths), depth + 1, size, dtype=dtype)
    last = _row(target, max(paths, key=len), dtype)
    for place, path in enumerate(paths):
        candidates[place, : len(path) + 1] = torch.tensor([0, *path])
        for length in range(depth + 1):
            logits[place, length] = _row(target, path[:length], dtype) if length <= len(path) else last
    return DraftedTree(candidates, logits)


def _row(target: Model, prefix: Text, dtype: torch.dtype) -> torch.Tensor:
    masses: Any = np.asarray(as_law(target(prefix), "target"), dtype=np.float64)
    return torch.tensor(masses).log().to(dtype)


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
