"""A verifier of the user's that fails at some positions has no mean over the others, and what it raises is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.scheme import Scheme
from spec_math.studies.positions import schemes
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.one_step import OneStep, explain
from spec_math.studies.positions.schemes import FailedVerifierError, verifier_scheme
from spec_math.studies.positions.stream import from_rows
from spec_math.studies.positions.table import result_of
from spec_math.token_level import recursive

COUNT = 12
ENUMERATED, RUN = 4, 300
"""So few tokens that a verifier's paths are walked, and so many that it is run."""


def verify_halfway(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """The maximal coupling without its residual."""
    if coin.flip(min(1, target[tokens[0]] / draft[tokens[0]])):
        return tokens[0]
    raise NotImplementedError("no residual yet")


def nonsense(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    return coin.choose(target) + tokens[0] + len(draft)


def laws(size: int) -> list[np.ndarray[Any, Any]]:
    """Laws that agree at every position but the last, so that the first ones never ask for a residual."""
    drafts = np.random.default_rng(0).dirichlet(np.ones(size), size=COUNT)
    targets = drafts.copy()
    targets[-1] = np.roll(drafts[-1], 1)
    return [targets, drafts]


def line_of(verify: Callable[..., int], size: int, ks: tuple[int, ...]) -> tuple[Any, Any]:
    t, d = laws(size)
    stream = from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (COUNT, size))
    found = compare(stream, [verifier_scheme("mine", verify)], ks, lambda _: None)
    return found.lines[0], result_of(found, {})


@pytest.mark.parametrize("size", [ENUMERATED, RUN])
def test_a_verifier_that_fails_at_one_position_has_no_mean_over_the_others(size: int) -> None:
    line, shown = line_of(verify_halfway, size, (1, 2))
    assert line.failed
    assert [tally.count for tally in (*line.acceptance.values(), *line.gaps.values())] == [0] * 4
    assert "mine" not in [row["scheme"] for row in shown.table("comparison").records()]
    # The control: one that never fails has its mean at each of them.
    line, shown = line_of(recursive.verify, size, (1, 2))
    assert not line.failed
    assert [tally.count for tally in line.acceptance.values()] == [COUNT] * 2
    assert "mine" in [row["scheme"] for row in shown.table("comparison").records()]


@pytest.mark.parametrize("size", [ENUMERATED, RUN])
def test_what_a_verifier_raises_is_named(size: int) -> None:
    scheme, (targets, drafts) = verifier_scheme("mine", nonsense), laws(size)
    ask: Callable[[], Any] = lambda: scheme.acceptance(targets[0], drafts[0], 1)  # noqa: E731
    if size == RUN:
        assert scheme.estimate is not None
        ask = lambda: scheme.estimate(targets[0], drafts[0], 1, 8, np.random.default_rng(0))  # noqa: E731
    with pytest.raises(FailedVerifierError, match="fails: AttributeError: a coin has no 'choose'"):
        ask()


def test_one_step_of_a_verifier_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(_: str) -> Scheme:
        return verifier_scheme("mine.py:verify", verify_halfway)

    monkeypatch.setattr(schemes, "load_scheme", loaded)
    said: set[str] = set()
    for seed in range(8):
        with pytest.raises(FailedVerifierError) as raised:
            explain(OneStep("mine.py:verify", "0,1", "1/2,1/2", 1, seed))
        said.add(str(raised.value))
    assert said == {"mine.py:verify fails: NotImplementedError: no residual yet"}
