"""Batches of drafted chains, exact and in floats, and what a program emits on a row of their uniforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from proofs_tests.block_level.column_coin import replay_row
from spec_math import array_coin
from spec_math.arrays import array_namespace, exact
from spec_math.block_level.batch.array_form import Decide, decide_block, decide_chain
from spec_math.block_level.conditionals import Conditionals


@dataclass(frozen=True)
class Batch:
    """targets [B, L + 1, V], drafts [B, L, V], tokens [B, L], uniforms [B, L + 1]."""

    targets: Any
    drafts: Any
    tokens: Any
    uniforms: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.targets, self.drafts, self.tokens, self.uniforms))


def replayed(verify: Callable[..., tuple[int, ...]], batch: Batch, row: int) -> list[int]:
    """What the program emits on a row of uniforms, padded with −1."""
    tokens = tuple(int(token) for token in batch.tokens[row] if token >= 0)
    size = len(tokens)
    targets = [batch.targets[row, place] for place in range(size + 1)]
    if not targets[-1].any():
        targets.pop()
    drafts = [batch.drafts[row, place] for place in range(size)]
    emitted = replay_row(lambda coin: verify(coin, tokens, targets, drafts), batch.uniforms[row].tolist())
    return [*emitted, *[-1] * (batch.tokens.shape[1] + 1 - len(emitted))]


def exact_batch(pair: Any, lookahead: int, seed: int, rows: int = 12) -> Batch:
    """Chains drawn from a model of Fractions, some cut short, on uniforms of which many lie ON a threshold."""
    rng = np.random.default_rng(seed)
    target, draft = pair
    size = len(target(()))
    laws = Conditionals(target, draft, ())
    targets, drafts = exact(np.zeros((rows, lookahead + 1, size))), exact(np.zeros((rows, lookahead, size)))
    tokens = np.full((rows, lookahead), -1)
    uniforms = exact(rng.integers(0, 60, (rows, lookahead + 1))) / 60
    for row in range(rows):
        path: tuple[int, ...] = ()
        for place in range(int(rng.integers(1, lookahead + 1))):
            targets[row, place], drafts[row, place] = laws.target(path), laws.draft(path)
            token = int(rng.choice(np.flatnonzero(laws.draft(path) > 0)))
            tokens[row, place] = token
            path = (*path, token)
            if laws.ends(path):
                break
        if not laws.ends(path):
            targets[row, len(path)] = laws.target(path)
    batch = Batch(targets, drafts, tokens, uniforms)
    for place in range(lookahead):  # a third of the coins exactly on their chance, a third of the draws on a border
        for decide in (decide_chain, decide_block):
            chances = decide(*batch).chances[:, place]
            there = (rng.random(rows) < 1 / 6) & (chances < 1)
            uniforms[there, place] = chances[there]
    for decide in (decide_chain, decide_block):
        sums = np.cumsum(decide(*batch).masses, axis=1)
        for row in np.flatnonzero(rng.random(rows) < 1 / 6):
            borders = [border / sums[row, -1] for border in sums[row] if 0 < border < sums[row, -1]]
            if borders:
                uniforms[row, -1] = borders[int(rng.integers(len(borders)))]
    return batch


def float_batch(rng: np.random.Generator, shape: tuple[int, int, int], kind: str) -> Batch:
    """Random float laws with zeros, near or equal laws, ragged chains; `coarse` ones have thresholds in common."""
    rows, lookahead, size = shape
    if kind == "coarse":
        weights = rng.integers(0, 5, (2, rows, lookahead + 1, size)).astype(float)
        weights[..., 0] += 1
    else:
        weights = np.exp(3 * rng.standard_normal((2, rows, lookahead + 1, size)))
        weights[rng.random(weights.shape) < 0.2] = 0
        weights[..., -1] += 1
        near, same = rng.random(rows) < 0.3, rng.random(rows) < 0.2
        weights[1, near] = weights[0, near] * (1 + 1e-9 * rng.standard_normal(weights[0, near].shape))
        weights[1, same] = weights[0, same]
    targets, drafts = weights / weights.sum(axis=-1, keepdims=True)
    drafts = drafts[:, :-1]
    tokens = np.array([[rng.choice(size, p=law) for law in chain_laws] for chain_laws in drafts])
    tokens[np.arange(lookahead) >= rng.integers(1, lookahead + 1, rows)[:, None]] = -1
    uniforms = rng.random((rows, lookahead + 1))
    if kind == "coarse":
        uniforms = np.floor(uniforms * 16) / 16
    return Batch(targets, drafts, tokens, uniforms)


def distance(decide: Decide, batch: Batch) -> Any:
    """How far the uniforms of each block, [B], are from a decision that would be another.

    The least |u − p| over the coins tossed, and the least distance of the last uniform from a border between two
    tokens. Beyond `array_coin.rounding(V)` float64 decides as the program does that is replayed on the same uniforms.
    """
    xp, decisions = array_namespace(batch.tokens), decide(*batch)
    coins = abs(batch.uniforms[:, :-1] - decisions.chances)
    least = array_coin.distance(decisions.masses, batch.uniforms[:, -1])
    for place in range(batch.tokens.shape[1]):
        least = xp.where(decisions.tossed[:, place], xp.minimum(least, coins[:, place]), least)
    return least
