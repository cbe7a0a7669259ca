"""A comparison of blocks draws what it adds as independent from streams of their own, all from one seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.language import NGram
from spec_math.studies.arguments import no_progress
from spec_math.studies.blocks import comparison
from spec_math.studies.blocks.comparison import BlockModels, BlockRequest, compare_blocks


def streams_of(compared: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, ...]]:
    """The first uniforms of each source that a comparison makes, in order."""
    made: list[tuple[float, ...]] = []
    fresh = np.random.default_rng
    with monkeypatch.context() as patched:
        patched.setattr(np.random, "default_rng", lambda seed: made.append(tuple(fresh(seed).random(4))) or fresh(seed))
        compared()
    return made


def test_what_is_sampled_with_one_seed_is_not_drawn_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain mean and a gain are added as independent: their uniforms come from streams of their own."""
    target, draft = NGram.learn([0, 1, 1, 0, 2, 1], 2, 3), NGram.learn([0, 1, 2, 2, 1, 0], 2, 3)
    request = BlockRequest(BlockModels(target, draft, ((0,), (1,)), 3, "two"), (2,), (2,), 8, seed=7)
    gains, plain = streams_of(lambda: compare_blocks(request, no_progress), monkeypatch)
    assert set(gains).isdisjoint(plain)
    # The control: one stream for both.
    monkeypatch.setattr(comparison, "_another", lambda seed: np.random.default_rng(seed))
    gains, plain = streams_of(lambda: compare_blocks(request, no_progress), monkeypatch)
    assert gains == plain
