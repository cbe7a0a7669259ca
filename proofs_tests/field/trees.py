"""Stand-ins for EAGLE's and Medusa's evaluate_posterior, of the same signature and meaning, written for these tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")

import torch

from spec_math.field.engines.trees import drafted_tree, typical_step
from spec_math.files.place import executed, module_from
from spec_math.language.model import Model
from spec_math.pathwise.exploration import Explored
from torch_bridge.randomness.source import explore


def evaluate_posterior(logits: Any, candidates: Any, logits_processor: Any) -> tuple[Any, int, Any]:
    """Go down the tree: test the children one after the other, each as one-hot, and zero those that are rejected."""
    row, depth = 0, 0
    alive = torch.ones(len(candidates), dtype=torch.bool)
    masses = logits_processor(None, logits[row, depth][None])[0].softmax(-1)
    while depth + 1 < candidates.shape[1]:
        kept = None
        tried: list[int] = []
        for place in alive.nonzero().flatten().tolist():
            token = candidates[place, depth + 1].item()
            if token == -1 or token in tried:
                continue
            tried.append(token)
            if random.random() <= masses[token]:
                kept = place
                break
            masses[token] = 0
            masses = masses / masses.sum()
        if kept is None:
            break
        row, depth = kept, depth + 1
        alive &= (candidates[:, : depth + 1] == candidates[row, : depth + 1]).all(-1)
        masses = logits_processor(None, logits[row, depth][None])[0].softmax(-1)
    return torch.tensor(row), depth, masses


def evaluate_typical(
    logits: Any, candidates: Any, temperature: float, posterior_threshold: float = 0.3, posterior_alpha: float = 0.09
) -> tuple[Any, Any]:
    """Keep a draft where its mass exceeds min(threshold, alpha·e^-entropy): typical acceptance, without a coin."""
    laws = (logits[:, :-1] / temperature).softmax(-1)
    masses = laws.gather(-1, candidates[:, 1:, None])[..., 0]
    entropy = torch.distributions.Categorical(probs=laws, validate_args=False).entropy()
    limits = torch.clamp(posterior_alpha * torch.exp(-entropy), max=posterior_threshold)
    kept = (masses > limits).cumprod(-1).sum(-1)
    return kept.argmax(), kept.max()


def eagle_law(
    evaluate: Callable[..., Any],
    target: Model,
    paths: Sequence[tuple[int, ...]],
    processor: Any = lambda _, scores: scores,
    dtype: torch.dtype = torch.float64,
) -> Explored:
    """The exact law of the tokens that EAGLE's function emits from a drafted tree, and one drawn after them."""
    tree = drafted_tree(target, paths, dtype)

    def run() -> tuple[int, ...]:
        handed = tree.copied()
        best, accepted, masses = evaluate(handed.logits, handed.candidates, processor)
        return (*handed.accepted(best, accepted), int(torch.multinomial(masses, 1).item()))

    found = explore(run)
    assert isinstance(found, Explored)
    return found


def medusa_law(
    evaluate: Callable[..., Any], target: Model, paths: Sequence[tuple[int, ...]], temperature: float = 1.0, **how: Any
) -> Explored:
    """The exact law of the tokens that Medusa's step emits from a drafted tree, and one drawn after them."""
    tree = drafted_tree(target, paths, fill=0)
    options = {"posterior_threshold": 0.09, "posterior_alpha": 0.3, **how}
    found = explore(lambda: typical_step(evaluate, tree, temperature, **options))
    assert isinstance(found, Explored)
    return found


def from_file(path: str | Path, name: str) -> Any:
    """What a file of one's own calls `name`."""
    return getattr(executed(module_from(Path(path), Path(path).stem)), name)
