"""Samplers that draw from NumPy's generators, new and old."""
# ruff: noqa: ARG001, NPY002 - samplers as people write them

import numpy as np


def residual(target, draft):
    """Return max(0, target − draft), divided by its sum."""
    rest = np.maximum(target - draft, 0)
    return rest / rest.sum() if rest.sum() else target


def generator(tokens, target, draft):
    """Rejection of one draft, with a new generator."""
    rng = np.random.default_rng()
    x = tokens[0]
    return x if rng.random() < target[x] / draft[x] else rng.choice(len(target), p=residual(target, draft))


def legacy(tokens, target, draft):
    """Rejection of one draft, with the functions of np.random."""
    x = tokens[0]
    if np.random.rand() < target[x] / draft[x]:
        return x
    return np.random.choice(len(target), p=residual(target, draft))


def turned(tokens, target, draft):
    """Rejection by the ratio turned over."""
    x = tokens[0]
    return x if np.random.uniform() < draft[x] / target[x] else np.random.choice(len(target), p=residual(target, draft))


def race(target, draft):
    """Draw from the target by a race of exponentials."""
    noise = np.random.default_rng().standard_exponential(len(target))
    return int(np.argmin(noise / target))


def race_of_draft(target, draft):
    """Draw from the draft's distribution by a race of exponentials."""
    return int(np.argmin(np.random.exponential(size=len(target)) / draft))


def gumbel(target, draft):
    """Draw from the target by Gumbel noise."""
    return int(np.argmax(np.log(target) + np.random.default_rng().gumbel(size=len(target))))


def whole(tokens, target, draft, rng: np.random.Generator):
    """Draw a token evenly, whatever the target."""
    return int(rng.integers(len(target)))


def chosen(tokens, target, draft):
    """Draw a token evenly, by choice."""
    return np.random.default_rng().choice(len(target))
