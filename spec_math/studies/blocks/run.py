"""One block as it happened: what was drafted, which coins were tossed, what was kept, and where the walk stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.block_level import spectr
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.method import Method, paths
from spec_math.chance import Coin, replay
from spec_math.recording import Recording, Toss
from spec_math.scheme import Tokens
from spec_math.studies.blocks.models import BlockModels


@dataclass(frozen=True)
class Stop:
    """A node of a walk: the drafts that follow it, the coins tossed there, and the token emitted."""

    candidates: Tokens
    tosses: tuple[Toss, ...]
    emitted: int


@dataclass(frozen=True)
class BlockRun:
    """One block: the drafted paths, the coins of verification, the emitted tokens, and how many of them were drafted.

    `stops` are the nodes of a walk, for methods with a verifier at every node; empty for others.
    """

    prefix: Tokens
    paths: tuple[Tokens, ...]
    tosses: tuple[Toss, ...]
    emitted: Tokens
    accepted: int
    stops: tuple[Stop, ...]

    @property
    def rejected(self) -> Tokens:
        """The drafts that stood where the last token is not one of them, each once."""
        if self.accepted == len(self.emitted):
            return ()
        before, last = self.emitted[: self.accepted], self.emitted[self.accepted]
        following = (path[len(before)] for path in self.paths if path[: len(before)] == before and path != before)
        return tuple(dict.fromkeys(token for token in following if token != last))

    @property
    def shape(self) -> Tokens:
        """How many drafts stood at each node of a walk: 6, 3, 2, 1 in SpecTr's Figure 4."""
        return tuple(len(stop.candidates) for stop in self.stops)


def run(method: Method, models: BlockModels, prefix: Tokens, size: tuple[int, int], rng: Any) -> BlockRun:
    """Generate one block of k paths of L tokens, size = (L, k), with the uniforms of a NumPy Generator.

    Drafting is the first part of every method, so that replaying it on the same uniforms gives the drafted paths.

    Raises:
        ValueError, TypeError: as the method.

    >>> from spec_math.block_level.methods import named
    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> found = run(named("K-SEQ"), BlockModels(table, table, ((),), 2, ""), (), (2, 3), np.random.default_rng(0))
    >>> found.shape[0], found.accepted, len(found.emitted)
    (3, 2, 3)
    """
    lookahead, k = size
    used: list[float] = []
    coin = Recording(_kept(rng, used))
    nodes: list[tuple[Tokens, int, int]] = []

    verifier = method.verifier
    if verifier is None:
        emitted = method.generate(coin, models.target, models.draft, prefix, lookahead, k)
    else:

        def recorded(walking: Coin, drafts: Tokens, target: Array, draft: Array) -> int:
            before = len(coin.tosses)
            nodes.append((drafts, before, verifier(walking, drafts, target, draft)))
            return nodes[-1][2]

        emitted = spectr.generate(coin, models.target, models.draft, prefix, paths(lookahead, k), recorded)
    laws = Conditionals(models.target, models.draft, prefix)
    counted: list[float] = []
    chains = replay(lambda again: method.draft(again, laws, lookahead, k), _kept(_Given(used), counted))
    ends = [before for _, before, _ in nodes[1:]] + [len(coin.tosses)]
    stops = tuple(
        Stop(drafts, tuple(coin.tosses[before:end]), token)
        for (drafts, before, token), end in zip(nodes, ends, strict=False)
    )
    return BlockRun(
        prefix, chains, tuple(coin.tosses[len(counted) :]), emitted, _accepted(emitted, chains, laws), stops
    )


def shaped(
    method: Method, models: BlockModels, size: tuple[int, int], shape: Tokens, seed: int
) -> tuple[BlockRun, int]:
    """Return the first run from a seed on whose walk has this shape and ends without a draft, and its seed.

    Raises:
        ValueError: none of 5,000 seeds has it.

    >>> from spec_math.block_level.methods import named
    >>> from spec_math.language import Table
    >>> target, draft = Table({(): [0.25, 0.75]}, context=0), Table({(): [1.0, 0.0]}, context=0)
    >>> shaped(named("K-SEQ"), BlockModels(target, draft, ((),), 2, ""), (2, 3), (3,), 0)[0].shape
    (3,)
    """
    for number in range(seed, seed + TRIES):
        rng = np.random.default_rng(number)
        found = run(method, models, start(models, rng), size, rng)
        if found.shape == shape and found.accepted == len(shape) - 1:
            return found, number
    raise ValueError(
        f"none of the seeds {seed}..{seed + TRIES - 1} gives a walk with {' → '.join(map(str, shape))} drafts at its "
        "nodes; name a seed to see any run"
    )


TRIES = 5_000


def start(models: BlockModels, rng: Any) -> Tokens:
    """Return one of the prefixes that blocks start from.

    >>> start(BlockModels(None, None, ((1, 2),), 3, ""), np.random.default_rng(0))
    (1, 2)
    """
    return models.prefixes[int(rng.integers(len(models.prefixes)))]


class _Given:
    """Uniforms that were drawn before."""

    def __init__(self, uniforms: list[float]) -> None:
        self._left = iter(uniforms)

    def random(self) -> float:
        return next(self._left)


def _kept(rng: Any, used: list[float]) -> Iterator[float]:
    """Yield the uniforms of rng one by one, and keep each that is taken."""
    while True:
        uniform = float(rng.random())
        used.append(uniform)
        yield uniform


def _accepted(emitted: Tokens, chains: tuple[Tokens, ...], laws: Conditionals) -> int:
    """Return how many emitted tokens are drafted ones: the last never is, unless it ends the text."""
    longest = max(
        next(
            (at for at, (a, b) in enumerate(zip(emitted, chain, strict=False)) if a != b), min(len(emitted), len(chain))
        )
        for chain in chains
    )
    return longest if laws.ends(emitted) else min(longest, len(emitted) - 1)
