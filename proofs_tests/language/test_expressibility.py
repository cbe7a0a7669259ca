"""Expressibility both ways, against enumeration; and text that longest prefixes cannot get through."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.language.failing_drafts import failing_draft, untokenisable
from proofs_tests.language.longest_prefixes import by_strings
from proofs_tests.strategies import vocabularies
from spec_math.language import Vocabulary
from spec_math.language.overlap import Expressibility, expressibility, inexpressible


def spells(text: str, words: list[str]) -> bool:
    """By recursion over the first token."""
    return not text or any(text.startswith(word) and spells(text[len(word) :], words) for word in words)


@given(vocabularies(), st.text("ab", max_size=8))
def test_expressible_texts_are_the_concatenations(words: list[str], text: str) -> None:
    assert (not text or not inexpressible(Vocabulary([text]), Vocabulary(words))) == spells(text, words)


@given(vocabularies("abc"), vocabularies("abc"))
def test_expressibility_names_the_tokens_that_break_it(target: list[str], draft: list[str]) -> None:
    both = expressibility(Vocabulary(target), Vocabulary(draft))
    assert both.target_breaks == tuple(index for index, word in enumerate(target) if not spells(word, draft))
    assert both.draft_breaks == tuple(index for index, word in enumerate(draft) if not spells(word, target))
    assert bool(both) == (both == Expressibility((), ()))


@given(vocabularies(), vocabularies())
def test_untokenisable_tokens_include_the_inexpressible_ones(source: list[str], words: list[str]) -> None:
    failing = untokenisable(Vocabulary(source), Vocabulary(words))
    assert failing == tuple(index for index, word in enumerate(source) if by_strings(word, words) is None)
    assert set(inexpressible(Vocabulary(source), Vocabulary(words))) <= set(failing)


@given(vocabularies(most=3), vocabularies())
def test_failing_draft_is_a_shortest_sequence_that_cannot_be_tokenised(source: list[str], words: list[str]) -> None:
    found = failing_draft(Vocabulary(source), Vocabulary(words))
    lengths = range(1, 6 if found is None else len(found) + 1)
    fails = [
        drafted
        for length in lengths
        for drafted in product(range(len(source)), repeat=length)
        if by_strings("".join(source[token] for token in drafted), words) is None
    ]
    assert (found is None) == (not fails)
    if found is not None:
        assert found in fails
        assert len(found) == len(fails[0])


def test_every_token_may_pass_and_a_sequence_fail() -> None:
    source, target = Vocabulary(["b", "ba"]), Vocabulary(["b", "ba", "bb"])
    assert expressibility(target, source)
    assert untokenisable(source, target) == ()
    assert failing_draft(source, target) == (0, 1)


def test_special_tokens_break_nothing() -> None:
    special = Vocabulary(["a", "<unk>"], special=[1])
    assert expressibility(special, Vocabulary(["a"]))
    assert failing_draft(special, Vocabulary(["a"])) is None
