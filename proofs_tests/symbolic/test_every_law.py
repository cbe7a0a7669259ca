"""The theorems themselves: the quick ones are proved here, `spec-math prove` proves all."""

from __future__ import annotations

from collections import Counter

import pytest

from spec_math import SCHEMES
from spec_math.symbolic import THEOREMS, Theorem, chosen, prove
from spec_math.symbolic.every_law import QUICK

pytest.importorskip("z3")


def name(theorem: Theorem) -> str:
    return f"{theorem.name}, {theorem.scope}"


@pytest.mark.parametrize("theorem", chosen(quick=True), ids=name)
def test_theorem_holds_for_every_law(theorem: Theorem) -> None:
    found = prove(theorem)
    assert found, found.counterexample or found.reason
    assert found.regions > 0


def test_names_and_scopes_tell_theorems_apart() -> None:
    assert max(Counter(map(name, THEOREMS)).values()) == 1


def test_every_scheme_is_proved_lossless_and_most_have_their_formulas_proved() -> None:
    """K-SEQ stands under its own name, for every feasible γ."""
    for scheme in SCHEMES:
        own = "K-SEQ" if scheme.name.startswith("K-SEQ") else scheme.name
        scopes = [theorem.scope for theorem in THEOREMS if theorem.name == f"{own}: lossless"]
        assert len(scopes) >= 2
        kinds = {theorem.name.split(": ")[1] for theorem in THEOREMS if theorem.name.startswith(f"{own}: ")}
        assert kinds & {"as its formula says", "optimal for its drafts"}


def test_the_scopes_that_were_promised_are_there() -> None:
    scopes = {(theorem.name.removesuffix(": lossless"), theorem.scope.split(",")[0]) for theorem in THEOREMS}
    for tokens in (2, 3, 4):
        assert ("maximal coupling", f"all distributions on {tokens} tokens") in scopes
    for many in ("recursive rejection", "recursive rejection without replacement", "greedy drafts", "SpecHub"):
        assert {(many, f"all distributions on {tokens} tokens") for tokens in (2, 3)} <= scopes
    k_sequential = [theorem.scope for theorem in THEOREMS if theorem.name == "K-SEQ: lossless"]
    assert len(k_sequential) == 6
    assert all("every γ" in scope for scope in k_sequential)
    for block in ("one chain, token by token", "one chain, as a block"):
        assert (block, "blocks of 2 on 2 tokens") in scopes
    assert {"SLRS", "SLEM", "TLI", "union"} <= {own for own, _ in scopes}


def test_choosing_by_words_takes_all_that_hold_any() -> None:
    assert chosen() == THEOREMS
    some = chosen(("SpecHub", "SLEM"))
    assert {theorem.name.split(":")[0] for theorem in some} == {"SpecHub", "SLEM"}
    assert all(theorem.seconds <= QUICK for theorem in chosen(quick=True))
    with pytest.raises(ValueError, match="no theorem mentions 'nonsense'"):
        chosen(("SpecHub", "nonsense"))
