"""The embedded drafters of other vocabularies: their texts, their laws, and means that are those of the programs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from proofs_tests.studies.small_vocabularies import small
from spec_math.block_level import chain, length
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import law
from spec_math.language import Table, TokenizedModel, Vocabulary
from spec_math.language.files import library
from spec_math.string_level import psi, timing
from spec_math.string_level.methods import METHODS, TLI
from spec_math.string_level.reading import opened
from spec_math.studies.vocabularies import sampling as vocabulary_default
from spec_math.studies.vocabularies import sampling as vocabulary_sampling
from spec_math.studies.vocabularies.sampling import drafters, target


def test_the_embedded_drafters_speak_the_same_text():
    words = target().vocabulary
    text = words.spell(vocabulary_default.prefixes(5)[2])
    assert text
    for drafter in drafters():
        assert drafter.tokenized.vocabulary.spell(drafter.tokenized.read(text)) == text
        assert drafter.tokenized.law(drafter.tokenized.read(text)).min() > 0
    assert words.index(" the") in target().read(" the")


def test_the_drafters_are_learnt_without_any_library_for_tokenisers(monkeypatch):
    for name in ("tokenizers", "sentencepiece"):
        monkeypatch.setitem(sys.modules, name, None)
    anew = vocabulary_default.drafters.__wrapped__()
    assert [drafter.tokenized.vocabulary.tokens for drafter in anew] == [
        drafter.tokenized.vocabulary.tokens for drafter in drafters()
    ]
    with pytest.raises(ImportError, match="not installed"):
        library("tokenizers", "reading")


def test_psi_of_the_default_is_that_of_the_walk_over_paths():
    # Too many paths to walk for all words: so for the few that begin with one blank and the letter q or z.
    words = [token for token in target().vocabulary if token[1:2] in (b"q", b"z")]
    few = Vocabulary(words)
    for drafter in drafters()[1:]:
        heard = drafter.tokenized.read(b" a list of")
        walked = psi.first_token(
            few, drafter.tokenized.vocabulary, lambda path, d=drafter, h=heard: d.model((*h, *path))
        )
        own, model = drafter.tokenized.vocabulary, drafter.model
        (merged,) = vocabulary_default.merged_paths.first_tokens(few, own, model, [heard])
        # As in string_level/test_merged_paths.py: both sum positive terms; a mass passes at most 12 draws, each with
        # 3·order + 1 roundings, and no sum has more terms than there are paths and tokens.
        roundings = 12 * (3 * drafter.model.order + 1 + walked.calls + 512)
        bound = 2 * roundings * 2.0**-53 / (1 - 2 * roundings * 2.0**-53)
        assert max(map(len, words)) <= 12
        assert (abs(merged.law - walked.law) <= bound * walked.law).all()


def test_words_are_drafted_with_the_law_of_one_token():
    # For words ψ is the draft law without its silent token; the walk of two tries says the same.
    words, drafter = target().vocabulary, drafters()[0]
    ((found, missing),) = drafter.first_token_laws(words, [b" a list of"])
    assert missing == 0
    general = psi.psi(words, words, found)
    # Depth by depth: at most one rounding a child on each of the levels, and one a token.
    assert (abs(general - found) <= 2.0**-52 * (256 * 64 + len(words)) * found).all()


class Said:
    """A source of uniforms that were chosen beforehand."""

    def __init__(self, *uniforms):
        self.uniforms = list(uniforms)

    def random(self, size):
        return np.array([self.uniforms.pop(0) for _ in range(size)])


def test_the_mean_tokens_of_all_chains_are_those_of_the_verifier():
    # The draft is uniform on two tokens, so that all chains of two are as likely; dyadic numbers, no rounding.
    target_model, draft_model = Table({}, default=[0.25, 0.75]), Table({}, default=[0.5, 0.5])
    laws = Conditionals(target_model, draft_model, ())
    values = [vocabulary_sampling.tokens_of_chain(laws, (1, 2), Said(u, v)) for u in (0, 0.5) for v in (0, 0.5)]
    for lookahead, value in zip((1, 2), np.mean(values, axis=0), strict=True):
        assert value == chain.expected(target_model, draft_model, (), lookahead)
    assert vocabulary_sampling.tokens_of_chain(Conditionals(Table({}, default=[1.0, 0.0]), draft_model, ()), (3,), Said(
        0.9)) == [1.0]  # fmt: skip


def test_the_mean_tokens_of_all_drafts_are_those_of_the_programs():
    # The same for what is re-tokenised: two draft tokens, uniform, and a target of dyadic masses.
    speaker = TokenizedModel(Table({}, default=[0.25, 0.5, 0.25]), Vocabulary(["a", "b", "ab"]))
    drafter = TokenizedModel(Table({}, default=[0.5, 0.5]), Vocabulary(["a", "ba"]))
    opening = opened(speaker, drafter, ())
    drafts = [(first, second) for first in (0, 1) for second in (0, 1)]
    tokens, firsts = vocabulary_sampling._retokenised(speaker, opening, drafts, (1, 2))
    for method in METHODS:
        for lookahead in (1, 2):
            if (method.name, lookahead) in tokens:
                expected = length.expected(
                    lambda coin, start, method=method, lookahead=lookahead: method.generate(
                        coin, speaker, drafter, start, lookahead
                    ),
                    (),
                )
                assert tokens[method.name, lookahead] == expected
    assert len(tokens) == 4
    outcomes = law(lambda coin: timing.run(coin, speaker, drafter, (), 2))
    accepted = sum(mass for outcome, mass in outcomes.items() if outcome.accepted)
    assert np.mean([first.chance for first in firsts]) == accepted


def test_the_default_s_lines_hold_together():
    result = small()
    assert [drafter.name for drafter in result.drafters] == ["words (order 2)", "byte pairs", "bytes"]
    for drafter in result.drafters:
        lines = {line.name: line for line in drafter.lines}
        assert lines["union"].acceptance.value <= lines["TLI"].acceptance.value * (1 + 2**-40)
        assert lines["SLEM"].acceptance.value <= lines["SLRS"].acceptance.value
        assert lines["SLEM"].acceptance.value <= result.surest.value * (1 + 2**-40)
        assert lines["SLRS"].tokens.value == pytest.approx(1 + lines["SLRS"].acceptance.value, rel=2**-45)
        vocabulary = next(other.tokenized.vocabulary for other in drafters() if other.name == drafter.name)
        assert drafter.psi_calls == psi.most_calls(target().vocabulary, vocabulary)
        assert any(bias.exact and bias.value.value > 0 for bias in drafter.biases)
    bytes_alone = result.drafters[-1]
    assert bytes_alone.shared == 0
    assert bytes_alone.line(TLI).acceptance.value == 0
    assert bytes_alone.line(TLI).tokens is None
