"""Documents written by hand to deceive the checker of proofs: none is accepted, and sentences say what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from proofs_tests.certificates.attacks_on_proofs import DRAFT, attacks, document
from spec_math.certificates import check_proof


def test_the_right_proof_is_accepted() -> None:
    """The control: what the attacks start from holds."""
    assert "is proved" in check_proof.check(document())


@pytest.mark.parametrize("own", [pytest.param(own, id=words) for words, own in attacks()])
def test_an_attack_is_rejected(own: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        _ = check_proof.check(own)


def test_the_sentence_says_what_is_claimed() -> None:
    """The name of a theorem is free words; what is emitted is not."""
    drafts = [["0", [["draft", 0]]], ["1", [["draft", 1]]]]
    said = check_proof.check(document(theorem="always accepts: lossless", wanted=drafts, nodes=[DRAFT]))
    assert "draft" in said.replace("draft on 2 tokens", "")
    assert said.replace("always accepts", "draws from the target") != check_proof.check(document())


def test_the_sentence_says_that_values_of_formulas_are_taken_for_granted() -> None:
    formula = [["acceptance", [["0", "1"], ["1", "0"]]]]
    said = check_proof.check(document(formulas=formula, nodes=[["leaf", 2, [0]]]))
    assert "acceptance" in said.partition("assumed")[2]


def test_the_sentence_counts_what_was_not_judged() -> None:
    """A region outside of the hypothesis, or empty by z3 alone, is no witness: the numbers stand in the sentence."""
    parts = [["ask", 0, [[[1], 1, None], [[0], 2, None], [[-1], 3, None]]]]
    own = document(nodes=[*parts, ["outside", 0], ["leaf", 2, []], ["z3"]])
    said = check_proof.check(own)
    assert "is proved but for 1 region that z3 alone found empty. Checked" in said
    assert "1 regions judged, 0 empty by a witness, 1 by z3 alone, 1 outside of the hypothesis" in said
