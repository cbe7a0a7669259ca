"""Sums of a trace that contradict each other are an error that names the claim, and never a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec_math.invariants import BrokenInvariantError
from spec_math.studies.traces import table as of_traces
from spec_math.studies.traces.table import result_of as trace_shown
from spec_math.traces import Summary, merge
from spec_math.traces.recorder import toy_shard
from spec_math.traces.shard_audit import audit_opened


def summary() -> Summary:
    return merge([audit_opened(toy_shard(500))])


@pytest.mark.parametrize(
    ("table", "column", "by", "claim"),
    [
        ("by_depth", 0, 1.0, of_traces.ADDS_UP),
        ("by_place", 2, 1.0, of_traces.ADDS_UP),
        ("by_entropy", 3, 1e-3, of_traces.ADDS_UP),
        ("by_repetition", 1, -1.0, of_traces.ADDS_UP),
        ("by_depth", 2, 1e6, of_traces.COUNTED),
        ("by_place", 1, 1e6, of_traces.COUNTED),
        ("by_entropy", 3, 1e6, of_traces.PREDICTED),
        ("by_repetition", 4, 1e6, of_traces.PREDICTED),
        ("by_depth", 3, -1e6, of_traces.PREDICTED),
    ],
)
def test_each_wrong_sum_of_a_trace_is_caught(table: str, column: int, by: float, claim: str) -> None:
    right = summary()
    assert of_traces.watch(right).found == {}
    sums = getattr(right, table).copy()
    sums[0, column] += by
    wrong = replace(right, **{table: sums})
    assert claim in {claim for claim, _, _ in of_traces.watch(wrong).found}
    with pytest.raises(BrokenInvariantError):
        trace_shown(wrong, 1e-6, "a toy")
