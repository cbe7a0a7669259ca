"""Each known-wrong verifier of one position is refuted, by rational laws on which the exact floor judges it lossy."""

from __future__ import annotations

from typing import Any

import pytest

from proofs_tests import wrong_choices
from proofs_tests.controls import CONTROLS, Control
from proofs_tests.oracles import forked, independent_drafts
from spec_math import Lossy, Scheme, check_lossless
from spec_math.block_level import chain
from spec_math.distribution import overlap
from spec_math.string_level import timing
from spec_math.symbolic import Proof, Theorem, block_theorems, prove, token_theorems
from spec_math.symbolic.block_theorems import lossless_twice

pytest.importorskip("z3")


def name(control: Control) -> str:
    verifier = control.verifier
    return (
        verifier.draw.__name__ + "+" + verifier.verify.__name__ if isinstance(verifier, Scheme) else verifier.__name__
    )


def proved(control: Control, tokens: int, limit: float | None = None) -> Proof:
    def statement(target: Any, draft: Any) -> Any:
        return check_lossless(control.verifier, target, draft, control.k)

    return prove(Theorem(name(control), f"{tokens} tokens", statement, {"t": tokens, "d": tokens}), limit=limit)


# Lossless on every pair of laws on two tokens: one token wants more than it is drafted, and a residual of one token is
# right however it is taken. That these five are proved there, and refuted on three, is the sharpest control of the
# prover itself. SpecHub with one test for both orders is refuted on two.
RIGHT_ON_TWO_TOKENS = {
    "subtracts_the_draft_at_the_drafted_token_only",
    "takes_the_likeliest_of_the_residual",
    "shares_one_uniform",
    "top_two+verify",
    "draw+without_then_with",
}


@pytest.mark.parametrize("control", [c for c in CONTROLS if c.left_open is None], ids=name)
def test_every_control_is_refuted_and_the_exact_floor_confirms_it(control: Control) -> None:
    found = proved(control, 3)
    assert found.verdict == "refuted", found.reason
    t, d = found.counterexample.parameters.values()  # type: ignore[union-attr]
    verdict = check_lossless(control.verifier, t, d, control.k)
    assert isinstance(verdict, Lossy)
    if verdict.token is not None and verdict.total_variation is not None:
        assert emitted(control, t, d).get(verdict.token, 0) == verdict.emitted != verdict.target == t[verdict.token]


@pytest.mark.parametrize("control", [c for c in CONTROLS if c.left_open is not None], ids=name)
def test_a_control_that_single_laws_leave_open_is_left_open_for_the_same_reason(
    control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A loop without an end has as many paths as coins are let on one: each is walked from its start.
    monkeypatch.setattr("spec_math.chance.LONGEST", 60)
    found = proved(control, 2, limit=1.0)
    assert (found.verdict, found.undecided) == ("open", control.left_open)


def emitted(control: Control, target: Any, draft: Any) -> dict[int, Any]:
    """The law that a control emits, by forking in place of the library's coin."""
    verifier = control.verifier
    if isinstance(verifier, Scheme):
        drafts, verify = forked(lambda coin: verifier.draw(coin, draft, control.k)), verifier.verify
    else:
        drafts, verify = independent_drafts(draft, control.k), verifier
    total: dict[int, Any] = {}
    for tokens, mass in drafts.items():
        for token, chance in forked(
            lambda coin, tokens=tokens: verify(coin, tokens, target.copy(), draft.copy())
        ).items():
            total[token] = total.get(token, 0) + mass * chance
    return total


@pytest.mark.parametrize("control", [c for c in CONTROLS if name(c) in RIGHT_ON_TWO_TOKENS], ids=name)
def test_what_is_right_on_all_laws_of_two_tokens_is_proved_there(control: Control) -> None:
    assert proved(control, 2)


def test_the_right_twins_of_controls_are_proved() -> None:
    for verifier, k, tokens in (
        (wrong_choices.chooses_an_index, 3, 3),
        (wrong_choices.chooses_among_distinct_tokens, 2, 3),
    ):
        assert proved(Control(verifier, "right", k), tokens)


@pytest.mark.parametrize("drafted", [("a", "b"), ("aa", "bb")])
def test_token_timing_as_printed_is_refuted(drafted: tuple[str, ...]) -> None:
    """Erratum m: lossy with equal vocabularies too. Its repaired variants are among the theorems."""
    found = prove(block_theorems.string_theorems_lossless("as printed", timing.generate, (("a", "b"), drafted), 1))
    assert found.verdict == "refuted"
    assert isinstance(found.counterexample.verdict, Lossy)  # type: ignore[union-attr]


def test_a_block_whose_bonus_token_comes_from_the_draft_is_refuted_with_its_contexts() -> None:
    """Its first token is exact; the counterexample names a text of two."""

    def drafted_bonus(coin: Any, target: Any, draft: Any, prefix: Any) -> Any:
        tokens = chain.generate(coin, target, draft, prefix, 1)
        return tokens if len(tokens) == 1 else (tokens[0], coin.draw(draft(tokens[:1])))

    def one_token(coin: Any, target: Any, draft: Any, prefix: Any) -> Any:
        return drafted_bonus(coin, target, draft, prefix)[:1]

    assert prove(lossless_twice("first token only", one_token, 2, 1))
    found = prove(lossless_twice("bonus from the draft", drafted_bonus, 2, 2))
    assert found.verdict == "refuted"
    counterexample = found.counterexample
    assert list(counterexample.parameters) == ["t", "t_0", "t_1", "d", "d_0", "d_1"]  # type: ignore[union-attr]
    assert len(counterexample.verdict.tokens) == 2  # type: ignore[union-attr]


def test_a_bound_of_shared_noise_that_is_too_high_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: an acceptance of half the overlap is below (1 − TV)/(1 + TV) wherever TV is below 1."""
    theorem = token_theorems.at_least(2, 1)
    assert prove(theorem)

    def half(target: Any, draft: Any, k: int) -> Any:  # noqa: ARG001
        return overlap(target, draft) / 2

    monkeypatch.setattr(token_theorems.shared_noise, "least", half)
    assert prove(theorem).verdict == "refuted"
