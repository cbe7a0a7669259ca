"""Sequoia: trees of drafts without replacement (SpecTree) and with it (SpecInferTree), kept for a whole text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch

from spec_math.language.model import Model
from torch_bridge.engines.engine import PROMPT, Defect, Edit, Engine, Step
from torch_bridge.engines.source import Repository

FIRST = 3
"""The first token that ends no text: tokens 0 and 2 do."""
LONGEST = 24


class _Laws:
    """A model as the tree calls it: the laws after the nodes that stand at some places of the tree's tokens."""

    def __init__(self, law: Model) -> None:
        self.law, self.tree, self.dtype = law, None, torch.float32
        self.engine = SimpleNamespace(max_length=LONGEST, kv_cache=SimpleNamespace(gather_kv_incremental=_nothing))

    def inference(self, input_ids: torch.Tensor, storage_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        tokens = input_ids[0].tolist() if self.tree is None else self.tree.tokens.tolist()
        first = len(tokens) if self.tree is None else self.tree.ground_truth_len
        rows = [self._row(_above(place, first, tokens)) for place in storage_ids.tolist()]
        return torch.tensor(rows)[None].log()

    graph_inference = inference

    def _row(self, text: list[int]) -> list[float]:
        return [0.0] * FIRST + [float(mass) for mass in self.law(tuple(token - FIRST for token in text[len(PROMPT) :]))]


def _nothing(*_: Any) -> None: ...


def _above(place: int, first: int, tokens: list[int]) -> list[int]:
    """Return the text up to a place: the tree's two paths take turns in what comes after the first tokens."""
    path = range(first + (place - first) % 2, place + 1, 2) if place >= first else ()
    return [*tokens[: min(place + 1, first)], *(tokens[one] for one in path)]


def _started(module: Any, name: str, step: Step) -> Any:
    """Return a tree of two paths: the root has two children, and each node after it one."""
    depth, size = step.lookahead, 2 * step.lookahead + 1
    grown = {
        "size": size,
        "roots": [[0], *([2 * n - 1, 2 * n] for n in range(1, depth + 1))],
        "branches": [[2], *[[1, 1]] * (depth - 1)],
        "Successors": [[1, 2], *([n + 2] if n + 2 < size else [] for n in range(1, size))],
        "mask": torch.ones(size, size),
        "depth": torch.tensor([(n + 1) // 2 for n in range(size)]),
    }
    draft, target = _Laws(step.draft), _Laws(step.target)
    utils = sys.modules[module.get_residual.__module__]
    sampled = utils.sampling_without_replacement
    heat, many = step.options.temperature, [2, *[1] * (depth - 1)]
    tree = getattr(module, name)(
        draft,
        target,
        torch.tensor([token + FIRST for token in step.prompt]),
        temperature=heat,
        top_p=1.0,
        max_length=LONGEST,
        max_target_seq=LONGEST,
        vocab_size=FIRST + len(step.target(())),
        grow_map=grown,
        attn_mask=torch.zeros(LONGEST, LONGEST),
        position_ids=torch.zeros(LONGEST, dtype=torch.int64),
        residual_graph=utils.get_residual,
        sampling_callables=[partial(sampled, num_samples=one, temperature=heat) for one in many],
        sample_gather_indices=[torch.arange(2)] * depth,
    )
    draft.tree = target.tree = tree
    return tree


def _runs(name: str) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        if "tree" not in step.kept:
            step.kept["tree"] = _started(module, name, step)
        tree = step.kept["tree"]
        tree.construct_grow_map()
        return [token - FIRST for token in tree.verify()[0].tolist()[len(step.prompt) :]]

    return run


MOVED = Defect(
    "The token after the accepted ones is written to its place before the accepted ones are moved to theirs, and may "
    "overwrite one of them.",
    (
        Edit(
            "                self.tokens[accept_length] = residual.multinomial(num_samples=1, replacement=True)\n\n"
            "        self.tokens[:accept_length] = self.tokens[accept_list]",
            "                last = residual.multinomial(num_samples=1, replacement=True)\n"
            "        self.tokens[:accept_length] = self.tokens[accept_list]\n"
            "        if not terminal:\n"
            "            self.tokens[accept_length] = last",
        ),
    ),
)


KEPT = Defect(
    "Coins and noise are drawn once for a text and indexed by a token's place: a rejected draft's place is tried again "
    "in the next round with the same numbers.",
    (
        Edit(
            "self.target_kv_len = len(accept_list)",
            "self.target_kv_len = len(accept_list)\n"
            "        self.r, self.rand = torch.rand(len(self.r)), torch.rand(self.rand.shape)",
        ),
    ),
    rounds=2,
)
HALF = Edit("dtype = torch.float16)", "dtype = torch.float32)")
"""Its coins and logits are in half precision on a GPU; they are in float32 here."""


def _engine(name: str, rule: str, **known: Any) -> Engine:
    return Engine(
        name=f"Sequoia {name}",
        source=Repository("Infini-AI-Lab/Sequoia"),
        module=f"Tree.{name}",
        function=f"{name}.verify",
        rule=rule,
        run=_runs(name),
        given={"Engine.Engine": {}},
        edits=(HALF._replace(module="Tree.Tree"), *({"SpecInferTree": (HALF,)}.get(name, ()))),
        most=2,
        slow=True,
        defects=(MOVED, KEPT),
        **known,
    )


ENGINES = (
    _engine("SpecTree", "tree without replacement", control=Edit("p[token] > r * q[token]", "p[token] > -1")),
    _engine("SpecInferTree", "tree with replacement", control=Edit("p[token] >= r * q[token]", "p[token] >= 0")),
)
