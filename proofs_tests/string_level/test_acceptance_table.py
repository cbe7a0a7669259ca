"""Table 3 as a function: each line is the program's acceptance, and the orders that hold between them, and do not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.drafting.vocabulary_pairs import vocabulary_pairs
from proofs_tests.strategies import pairs
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import law, overlap
from spec_math.drafting import intersection, union
from spec_math.language import Vocabulary
from spec_math.papers.two_vocabularies import table
from spec_math.string_level import exact_match, rejection


def programs(target, drafter, lookahead):
    """The probability that the first drafted token is accepted, from the outcomes of the programs."""
    runs = {
        "Alg. 2 (SLEM)": lambda coin: exact_match.run(coin, target, drafter, (), lookahead).accepted,
        "Alg. 3 (SLRS)": lambda coin: rejection.run(coin, target, drafter, (), lookahead).accepted,
        "Alg. 4 (TLI)": lambda coin: intersection.run(coin, target, drafter, (), 1).accepted,
        "Alg. 1 (union)": lambda coin: len(union.generate(coin, target, drafter, (), 1)) - 1,
    }
    return {
        name: sum((mass for accepted, mass in law(run).items() if accepted), Fraction(0)) for name, run in runs.items()
    }


@given(vocabulary_pairs(), st.integers(1, 2))
def test_each_line_is_what_the_program_accepts(case, lookahead):
    target, draft, targets, drafts = case
    found = dict(table(target, draft, Vocabulary(targets), Vocabulary(drafts), lookahead).rows())
    standard = found.pop("Alg. 5 (SD)")
    assert found == programs(speaker(targets, target), speaker(drafts, draft), lookahead)
    assert standard == (overlap(target, draft) if targets == drafts else None)
    assert all(type(acceptance) is Fraction for acceptance in found.values())


@given(speaker_pairs(ends=False), st.integers(1, 2))
def test_a_drafter_with_context_is_taken_at_its_empty_prefix(pair, lookahead):
    target, drafter = pair
    found = table(target.law(()), drafter.model, target.vocabulary, drafter.vocabulary, lookahead)
    assert {name: acceptance for name, acceptance in found.rows() if name != "Alg. 5 (SD)"} == programs(
        target, drafter, lookahead
    )


@given(vocabulary_pairs())
def test_two_orders_hold(case):
    target, draft, targets, drafts = case
    found = table(target, draft, Vocabulary(targets), Vocabulary(drafts))
    assert found.union <= found.intersection
    assert found.exact_match <= found.rejection
    assert found.untokenisable >= 0


@given(pairs())
def test_over_one_vocabulary_of_letters_four_lines_are_two(pair):
    words = Vocabulary("abcd"[: len(pair[0])][at] for at in range(len(pair[0])))
    found = table(*pair, words, words)
    assert found.standard == found.union == found.intersection == found.rejection == overlap(*pair)
    assert found.exact_match == sum(pair[0] * pair[1])


@pytest.mark.parametrize(
    ("targets", "target", "drafts", "draft", "order"),
    [
        # Both by token are ahead: half of what is drafted is no target token, and TLI draws it anew.
        (["a", "b"], [1, 0], ["a", "c"], ["1/2", "1/2"], "SLRS < TLI"),
        # Both by text are ahead: aa is a ⊕ a, and no token of the target.
        (["a"], [1], ["aa"], [1], "TLI < SLEM"),
        # Token by token, but not exactly: two uniform laws match half the time.
        (["a", "b"], ["1/2", "1/2"], ["a", "b"], ["1/2", "1/2"], "SLEM < TLI"),
    ],
)
def test_no_other_order_holds(targets, target, drafts, draft, order):
    found = table(target, draft, Vocabulary(targets), Vocabulary(drafts))
    values = {"SLEM": found.exact_match, "SLRS": found.rejection, "TLI": found.intersection}
    less, more = order.split(" < ")
    assert values[less] < values[more]
