"""Samplers as people write them, in three shapes and two libraries, right and wrong; none knows of this library."""

# ruff: noqa: NPY002, ARG001 - as people write them; samplers have the arguments of their shape
from __future__ import annotations

import random
from typing import Any

import numpy as np


def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """The library's own shape; k drafts tested in turn against residuals."""
    left = list(target)
    for x in tokens:
        if coin.flip(min(1, left[x] / draft[x])):
            return x
        left = [max(t - d, t - t) for t, d in zip(left, draft, strict=True)]
        left = [mass / sum(left) for mass in left] if sum(left) else list(target)
    return coin.draw(left)


def verify_wrong(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """The rejected draft is corrected from the target."""
    x = tokens[0]
    return x if coin.flip(min(1, target[x] / draft[x])) else coin.draw(list(target))


def step(tokens: Any, target: Any, draft: Any) -> int:
    """Plain Python on its module's generator."""
    x = tokens[0]
    if random.random() * draft[x] < target[x]:
        return x
    return random.choices(range(len(target)), [max(t - d, 0) for t, d in zip(target, draft, strict=True)])[0]


def step_redraws(tokens: Any, target: Any, draft: Any) -> int:
    """M11 in one position."""
    x = tokens[0]
    return x if random.random() * draft[x] < target[x] else random.choices(range(len(target)), target)[0]


def step_of_one_seed(tokens: Any, target: Any, draft: Any) -> int:
    """The coin that rejected, seeded anew, draws the correction."""
    x = tokens[0]
    random.seed(7)
    if random.random() * draft[x] < target[x]:
        return x
    random.seed(7)
    return random.choices(range(len(target)), [max(t - d, 0) for t, d in zip(target, draft, strict=True)])[0]


def whole(target: Any, draft: Any) -> Any:
    """NumPy's old generator; drafts by itself, vectorised."""
    x = np.random.choice(len(draft), p=draft)
    left = np.maximum(target - draft, 0)
    if np.random.rand() < target[x] / draft[x]:
        return x
    return np.argmax(left / np.random.exponential(size=len(target)))


def whole_greedy(target: Any, draft: Any) -> Any:
    """The likeliest draft, tested as if it were sampled: M2."""
    x = draft.argmax()
    left = np.maximum(target - draft, 0)
    return x if np.random.rand() < target[x] / draft[x] else np.random.choice(len(target), p=left / left.sum())


def block(tokens: Any, targets: Any, drafts: Any) -> list[Any]:
    """A chain of drafts, with a Generator of its own."""
    rng = np.random.default_rng()
    for place, x in enumerate(tokens):
        if rng.random() >= targets[place][x] / drafts[place][x]:
            left = np.maximum(targets[place] - drafts[place], 0)
            return [*tokens[:place], rng.choice(len(left), p=left / left.sum())]
    return [*tokens, rng.choice(targets.shape[-1], p=targets[-1])]


def block_without_its_bonus(tokens: Any, targets: Any, drafts: Any) -> list[Any]:
    """The last token from the row before it."""
    return block(tokens, np.concatenate([targets[:-1], targets[-2:-1]]), drafts)


def raises(tokens: Any, target: Any, draft: Any) -> int:
    """A token 0 is taken for a failure, after it was drawn: M38."""
    if tokens[0] == 0:
        raise RuntimeError("no token was sampled")
    return step(tokens, target, draft)


def out_of_range(tokens: Any, target: Any, draft: Any) -> int:
    """A token of the padding."""
    return len(target) if tokens[0] == 0 else step(tokens, target, draft)


def normal(target: Any, draft: Any) -> int:
    """What explore does not follow."""
    return int(np.random.normal() < 0)


CALLS = [0]


def leaks(target: Any, draft: Any) -> int:
    """A count that outlives the call."""
    CALLS[0] += 1
    return int(random.random() < (0.25 if CALLS[0] % 2 else 0.5))


def endless(target: Any, draft: Any) -> int:
    """Many paths: a hundred fair flips before the token."""
    return int(sum(random.random() < 0.5 for _ in range(100)) > 50)


def endless_but_wrong(target: Any, draft: Any) -> int:
    """Token 0 half of the time, at once."""
    return 0 if random.random() < 0.5 else 1 + endless(target, draft)
