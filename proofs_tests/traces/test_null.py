"""Whole traces under the null, looked at after every row, and the residual bug in laws that change with every row."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from proofs_tests.coverage import too_many
from proofs_tests.traces.nulls import STORED, law_of
from spec_math.studies.traces.table import claims
from spec_math.traces import Evidence, merge
from spec_math.traces.recorder import as_shard
from spec_math.traces.shard_audit import TOLERANCE, audit_opened

SIZE = 8


def softmax(logits):
    return np.array([law_of(row) for row in logits])


def drawn(rng, laws):
    sums = laws.cumsum(axis=1)
    return (rng.random((len(laws), 1)) * sums[:, -1:] < sums).argmax(axis=1)


def trace(rng, rows, wrong=0.0, dtype="float32"):
    """Single drafts under laws drawn anew for each row; a share `wrong` of residuals is drawn from the target.

    What is drawn from are the softmaxes of the logits as they are stored.
    """
    targets, drafts = (np.log(rng.dirichlet(np.full(SIZE, 0.5), rows)).astype(STORED[dtype]) for _ in range(2))
    t, d = softmax(targets), softmax(drafts)
    drafted = drawn(rng, d)
    row = np.arange(rows)
    accepted = rng.random(rows) * d[row, drafted] < t[row, drafted]
    left = np.where(rng.random((rows, 1)) < wrong, t, np.maximum(t - d, 0))
    columns = {
        "target_logits": targets,
        "draft_logits": drafts,
        "drafted": drafted,
        "emitted": np.where(accepted, drafted, drawn(rng, left)),
        "accepted": accepted.astype(np.int64),
        "request": np.zeros(rows, dtype=np.int64),
        "position": row,
        "depth": np.zeros(rows, dtype=np.int64),
    }
    return as_shard(columns, 1)


RUNS, ROWS = 500, 100


@cache
def nulls(dtype):
    """The log wealths of 500 right traces of 100 rows, looked at after every row."""
    rng = np.random.default_rng([1, *map(ord, dtype)])
    return [audit_opened(trace(rng, ROWS, dtype=dtype), TOLERANCE, ROWS) for _ in range(RUNS)]


@pytest.mark.parametrize("dtype", STORED)
def test_right_traces_are_refuted_at_most_so_often(dtype):
    """By any of their three claims, at any time."""
    summaries = [merge([result]) for result in nulls(dtype)]
    for alpha in (0.3, 0.05, 0.01):
        alarms = sum(any(claim.refuted for claim in claims(summary, alpha)) for summary in summaries)
        assert not too_many(alarms, RUNS, alpha), alpha


def test_the_best_bet_instead_of_the_average_is_refuted_too_often():
    """The control: a wealth that is chosen after the fact."""
    alpha = 0.05
    alarms = sum(result.emitted.max() >= -np.log(alpha) for result in nulls("float32"))
    assert too_many(alarms, RUNS, alpha)


def test_three_claims_share_the_rate_of_false_alarms():
    summary = merge(nulls("float32")[:1])
    assert summary.share(0.3) == pytest.approx(0.1, rel=2.0**-50)
    assert replace(summary, accepted=None).share(0.3) == 0.15
    # Evidence of 15 against one claim: an alarm at 1/10, none where three claims may alarm with 1/10 together.
    told = replace(summary, emitted=Evidence(np.log(15)))
    assert told.emitted.alarms(0.1)
    assert not told.lossy(0.1)
    assert [claim.refuted for claim in claims(told, 0.1)] == [False] * 3
    assert told.lossy(0.3)


def test_the_residual_from_the_target_is_found_within_a_thousand_rows():
    """At α = 10^-6, on average over 20 traces; and none of them takes more than four thousand."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(20):
        curve = merge([audit_opened(trace(rng, 4_000, wrong=1.0), TOLERANCE, 400)]).emitted.curve
        found.append(next(row for row, value in curve if value >= -np.log(1e-6)))
    assert np.mean(found) <= 1_000
