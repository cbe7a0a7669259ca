"""Live models of random laws, for recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from spec_math.studies.frontier import comparison, contenders, further
from spec_math.studies.frontier.study import FrontierRequest, Header, LivePair

SIZE = 12


ASKED = FrontierRequest(budgets="2,4", temperatures="1,0.5", samples=16)


def unseen(done: int) -> None:
    """Show nothing."""


def quiet(what: str, steps: int) -> Any:  # noqa: ARG001
    return unseen


@contextmanager
def short_blocks() -> Iterator[None]:
    """Blocks of two tokens and two chains."""
    patch = pytest.MonkeyPatch()
    patch.setattr(contenders, "KS", (2,))
    for module in (contenders, comparison):
        patch.setattr(module, "LONGEST", 2)
    patch.setattr(contenders, "DEPTHS", (2,))
    patch.setattr(further, "STEM_KS", (2,))
    try:
        yield
    finally:
        patch.undo()


class Live:
    """A model of random laws that depend on the last token, which counts what it is asked and may stop working."""

    def __init__(self, seed: int, most: int = 10**9) -> None:
        self.rows = np.random.default_rng(seed).dirichlet(np.full(SIZE, 0.3), size=SIZE)
        self.asked, self.most = 0, most

    def __call__(self, prefixes: Sequence[tuple[int, ...]]) -> Any:
        self.asked += len(prefixes)
        if self.asked > self.most:
            raise KeyboardInterrupt
        return np.stack([self.rows[prefix[-1]] for prefix in prefixes])


def pair(keep: int = SIZE, most: int = 10**9) -> LivePair:
    header = Header("big", "small", SIZE, keep, ((0,), (1, 2), (3,)))
    return LivePair(header, Live(0, most), Live(1))
