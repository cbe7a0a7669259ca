"""What a proof on symbols says of programs that ask of a mass what no symbol can answer: never a wrong verdict."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from proofs_tests.soundness.right_verifiers_of_symbols import FOLLOWED, RIGHT
from proofs_tests.soundness.verifiers_of_symbols import WRONG, Verifier
from spec_math import Lossy, check_lossless, exact
from spec_math.symbolic import Proof, Theorem, prove

pytest.importorskip("z3")


def name(verifier: Verifier) -> str:
    return verifier.__name__


def proof(verifier: Verifier, tokens: int) -> Proof:
    def statement(target: Any, draft: Any) -> Any:
        return check_lossless(verifier, target, draft, 1)

    return prove(Theorem(name(verifier), f"{tokens} tokens", statement, {"t": tokens, "d": tokens}))


@pytest.mark.parametrize("tokens", [2, 3])
@pytest.mark.parametrize("verifier", WRONG, ids=name)
def test_a_wrong_verifier_is_refuted_by_a_law_that_the_exact_judge_confirms(verifier: Verifier, tokens: int) -> None:
    """Refused symbols lead to a trial on Fractions, which finds the tie: the proof ends with a counterexample."""
    found = proof(verifier, tokens)
    assert found.verdict == "refuted", found.reason
    target, draft = found.counterexample.parameters.values()  # type: ignore[union-attr]
    assert all(type(mass) is Fraction for law in (target, draft) for mass in law)
    assert isinstance(check_lossless(verifier, target, draft, 1), Lossy)


@pytest.mark.parametrize("verifier", WRONG, ids=name)
def test_the_wrong_verifiers_are_wrong(verifier: Verifier) -> None:
    """Each is lossy somewhere on a grid of laws that has no part in a proof."""
    grid = [exact([Fraction(i, 6), Fraction(6 - i, 6)]) for i in range(7)]
    assert any(isinstance(check_lossless(verifier, t, d, 1), Lossy) for t in grid for d in grid)


@pytest.mark.parametrize("verifier", FOLLOWED, ids=name)
def test_a_right_verifier_that_symbols_follow_is_proved(verifier: Verifier) -> None:
    assert proof(verifier, 2)
    assert proof(verifier, 3)


@pytest.mark.parametrize("verifier", RIGHT, ids=name)
def test_a_right_verifier_is_never_refuted(verifier: Verifier) -> None:
    found = proof(verifier, 2)
    assert found.verdict in ("proved", "open"), found.counterexample
