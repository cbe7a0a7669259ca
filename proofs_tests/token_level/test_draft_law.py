"""Laws of drafts: product laws are what the programs draw, the law of sets is their image, the sizes are counted."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import pairs
from spec_math import exact, law
from spec_math.scheme import draw_independent
from spec_math.token_level import draft_law, greedy, hub, without_replacement


@given(pairs(4), st.integers(1, 3))
def test_iid_drafts_have_the_law_of_the_program_that_draws_them(pair, k):
    _, draft = pair
    assert draft_law.iid(draft, k) == law(lambda coin: draw_independent(coin, draft, k))
    assert draft_law.iid(draft, k) == draft_law.drawn(draw_independent, draft, k)


@given(pairs(4))
def test_two_drafters_draw_independently(pair):
    first, second = pair
    drawn = draft_law.independent([first, second])
    assert sum(drawn.values()) == 1
    for x in range(len(first)):
        for y in range(len(first)):
            assert drawn.get((x, y), 0) == first[x] * second[y]


@given(pairs(4), st.integers(1, 3))
def test_law_of_sets_is_the_image_of_the_law_of_tuples(pair, k):
    first, second = pair
    drafts = [first, second, first][:k]
    assert draft_law.independent_sets(drafts) == draft_law.sets(draft_law.independent(drafts))


@given(pairs(4), st.integers(1, 3))
def test_drafts_without_replacement_have_the_law_of_successive_sampling(pair, k):
    _, draft = pair
    support = [token for token in range(len(draft)) if draft[token]]
    wanted = {}
    for tokens in permutations(support, min(k, len(support))):
        mass, left = Fraction(1), Fraction(1)
        for token in tokens:
            mass, left = mass * draft[token] / left, left - draft[token]
        wanted[tokens] = mass
    assert draft_law.drawn(without_replacement.draw, draft, k) == wanted


@given(pairs(4))
def test_paths_that_draft_the_same_add_up(pair):
    def idle(coin, draft, k):
        return draw_independent(coin, draft, k), coin.flip(Fraction(1, 3))

    _, draft = pair
    assert draft_law.drawn(lambda *given: idle(*given)[0], draft, 2) == draft_law.iid(draft, 2)


def test_spechub_and_greedy_drafts_as_published():
    draft = exact(["1/2", "1/3", "1/6"])
    assert draft_law.drawn(hub.draw, draft, 2) == {
        (1, 0): Fraction(1, 3),
        (2, 0): Fraction(1, 6),
        (0, 1): Fraction(1, 3),
        (0, 2): Fraction(1, 6),
    }
    assert draft_law.drawn(greedy.draw, draft, 2) == {(0, 1): Fraction(2, 3), (0, 2): Fraction(1, 3)}


@pytest.mark.parametrize(("size", "k"), [(1, 1), (2, 3), (5, 2), (4, 3), (3, 5)])
def test_sizes_are_the_counted_ones(size, k):
    counted = draft_law.iid(exact([Fraction(1, size)] * size), k)
    sets = draft_law.sets(counted)
    sizes = draft_law.sizes(size, k)
    assert (sizes.tuples, sizes.tuple_variables) == (len(counted), len(counted) * size)
    assert (sizes.sets, sizes.set_variables) == (len(sets), len(sets) * size)
    assert sizes.members == sum(map(len, sets))


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        ([((0,), 1)], TypeError, "a distribution of drafts is a mapping"),
        ({(0,): "1/2", frozenset({1}): "1/2"}, TypeError, "all frozensets of tokens"),
        ({0: 1}, TypeError, "tuples of tokens"),
        ({(0.0,): 1}, TypeError, "a drafted token is an index"),
        ({(True,): 1}, TypeError, "a drafted token is an index"),
        ({(2,): 1}, ValueError, r"must lie in 0\.\.1; got 2"),
        ({(-1,): 1}, ValueError, r"must lie in 0\.\.1; got -1"),
        ({(0,): "1/2", (1,): "1/3"}, ValueError, "^draft distribution: masses .* sum to 5/6"),
        ({(0,): Fraction(1, 2), (1,): Fraction(1, 3)}, ValueError, "^draft distribution: masses .* sum to 5/6"),
        ({(0,): "3/2", (1,): "-1/2"}, ValueError, "must be >= 0"),
        ({(0,): 0.5, (1,): 0.5}, TypeError, "one number type"),
        ({}, ValueError, "at least one outcome"),
    ],
)
def test_what_is_no_law_of_drafts_is_refused_with_the_reason(bad, error, words):
    with pytest.raises(error, match=words):
        draft_law.checked(bad, exact(["1/2", "1/2"]))


def test_too_many_drafts_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"optimal\.acceptance"):
        draft_law.iid(exact([Fraction(1, 200)] * 200), 3)
    with pytest.raises(ValueError, match="at least one draft distribution"):
        draft_law.independent([])
    with pytest.raises(ValueError, match="one shape"):
        draft_law.independent([["1/2", "1/2"], [1]])


def test_a_vocabulary_that_is_no_count_is_named():
    with pytest.raises(ValueError, match=r"^vocabulary must be at least 1; got 0"):
        draft_law.sizes(0, 2)
