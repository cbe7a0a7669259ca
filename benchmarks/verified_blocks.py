"""Blocks of the embedded default: drafted, both models asked for their laws, verified by arrays, against sums of laws.

Run from the project's folder: python -m benchmarks.verified_blocks
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.table import Row, show
from spec_math.array_coin import drawn
from spec_math.block_level.lengths.recorded_text import along
from spec_math.block_level.lengths.recorded_text import drawn as drawn_texts
from spec_math.block_level.methods import AS_A_BLOCK, TOKEN_BY_TOKEN
from spec_math.field.chain_kernel import Decide, decide_block, decide_chain
from spec_math.studies.blocks.comparison import embedded
from spec_math.studies.positions import stream

LOOKAHEAD = 4
CHUNK = 16
"""Blocks in one batch: the laws of 16 blocks are 5 MB, and stay in the second-level cache."""

CHUNKS = 64
TEXTS = 1000
BOUND = 1.5
"""Blocks cost no more than so many running sums over the laws that are asked for: reading them, and adding them up."""


@dataclass
class Clock:
    """Seconds spent on drafting, on the laws of both models, and on verification."""

    drafting: float = 0.0
    laws: float = 0.0
    verification: float = 0.0
    tokens: list[float] = field(default_factory=list[float])

    @property
    def total(self) -> float:
        """All seconds."""
        return self.drafting + self.laws + self.verification


def blocks(decide: Decide, contexts: Any, rng: Any) -> Clock:
    """Draft, ask both models and verify, one batch for each chunk of contexts [n, 4]."""
    models = stream.default_models()
    clock = Clock()
    reach = stream.DRAFT_ORDER - 1
    for begin in range(0, len(contexts), CHUNK):
        known = contexts[begin : begin + CHUNK]
        start = perf_counter()
        seen = [known]
        for _ in range(LOOKAHEAD):
            tokens = models.draft.draw(seen[-1][:, -reach:], rng.random(len(known)))
            seen.append(np.concatenate([seen[-1][:, 1:], tokens[:, None]], axis=1))
        proposed = time_to(clock, "drafting", start)
        stacked = np.stack(seen, axis=1)
        targets = models.target.rows(stacked.reshape(-1, stacked.shape[-1])).reshape(len(known), LOOKAHEAD + 1, -1)
        drafts = models.draft.rows(stacked[:, :-1, -reach:].reshape(-1, reach)).reshape(len(known), LOOKAHEAD, -1)
        asked = time_to(clock, "laws", proposed)
        uniforms = rng.random((len(known), LOOKAHEAD + 1))
        decisions = decide(targets, drafts, stacked[:, 1:, -1], uniforms)
        follows = drawn(decisions.masses, uniforms[:, -1])
        time_to(clock, "verification", asked)
        clock.tokens.append(float((decisions.accepted + (follows >= 0)).mean()))
    return clock


def sums(size: int, rng: Any) -> float:
    """Return the seconds that one running sum takes over as many laws as the models are asked for."""
    laws = rng.random((CHUNK, 2 * LOOKAHEAD + 1, size))
    found = np.zeros_like(laws)  # written to, so that its pages are there
    start = perf_counter()
    for _ in range(CHUNKS):
        np.cumsum(laws, axis=-1, out=found)
    return perf_counter() - start


def time_to(clock: Clock, part: str, since: float) -> float:
    """Add the seconds since a moment to a part, and return the present one."""
    now = perf_counter()
    setattr(clock, part, getattr(clock, part) + now - since)
    return now


def rows(repeats: int = 7) -> list[Row]:
    """Measure every promise."""
    models, rng = embedded(), np.random.default_rng(0)
    contexts = np.stack([models.target.context(prefix) for prefix in models.prefixes])  # type: ignore[attr-defined]
    starts = [models.prefixes[int(place)] for place in rng.integers(len(models.prefixes), size=TEXTS)]
    texts = drawn_texts(models.target, models.draft, starts, LOOKAHEAD, rng)
    found = along(texts, [(TOKEN_BY_TOKEN, 1), (AS_A_BLOCK, 1)]).accepted
    measured: list[Row] = []
    for name, decide, known in (
        ("decide_chain", decide_chain, found[TOKEN_BY_TOKEN, 1]),
        ("decide_block", decide_block, found[AS_A_BLOCK, 1]),
    ):
        blocks(decide, contexts[:CHUNK], rng)
        clocks, ratios = [], []
        for _ in range(repeats):
            clocks.append(blocks(decide, rng.choice(contexts, CHUNK * CHUNKS), rng))
            ratios.append(clocks[-1].total / sums(models.size, rng))
        speeds = [CHUNK * CHUNKS / clock.total for clock in clocks]
        whole = sum(clock.total for clock in clocks)
        shares = ", ".join(
            f"{part} {sum(getattr(clock, part) for clock in clocks) / whole:.0%}"
            for part in ("drafting", "laws", "verification")
        )
        tokens = np.mean([value for clock in clocks for value in clock.tokens])
        what = f"blocks by {name}, V = {models.size:,}, L = {LOOKAHEAD}, one core"
        against = (
            f"a running sum over each law asked for, {median(speeds):,.0f} blocks a second here; {shares}; "
            f"{tokens:.3f} tokens a block, {1 + known.sum(axis=1).mean():.2f} along {TEXTS:,} texts"
        )
        spread = f"{min(ratios):.3g}..{max(ratios):.3g}"
        measured.append(Row(what, median(ratios), BOUND, "×", spread, against))
    return measured


if __name__ == "__main__":
    sys.exit(0 if show(rows(), "Verified blocks per second, one thread") else 1)
