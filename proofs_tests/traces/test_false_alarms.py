"""A right engine's wealth is 1 on average, exactly, bet by bet and in every stored type; and it seldom alarms."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from proofs_tests.traces.nulls import STORED, logits_of, traces
from spec_math.block_level import block
from spec_math.token_level import sample_and_match, single
from spec_math.traces import result as bets
from spec_math.traces.recorder import by_position
from spec_math.traces.row_kernel import EMITTED, rounding
from spec_math.traces.shard_audit import audit_opened

VERIFIERS = {
    "maximal coupling": (by_position(single.emit), 1),
    "sample and match": (by_position(sample_and_match.emit), 1),
    "maximal coupling, two in a row": (by_position(single.emit), 2),
    "block": (block.verify, 2),
}
CLAIMS = ("emitted", "drafted", "accepted")
TAKEN = 2 * 3 * rounding(3)
"""Three rows at most with a stake below 1: off each bet is taken what its rounding may be, and that much it may be off
once more."""


def mean_wealths(found):
    """The mean wealth of every bet at the end of a trace, over (probability, shard) of all traces, by claim."""
    total, means = 0.0, dict.fromkeys(CLAIMS, 0.0)
    for mass, shard in found:
        result = audit_opened(shard, tolerance=0.0)
        total += mass
        for claim, log_wealth in zip(CLAIMS, (result.emitted[-1], result.drafted, result.accepted), strict=True):
            means[claim] = means[claim] + mass * np.exp(log_wealth)
    assert abs(total - 1) <= 2.0**-40
    return means


def unfair(means):
    """How far the mean wealth of some bet of some claim is above 1."""
    return max(float(wealth.max()) - 1 for wealth in means.values())


@cache
def means_of(dtype, name):
    return mean_wealths(traces(dtype, *VERIFIERS[name], name.partition(",")[0]))


@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("name", VERIFIERS)
def test_no_bet_against_a_right_engine_gains_on_average(dtype, name):
    """Nor does it lose more than what is taken off for rounding: its means are those of the engine's own laws."""
    means = means_of(dtype, name)
    assert unfair(means) <= 2.0**-40
    assert min(float(wealth.min()) for wealth in means.values()) >= 1 - TAKEN
    assert means["emitted"].shape == (len(EMITTED), len(bets.STAKES), 2)


def test_no_claim_is_without_bets():
    """A wealth that nothing is bet with is 1 in every trace and shows nothing."""
    (_, shard), *_ = traces("float32", *VERIFIERS["maximal coupling"], "maximal coupling")
    result = audit_opened(shard, tolerance=0.0)
    for log_wealth in (result.emitted[-1], result.drafted, result.accepted):
        assert (np.abs(log_wealth).max(axis=(1, 2)) > 1e-3).sum() >= len(log_wealth) - 2


# Controls: the same means reject these.


def test_a_bet_with_a_wrong_mean_is_no_fair_game(monkeypatch):
    fair = bets.log_wealths
    monkeypatch.setattr(
        "spec_math.traces.shard_audit.log_wealths",
        lambda s, tolerance, checks: fair(s + np.float32(1e-5), tolerance, checks),
    )
    found = traces("float32", *VERIFIERS["maximal coupling"], "maximal coupling")
    assert unfair(mean_wealths(found)) > 5e-6


def test_drafts_of_blocks_that_are_judged_at_every_row_are_no_fair_game():
    """Which rows a block reaches depends on its drafts."""
    means = mean_wealths(traces("float32", *VERIFIERS["block"], "maximal coupling"))
    assert means["drafted"].max() > 1.005
    assert means["emitted"].max() <= 1 + 2.0**-40


def test_acceptance_of_another_verification_is_no_fair_game():
    assert unfair(mean_wealths(traces("float32", *VERIFIERS["sample and match"], "maximal coupling"))) > 0.01


def test_logits_that_were_rounded_after_drawing_are_no_fair_game():
    """Drawn from in float32, and written down as bfloat16 has them: a right engine is no longer safe."""

    def rounded(*asked):
        return logits_of(*asked).astype(STORED["bfloat16"]).astype(np.float32)

    found = traces("float32", *VERIFIERS["maximal coupling"], "maximal coupling", rounded)
    assert unfair(mean_wealths(found)) > 1e-3
