"""Stand-ins for EAGLE's and Medusa's evaluate_posterior, of the same signature and meaning, written for these tests."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")

import torch


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
    logits: Any,
    candidates: Any,
    temperature: float,
    posterior_threshold: float = 0.3,
    posterior_alpha: float = 0.09,
) -> tuple[Any, Any]:
    """Keep a draft where its mass exceeds min(threshold, alpha·e^-entropy): typical acceptance, without a coin."""
    laws = (logits[:, :-1] / temperature).softmax(-1)
    masses = laws.gather(-1, candidates[:, 1:, None])[..., 0]
    entropy = torch.distributions.Categorical(probs=laws, validate_args=False).entropy()
    limits = torch.clamp(posterior_alpha * torch.exp(-entropy), max=posterior_threshold)
    kept = (masses > limits).cumprod(-1).sum(-1)
    return kept.argmax(), kept.max()
