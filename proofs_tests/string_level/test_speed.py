"""Target tokens per target call, drafter calls and speed-up: against closed forms, and Table 4's advice as computed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings

from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import Lossless, check_lossless_block
from spec_math.block_level import chain
from spec_math.block_level.length import expected
from spec_math.drafting import intersection, union
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.string_level import rejection
from spec_math.string_level.methods import METHODS
from spec_math.string_level.psi import first_token
from spec_math.string_level.reading import opened
from spec_math.string_level.speed import compare, measure

HALF = Fraction(1, 2)
BY_NAME = {method.name: method for method in METHODS}
COST = Fraction(1, 10)


@settings(max_examples=15)
@given(speaker_pairs(ends=False))
def test_every_method_but_the_printed_timing_is_lossless(pair):
    target, drafter = pair
    for method in METHODS:
        if not method.lossless:
            continue
        verdict = check_lossless_block(
            lambda coin, prefix, method=method: method.generate(coin, target, drafter, prefix, 2), target.model, 2, 2
        )
        assert isinstance(verdict, Lossless), method.name


def test_every_lossless_method_is_so_on_floats():
    target, drafter = (
        TokenizedModel(lambda prefix, rows=rows: rows[sum(prefix) % 2], Vocabulary(words))
        for words, rows in (
            (["a", "b", "ab"], ([0.7, 0.1, 0.2], [0.3, 0.3, 0.4])),
            (["a", "b", "bb"], ([0.6, 0.3, 0.1], [0.1, 0.2, 0.7])),
        )
    )
    for method in METHODS:
        verdict = check_lossless_block(
            lambda coin, prefix, method=method: method.generate(coin, target, drafter, prefix, 2), target.model, 3, 2
        )
        # The judge's bound follows from the number of coins; see `float_allowance`.
        assert bool(verdict) == method.lossless, method.name


@settings(max_examples=20)
@given(speaker_pairs(ends=False))
def test_tokens_per_call_of_union_and_intersection_are_those_of_a_chain(pair):
    target, drafter = pair
    plain = measure(BY_NAME["union"], target, drafter, (), 2, COST)
    models = union.models(target, drafter)
    assert plain.tokens_per_call == chain.expected(*models, (), 2)
    assert plain.drafter_calls <= 2
    restricted = intersection.model(drafter, target.vocabulary)
    try:
        expected = chain.expected(target.model, restricted, (), 2)
    except intersection.NoOverlapError:
        return
    assert measure(BY_NAME["TLI"], target, drafter, (), 2, COST).tokens_per_call == expected


@settings(max_examples=20)
@given(speaker_pairs(ends=False))
def test_rejection_yields_one_token_and_its_acceptance_and_asks_for_all_of_psi(pair):
    target, drafter = pair
    found = measure(BY_NAME["SLRS"], target, drafter, (), 2, COST)
    _, reading = opened(target, drafter, ())
    first = first_token(target.vocabulary, drafter.vocabulary, reading, 2)
    assert found.tokens_per_call == 1 + rejection.acceptance(target.law(()), first.law)
    assert found.drafter_calls == first.calls
    assert found.speed_up == found.tokens_per_call / (1 + COST * first.calls)


@settings(max_examples=20)
@given(speaker_pairs())
def test_exact_match_and_its_twin_yield_the_same_at_the_same_cost(pair):
    ours, theirs = (measure(BY_NAME[name], *pair, (), 2, COST) for name in ("SLEM", "TokenTiming, deterministic"))
    assert (ours.tokens_per_call, ours.drafter_calls) == (theirs.tokens_per_call, theirs.drafter_calls)
    # Drafting asks for one law a token, so for two, or fewer where the drafter ends its text.
    assert 1 <= ours.drafter_calls <= 2


def test_drafter_calls_of_the_conditional_variant_grow_as_a_tree():
    target, drafter = speaker(["a", "b"], ["1/2", "1/2"]), speaker(["a", "b"], ["1/2", "1/2"])
    calls = [
        measure(BY_NAME["TokenTiming, conditional"], target, drafter, (), n, COST).drafter_calls for n in (1, 2, 3)
    ]
    assert calls == [1, 3, 7]


# Table 4's advice, computed: each line where its constraint is met, and where it is not.


def fastest(target, drafter, lookaheads=(1, 2), cost=COST):
    return [found for found in compare(target, drafter, (), lookaheads, cost) if found.lossless]


def test_the_union_is_never_ahead_of_the_intersection():
    target, drafter = speaker(["a", "b"], ["1/2", "1/2"]), speaker(["a", "b", "c"], ["1/3", "1/3", "1/3"])
    speeds = {found.method: found.speed_up for found in fastest(target, drafter)}
    assert speeds["union"] < speeds["TLI"]


def test_a_large_overlap_is_for_the_intersection():
    # One vocabulary, a broad law: token by token all is accepted, and exact match accepts half.
    same = speaker(["a", "b"], ["1/2", "1/2"])
    assert fastest(same, same)[0].method in ("union", "TLI")


def test_no_overlap_and_an_accurate_drafter_are_for_exact_match():
    # Tokens of two letters against single ones: T ∩ D is empty, and the texts agree. Of the paper's methods SLEM is the
    # fastest; faster yet is the draft verified by its own law, at one drafter call more.
    target, drafter = speaker(["a", "b"], ["9/10", "1/10"]), speaker(["aa", "bb"], ["9/10", "1/10"])
    found = fastest(target, drafter)
    speeds = {speed.method: speed for speed in found}
    assert next(speed.method for speed in found if speed.method in ("union", "TLI", "SLEM", "SLRS")) == "SLEM"
    assert found[0].method == "TokenTiming, conditional"
    assert speeds["TLI"].tokens_per_call == 1
    assert speeds["TLI"].speed_up < 1


def test_short_tokens_and_a_broad_target_are_for_rejection():
    # ψ costs one call. It is the target's law: dd begins with d, which TLI leaves out and exact match rarely meets.
    words = ["a", "b", "c", "d"]
    target = speaker(words, ["1/4"] * 4)
    drafter = speaker([*words[:3], "dd"], ["1/4"] * 4)
    speeds = {speed.method: speed.speed_up for speed in fastest(target, drafter, lookaheads=(1,))}
    assert speeds["SLRS"] > max(speeds["SLEM"], speeds["TLI"], speeds["union"])


def test_an_inaccurate_drafter_makes_every_method_slower_than_none():
    target, drafter = speaker(["a", "b"], [1, 0]), speaker(["b", "bb"], ["1/2", "1/2"])
    assert all(found.speed_up < 1 for found in compare(target, drafter, (), [1, 2], COST))


def test_the_best_lookahead_is_taken():
    same = speaker(["a"], [1])
    (tli,) = compare(same, same, (), [3, 1, 2], COST, [BY_NAME["TLI"]])
    assert (tli.lookahead, tli.tokens_per_call, tli.speed_up) == (3, 4, Fraction(4) / (1 + 3 * COST))
    # Among equals the shortest: where nothing is drafted for nothing, each lookahead is as good.
    apart = speaker(["a"], [1]), speaker(["b"], [1])
    (tli,) = compare(*apart, (), [3, 1, 2], 0, [BY_NAME["TLI"]])
    assert (tli.lookahead, tli.speed_up) == (1, 1)


def test_wrong_costs_are_named():
    same = speaker(["a"], [1])
    with pytest.raises(ValueError, match="costs at least 0 target calls; got -1"):
        measure(METHODS[0], same, same, (), 1, -1)
    with pytest.raises(ValueError, match="at one lookahead at least"):
        compare(same, same, (), [], COST)


def test_what_is_measured_reads_texts_as_its_drafter_does_and_keeps_what_the_method_says_of_itself():
    """A drafter that hears every text as b alone, in place of the text's last letter."""
    target = speaker(["a", "b"], ["1/4", "3/4"], ["1/2", "1/2"])
    model = speaker(["a", "b"], ["7/8", "1/8"], ["1/8", "7/8"], ["1/2", "1/2"]).model
    deaf = TokenizedModel(model, Vocabulary(["a", "b"]), lambda text: (1,) if text else ())
    hearing = TokenizedModel(model, Vocabulary(["a", "b"]))
    told_apart = 0
    for method in METHODS:
        found = measure(method, target, deaf, (0,), 2, COST)
        tokens = expected(lambda coin, prefix, method=method: method.generate(coin, target, deaf, prefix, 2), (0,))
        assert (found.tokens_per_call, found.lossless, found.needs) == (tokens, method.lossless, method.needs)
        told_apart += measure(method, target, hearing, (0,), 2, COST).tokens_per_call != tokens
    assert told_apart > 0


def test_a_lookahead_that_is_none_is_named():
    target = speaker(["a"], [1])
    with pytest.raises(ValueError, match="lookahead must be at least 1; got 0"):
        compare(target, target, (), [1, 0], COST)
