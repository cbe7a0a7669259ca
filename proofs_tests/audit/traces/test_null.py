"""Whole traces under the null, looked at after every row, and the residual bug in laws that change with every row."""

import numpy as np
import pytest

from spec_math.audit.traces import merge
from spec_math.audit.traces.recorder import as_shard
from spec_math.audit.traces.shard_audit import TOLERANCE, audit_opened

SIZE = 8


def drawn(rng, laws):
    sums = laws.cumsum(axis=1)
    return (rng.random((len(laws), 1)) * sums[:, -1:] < sums).argmax(axis=1)


def trace(rng, rows, wrong=0.0):
    """Single drafts under laws drawn anew for each row; a share `wrong` of residuals is drawn from the target."""
    t, d = rng.dirichlet(np.full(SIZE, 0.5), rows), rng.dirichlet(np.full(SIZE, 0.5), rows)
    drafted = drawn(rng, d)
    row = np.arange(rows)
    accepted = rng.random(rows) * d[row, drafted] < t[row, drafted]
    left = np.where(rng.random((rows, 1)) < wrong, t, np.maximum(t - d, 0))
    columns = {
        "target_logits": np.log(t).astype(np.float32),
        "draft_logits": np.log(d).astype(np.float32),
        "drafted": drafted,
        "emitted": np.where(accepted, drafted, drawn(rng, left)),
        "accepted": accepted.astype(np.int64),
        "request": np.zeros(rows, dtype=np.int64),
        "position": row,
        "depth": np.zeros(rows, dtype=np.int64),
    }
    return as_shard(columns, 1)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_right_traces_are_refuted_at_most_so_often(alpha):
    """500 traces of 200 rows, each claim looked at after every row: at most α and four standard errors."""
    rng = np.random.default_rng(1)
    alarms, runs = np.zeros(3), 500
    for _ in range(runs):
        summary = merge([audit_opened(trace(rng, 200), TOLERANCE, 200)])
        alarms += [claim.alarms(alpha) for claim in (summary.emitted, summary.drafted, summary.accepted)]
    assert (alarms / runs <= alpha + 4 * (alpha * (1 - alpha) / runs) ** 0.5).all()


def test_the_residual_from_the_target_is_found_within_a_thousand_rows():
    """At α = 10^-6, on average over 20 traces; and none of them takes more than four thousand."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(20):
        curve = merge([audit_opened(trace(rng, 4_000, wrong=1.0), TOLERANCE, 400)]).emitted.curve
        found.append(next(row for row, value in curve if value >= -np.log(1e-6)))
    assert np.mean(found) <= 1_000
