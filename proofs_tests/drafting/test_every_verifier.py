"""Each map of a draft gives a law like any other: every scheme of one position, every method of blocks runs on it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from proofs_tests.tokenized_models import speaker
from spec_math import SCHEMES, Lossless, Lossy, check_lossless, check_lossless_block
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.methods import METHODS
from spec_math.drafting import intersection, union
from spec_math.language import Vocabulary
from spec_math.papers import reduced_vocabulary, speculative_vocabulary, two_vocabularies

WORDS, OTHERS = Vocabulary(["a", "b", "ab"]), Vocabulary(["ab", "a", "c"])
KERNEL = np.array([[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]] * 3, dtype=object)
TARGET = speaker(["a", "b", "ab"], ["1/2", "1/3", "1/6"], ["1/6", "1/6", "2/3"])
DRAFTER = speaker(["ab", "a", "c"], ["1/4", "1/2", "1/4"], ["1/2", "1/4", "1/4"])
SAME = speaker(["a", "b", "ab"], ["1/5", "2/5", "2/5"], ["3/5", "1/5", "1/5"])

MAPPED = {
    "union": union.models(TARGET, DRAFTER),
    "TLI": (TARGET.model, intersection.model(DRAFTER, WORDS)),
    "RDK": (TARGET.model, two_vocabularies.model(DRAFTER, WORDS, KERNEL)),
    "fixed subset": (TARGET.model, reduced_vocabulary.model(SAME.model, (0, 2))),
    "SpecVocab": (TARGET.model, speculative_vocabulary.model(SAME.model, lambda prefix: [len(prefix), 1, 2], 2)),
}


@pytest.mark.parametrize("name", MAPPED)
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("k", [1, 2])
def test_every_scheme_of_one_position_is_lossless_on_the_mapped_draft(scheme, name, k):
    laws = Conditionals(*MAPPED[name], ())
    for path in ((), (0,)):
        assert isinstance(check_lossless(scheme, laws.target(path), laws.draft(path), k), Lossless)


@pytest.mark.parametrize("name", MAPPED)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_of_blocks_is_lossless_on_the_mapped_draft(method, name):
    target, draft = MAPPED[name]
    verdict = check_lossless_block(
        lambda coin, prefix: method.generate(coin, target, draft, prefix, 1, 2), target, 2, rounds=1
    )
    assert isinstance(verdict, Lossless)


def test_a_draft_verified_against_the_unmapped_law_is_lossy():
    # The control: drawn from TLI's law, verified as if it came from the drafter's own masses.
    target, draft = MAPPED["TLI"]
    laws = Conditionals(target, draft, ())
    wrong = np.array([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], dtype=object)
    verify = SCHEMES[0].verify
    verdict = check_lossless(lambda coin, tokens, t, _: verify(coin, tokens, t, wrong), laws.target(), laws.draft())
    assert isinstance(verdict, Lossy)
