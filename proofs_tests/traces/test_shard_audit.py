"""Auditing a trace of the n-gram default: right engines pass, each bug is found, and what is broken is left out."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import inf, log

import numpy as np
import pytest

from spec_math.audit import contexts_test
from spec_math.block_level import block
from spec_math.studies.traces.study import LOOKAHEAD, VARIANTS, columns
from spec_math.traces import Engine, TraceError, merge, record
from spec_math.traces.recorder import as_shard
from spec_math.traces.result import log_evidence
from spec_math.traces.shard_audit import audit_opened

ALPHA = 1e-6
TEXTS, LENGTH = 4, 250


@cache
def recorded(name):
    """A second or less to record each, when a test first asks for it."""
    return columns(name, TEXTS, LENGTH, 0)


def audited(found, verification="maximal coupling"):
    return merge([audit_opened(as_shard(found, LOOKAHEAD, verification))])


@cache
def summary_of(name):
    return audited(recorded(name), VARIANTS[name].verification)


@pytest.mark.parametrize("name", [name for name, variant in VARIANTS.items() if not variant.wrong])
def test_right_engines_are_not_refuted(name):
    summary = summary_of(name)
    assert not summary.lossy(0.01)
    assert summary.accepted is None or not summary.accepted.alarms(0.01)


@pytest.mark.parametrize("name", ["residual", "accept", "temperature", "greedy"])
def test_bugs_are_found_within_a_thousand_tokens(name):
    summary = summary_of(name)
    assert summary.emitted.alarms(ALPHA)
    assert summary.lossy(ALPHA)
    alarmed = next(row for row, value in summary.emitted.curve if value >= -log(ALPHA))
    assert alarmed <= 1_100


def test_a_bug_of_bonus_tokens_alone_needs_more_of_them():
    parts = [columns("bonus", TEXTS, LENGTH, seed) for seed in (1, 2)]
    results = [audit_opened(as_shard(part, LOOKAHEAD)) for part in [recorded("bonus"), *parts]]
    assert merge(results).emitted.alarms(ALPHA)
    at_bonus = merge(results).by_depth[LOOKAHEAD]
    # The excess of the favourite at depth L, in standard errors.
    assert at_bonus[8] / at_bonus[9] ** 0.5 > 4


@pytest.mark.parametrize("name", list(VARIANTS))
def test_the_drafter_is_at_fault_where_it_draws_from_another_law(name):
    assert summary_of(name).drafted.alarms(ALPHA) == (VARIANTS[name].drawn_from is not None)


def test_acceptance_that_is_not_what_was_said_is_told_and_is_no_loss():
    """Sample and match is lossless, and accepts Σ t·d and not Σ min(t, d)."""
    found = columns("none", TEXTS, LENGTH, 5)
    rng = np.random.default_rng(0)
    masses = np.exp(found["target_logits"].astype(np.float64))
    emitted = np.array([rng.choice(len(row), p=row / row.sum()) for row in masses])
    # Each row as a block of its own: matching drafts end their blocks here too.
    matched = found | {"emitted": emitted, "accepted": (emitted == found["drafted"]).astype(np.int64)}
    matched |= {"depth": np.zeros_like(emitted)}
    said = audited(matched)
    assert not said.lossy(0.01)
    assert said.accepted.alarms(ALPHA)
    right = audited(matched, "sample and match")
    assert not right.lossy(0.01)
    assert not right.accepted.alarms(0.01)
    drafts, accepted, expected, optimum = right.by_depth.sum(axis=0)[1:5]
    assert abs(accepted - expected) <= 4 * drafts**0.5
    assert expected < optimum


def test_drafts_and_acceptance_of_blocks_are_not_judged_row_by_row():
    """The control: which rows a block reaches depends on its drafts. Its emitted tokens are right all the same."""
    target, draft = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.1, 0.2, 0.3, 0.4])
    engine = Engine(lambda _: target, lambda _: draft, block.verify, LOOKAHEAD)
    found = record(engine, 8, 500, np.random.default_rng(0))
    as_rows, as_blocks = audited(found), audited(found, "block")
    assert as_rows.drafted.alarms(ALPHA)
    assert as_rows.accepted.alarms(ALPHA)
    assert not as_rows.emitted.alarms(0.01)
    assert not as_blocks.lossy(0.01)
    assert as_blocks.accepted is None


def test_a_lossy_engine_said_to_verify_blocks_is_found_too():
    assert audited(recorded("residual"), "block").emitted.alarms(ALPHA)
    assert audited(recorded("accept"), "block").emitted.alarms(ALPHA)


@pytest.mark.parametrize("name", ["none", "block", "residual", "accept"])
def test_the_test_of_changing_contexts_comes_to_the_same_verdict(name):
    """Another author's bets on the same claim, in float64, row after row."""
    found = recorded(name)
    masses = [np.exp(found[which].astype(np.float64)) for which in ("target_logits", "draft_logits")]
    bare = found["drafted"] < 0
    masses[1][bare] = masses[0][bare]
    laws = [rows / rows.sum(axis=1, keepdims=True) for rows in masses]
    test = contexts_test(ALPHA)
    test.update_many(found["emitted"], *laws)
    assert bool(test.verdict) == (not summary_of(name).emitted.alarms(ALPHA))


def test_acceptance_foretold_and_best_are_the_overlap():
    found = recorded("none")
    t, d = (np.exp(found[name].astype(np.float64)) for name in ("target_logits", "draft_logits"))
    with_draft = found["drafted"] >= 0
    overlap = np.minimum(t / t.sum(1, keepdims=True), d / d.sum(1, keepdims=True)).sum(axis=1)[with_draft]
    totals = summary_of("none").by_depth.sum(axis=0)
    assert totals[0] == len(with_draft)
    assert totals[1] == with_draft.sum()
    assert totals[2] == found["accepted"].sum()
    # 1,900 overlaps in float32, each within 2e-6.
    assert abs(totals[3] - overlap.sum()) <= len(overlap) * 2e-6
    assert totals[3] == totals[4]
    for table in ("by_depth", "by_place", "by_entropy", "by_repetition"):
        assert np.allclose(getattr(summary_of("none"), table).sum(axis=0), totals, rtol=1e-12)


def test_rows_with_nan_are_left_out_and_named_and_the_evidence_is_of_the_others():
    found = recorded("residual")
    broken = found["target_logits"].copy()
    rows = [3, 400, 401]
    broken[rows, [0, 7, 4_000]] = np.nan
    shard = as_shard(found | {"target_logits": broken}, LOOKAHEAD)
    result = audit_opened(shard)
    assert result.counts["bad target rows"] == 3
    assert "row 3 (request 0, position" in result.examples[0]
    assert "NaN" in result.examples[0]
    summary = merge([result])
    assert summary.emitted.alarms(ALPHA)
    # The same as if those rows had bet nothing: at most 3 factors of 2 apart.
    assert abs(summary.emitted.log - summary_of("residual").emitted.log) <= 3 * log(2) + 3 * log(64)
    clean = audit_opened(as_shard(recorded("none") | {"target_logits": _spoiled(recorded("none"))}, LOOKAHEAD))
    assert not merge([clean]).lossy(0.01)


def _spoiled(found):
    logits = found["target_logits"].copy()
    logits[::10, 5] = np.nan
    return logits


def test_nan_in_the_draft_leaves_the_bets_on_the_target():
    found = recorded("greedy")
    result = audit_opened(as_shard(found | {"draft_logits": np.full_like(found["draft_logits"], np.nan)}, LOOKAHEAD))
    assert result.counts["bad draft rows"] == (found["drafted"] >= 0).sum()
    assert result.counts["drafts"] == 0
    assert log_evidence(result.emitted[-1]) > 0


@pytest.mark.parametrize("stray", [4_127, 10_000, -1])
def test_a_token_that_the_target_never_emits_decides_at_once(stray):
    found = recorded("none")
    logits = found["target_logits"].copy()
    emitted = found["emitted"].copy()
    row = int(np.flatnonzero(found["accepted"] == 0)[0])
    emitted[row] = stray
    if stray == 4_127:
        logits[row, stray] = -np.inf
    summary = audited(found | {"emitted": emitted, "target_logits": logits})
    assert summary.emitted.log == inf
    assert summary.counts["impossible tokens"] == 1
    assert f"the token {stray} was emitted" in summary.examples[0]


def test_a_draft_without_mass_breaks_the_drafters_contract():
    found = recorded("none")
    logits = found["draft_logits"].copy()
    logits[0, found["drafted"][0]] = -np.inf
    summary = audited(found | {"draft_logits": logits})
    assert summary.drafted.log == inf
    assert not summary.emitted.alarms(0.01)


def test_an_accepted_draft_that_was_not_emitted_is_a_contradiction():
    found = recorded("none")
    row = int(np.flatnonzero(found["accepted"])[0])
    emitted = found["emitted"].copy()
    emitted[row] = (emitted[row] + 1) % 4_128
    summary = audited(found | {"emitted": emitted})
    assert summary.counts["contradictions"] == 1
    assert summary.lossy(ALPHA)


def test_evidence_of_parts_is_evidence_of_the_whole():
    found = recorded("residual")
    cuts = [0, *(int(row) for row in np.flatnonzero(found["depth"] == 0)[[50, 51, 300]]), len(found["depth"])]
    parts = [{n: c[a:b] for n, c in found.items()} for a, b in pairwise(cuts)]
    results = [audit_opened(as_shard(part, LOOKAHEAD)) for part in parts]
    whole = summary_of("residual")
    for order in (results, results[::-1]):
        merged = merge(order)
        # Sums of at most 1,000 logs of 250 nats in all, in another order.
        assert abs(merged.emitted.log - whole.emitted.log) <= 1e-9
        assert np.allclose(merged.by_depth, whole.by_depth, rtol=1e-12)
    assert merge(results).counts == whole.counts


def test_a_result_survives_being_stored():
    result = audit_opened(as_shard(recorded("none"), LOOKAHEAD))
    again = type(result).from_bytes(result.to_bytes())
    for name, value in vars(result).items():
        other = getattr(again, name)
        assert (value == other).all() if isinstance(value, np.ndarray) else value == other, name


def test_shards_of_different_lookahead_add_up():
    small = audit_opened(as_shard({n: c[:1] for n, c in recorded("none").items()}, 1))
    assert len(merge([small, audit_opened(as_shard(recorded("none"), LOOKAHEAD))]).by_depth) == LOOKAHEAD + 1


def test_a_tolerance_is_a_total_variation():
    with pytest.raises(TraceError, match="total variation"):
        audit_opened(as_shard(recorded("none"), LOOKAHEAD), tolerance=1.0)


def test_what_lies_within_the_tolerance_is_no_bug():
    """Residual from the target errs by a few per cent at each position: far within a tolerance of a half."""
    shard = as_shard(recorded("residual"), LOOKAHEAD)
    assert not merge([audit_opened(shard, tolerance=0.5)]).lossy(0.01)


def test_a_shard_that_announces_more_rows_than_it_holds_is_named():
    shard = as_shard(recorded("none"), LOOKAHEAD)
    with pytest.raises(TraceError, match="truncated"):
        audit_opened(replace(shard, chunks=lambda: iter([next(shard.chunks())])))
