"""Sampled lengths, gains and ceilings: their intervals hold what enumeration says, on models that seldom differ."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from proofs_tests.coverage import misses, narrowed, normal, too_many
from spec_math.block_level import block, chain
from spec_math.block_level.lengths.monte_carlo import (
    CONFIDENCE,
    DraftedMasses,
    Sampled,
    Setting,
    ceilings,
    drafted_after_every_prefix,
    of_every_prefix,
    sample,
)
from spec_math.block_level.methods import named
from spec_math.language import NGram, Table
from spec_math.mean import of_independent

RUNS = 2_000
RATE = 1 - CONFIDENCE

RARE = Table({(): [0.97, 0.02, 0.01], (0,): [0.9, 0.09, 0.01], (1,): [0.1, 0.1, 0.8], (2,): [0.3, 0.3, 0.4]}, context=1)
OFTEN = Table({(): [0.97, 0.01, 0.02], (0,): [0.8, 0.1, 0.1], (1,): [0.8, 0.1, 0.1], (2,): [0.3, 0.4, 0.3]}, context=1)
"""A chain of the second on the first is nearly always accepted whole: few samples are all equal."""

SAMPLES = 4


@cache
def sampled(runs, seed=0):
    setting = Setting(RARE, OFTEN, [()], (2,), 2)
    return [
        sample(setting, SAMPLES, np.random.default_rng(seed + run), methods=[named("block")])[0] for run in range(runs)
    ]


def exact():
    whole, plain = (float(module.expected(RARE, OFTEN, (), 2)) for module in (block, chain))
    return whole, whole - plain


def test_sampled_lengths_and_gains_are_covered_as_often_as_they_say():
    tokens, gain = exact()
    lines = sampled(RUNS)
    assert not too_many(misses([line.tokens(2) for line in lines], tokens), RUNS, RATE)
    assert not too_many(misses([line.gain(2) for line in lines], gain), RUNS, RATE)


def test_the_normal_limit_of_the_same_samples_is_rejected():
    """What was printed before: of 2,000 intervals of 99.5 % hundreds miss, as four samples are often all equal."""
    tokens, gain = exact()
    for values, truth in (
        ([1 + line.accepted.sum(axis=1) for line in sampled(RUNS)], tokens),
        ([(line.accepted - line.plain).sum(axis=1) for line in sampled(RUNS)], gain),
    ):
        missed = misses([normal(row, 0, 3, CONFIDENCE) for row in values], truth)
        assert too_many(missed, RUNS, RATE)
        assert missed > RUNS / 20


TEXT = np.random.default_rng(5).integers(0, 4, 400)
TARGET, DRAFT = NGram.learn(TEXT, 3, 4), NGram.learn(TEXT, 2, 4)
PREFIXES = [(), (0,), (1, 2), (3, 3), (0, 2)]
LOOKAHEAD, REPEATS = 2, 6


@cache
def drafted():
    """The chains of all runs, drafted at once: each run has repeats of its own, on uniforms of its own."""
    setting = Setting(TARGET, DRAFT, PREFIXES, (2,), LOOKAHEAD)
    masses = drafted_after_every_prefix(setting, RUNS * REPEATS, np.random.default_rng(0))
    return [DraftedMasses(*(side[at : at + REPEATS] for side in masses)) for at in range(0, RUNS * REPEATS, REPEATS)]


def texts(model, prefix, size):
    """The law of the next `size` tokens, {text: mass}."""
    masses = {}
    for text in product(range(4), repeat=size):
        masses[text] = float(np.prod([model((*prefix, *text[:place]))[text[place]] for place in range(size)]))
    return masses


def test_tokens_and_gains_of_samples_are_means_within_what_a_call_can_yield():
    accepted = np.array([[1.0, 0.5], [0.5, 0.0], [1.0, 1.0], [0.0, 0.0]])
    found = Sampled(named("block"), 2, accepted, accepted / 4)
    assert found.tokens(1) == of_independent(np.array([2.0, 1.5, 2.0, 1.0]), 1, 2, CONFIDENCE)
    assert found.tokens(2) == of_independent(np.array([2.5, 1.5, 3.0, 1.0]), 1, 3, CONFIDENCE)
    assert found.gain(2) == of_independent(np.array([1.125, 0.375, 1.5, 0.0]), -2, 2, CONFIDENCE)
    assert found.tokens(2).value == 2


def ceiling(k):
    """1 + Σ over sizes and texts of min(t, 1 − (1 − d)^k), the mean over the prefixes; one chain reaches more texts."""
    total = 1.0
    for prefix, size in product(PREFIXES, range(1, LOOKAHEAD + 1)):
        drafted = texts(DRAFT, prefix, size)
        reached = sum(min(t, 1 - (1 - drafted[text]) ** k) for text, t in texts(TARGET, prefix, size).items())
        total += reached / len(PREFIXES)
    return total


def test_means_over_all_prefixes_are_covered_as_often_as_they_say():
    found = [of_every_prefix(masses) for masses in drafted()]
    whole, plain = (
        float(np.mean([module.expected(TARGET, DRAFT, prefix, LOOKAHEAD) for prefix in PREFIXES]))
        for module in (block, chain)
    )
    for name, truth in (("token_by_token", plain), ("as_a_block", whole), ("gain", whole - plain)):
        estimates = [getattr(one, name)[LOOKAHEAD - 1] for one in found]
        assert not too_many(misses(estimates, truth), RUNS, RATE), name
    # The control: an eighth of the width.
    narrow = [narrowed(one.token_by_token[LOOKAHEAD - 1], 1 / 8) for one in found]
    assert too_many(misses(narrow, plain), RUNS, RATE)


def test_ceilings_are_covered_as_often_as_they_say():
    found = [ceilings(masses, (2,))[2][LOOKAHEAD - 1] for masses in drafted()]
    assert not too_many(misses(found, ceiling(2)), RUNS, RATE)
    assert too_many(misses([narrowed(one, 1 / 8) for one in found], ceiling(2)), RUNS, RATE)
