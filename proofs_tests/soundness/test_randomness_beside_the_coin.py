"""A verifier with a coin was called with whatever else it drew from: lossless, exactly, by chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs_tests.soundness.audited import verdict_of
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

CODE = """
import os
import secrets
import time
import numpy as np

held, held_in_numpy = random.Random(3), np.random.default_rng(3)
nested = {"rng": [np.random.default_rng(4)]}

def by_the_coin(coin, tokens, target, draft):
    x = tokens[0]
    if coin.flip(min(1, target[x] / draft[x])):
        return x
    left = [max(t - d, t - t) for t, d in zip(target, draft)]
    return coin.draw([mass / sum(left) for mass in left])

def leaking(chance):
    def verify(coin, tokens, target, draft):
        return tokens[0] if chance() < 1e-9 else by_the_coin(coin, tokens, target, draft)
    return verify

global_python = leaking(lambda: random.random())
global_numpy = leaking(lambda: np.random.rand())
module_python = leaking(lambda: held.random())
module_numpy = leaking(lambda: held_in_numpy.random())
nested_numpy = leaking(lambda: nested["rng"][0].random())
fresh_python = leaking(lambda: random.Random().random())
fresh_numpy = leaking(lambda: np.random.default_rng().random())
system = leaking(lambda: random.SystemRandom().random())
entropy = leaking(lambda: secrets.randbelow(10**9) / 10**9)
bytes_read = leaking(lambda: os.urandom(1)[0] / 256 + 1e-8)
clock = leaking(lambda: time.time() % 1)

def swallows(coin, tokens, target, draft):
    try:
        leak = random.random() < 1e-9
    except Exception:
        leak = False
    return tokens[0] if leak else by_the_coin(coin, tokens, target, draft)

CALLS = [0]

def counts_its_calls(coin, tokens, target, draft):
    CALLS[0] += 1
    return tokens[0] if CALLS[0] % 7 == 0 else by_the_coin(coin, tokens, target, draft)

def loops_without_end(coin, tokens, target, draft):
    while True:
        x = coin.draw(draft)
        if coin.flip(target[x] / draft[x] / 4):
            return x

def wrong(coin, tokens, target, draft):
    return tokens[0]
"""

SOURCES = [
    *("global_python", "global_numpy", "module_python", "module_numpy", "nested_numpy", "fresh_python", "fresh_numpy"),
    *("system", "entropy", "bytes_read", "clock", "swallows"),
]


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_verifier_draws_beside_its_coin_leaves_it_open(name: str, tmp_path: Path) -> None:
    verdict = verdict_of(CODE, name, tmp_path)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN


def test_state_from_call_to_call_is_never_lossless_and_a_lossy_law_comes_twice(tmp_path: Path) -> None:
    assert not isinstance(verdict_of(CODE, "counts_its_calls", tmp_path), Lossless | Lossy)
    assert isinstance(verdict_of(CODE, "by_the_coin", tmp_path, k=1), Lossless)
    assert isinstance(verdict_of(CODE, "wrong", tmp_path, k=1), Lossy)


def test_a_loop_without_end_has_spent_its_budget(tmp_path: Path) -> None:
    """It was lossy: ChanceError, one path asks for more than 1,000 coins."""
    verdict = verdict_of(CODE, "loops_without_end", tmp_path, k=1)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.BUDGET
    assert "bound the function's loop" in verdict.explanation
