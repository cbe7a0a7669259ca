"""The judge against known-wrong verifiers: each is lossy, with a counterexample that a second enumeration confirms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from proofs_tests import broken_verifiers, controls, wrong_choices
from proofs_tests.controls import CONTROLS, DRAFT, HALVES, TARGET, UNWANTED, Control
from proofs_tests.oracles import forked, independent_drafts
from proofs_tests.strategies import pairs
from spec_math import Lossless, Lossy, Scheme, check_lossless, exact, law, replay
from spec_math.distribution import residual
from spec_math.token_level import single
from spec_math.verdict import Undecided


def name(control: Control) -> str:
    verifier = control.verifier
    return (
        verifier.draw.__name__ + "+" + verifier.verify.__name__ if isinstance(verifier, Scheme) else verifier.__name__
    )


def verdict(control: Control) -> Lossy:
    found = check_lossless(control.verifier, control.target, control.draft, control.k)
    assert isinstance(found, Lossy), control.why
    return found


def emitted(control: Control) -> dict[int, Any]:
    """The law that a control emits, by its own sum over drafts and by forking in place of the library's coin."""
    verifier, target, draft, k = control.verifier, control.target, control.draft, control.k
    if isinstance(verifier, Scheme):
        drafts, verify = forked(lambda coin: verifier.draw(coin, draft, k)), verifier.verify
    else:
        drafts, verify = independent_drafts(draft, k), verifier
    total: dict[int, Any] = {}
    for tokens, mass in drafts.items():
        given_drafts = forked(lambda coin, tokens=tokens: verify(coin, tokens, target.copy(), draft.copy()))
        for token, chance in given_drafts.items():
            total[token] = total.get(token, 0) + mass * chance
    return total


emitting = [control for control in CONTROLS if not control.broken and control.left_open is None]
breaking = [control for control in CONTROLS if control.broken]


def test_there_are_controls_of_both_kinds() -> None:
    assert len(emitting) >= 12
    assert len(breaking) >= 6
    names = [name(control) for control in CONTROLS]
    assert len(set(names)) == len(names)
    assert all(control.why for control in CONTROLS)


@pytest.mark.parametrize("control", emitting, ids=name)
def test_wrong_verifier_is_lossy_with_a_true_counterexample(control: Control) -> None:
    found, truth = verdict(control), emitted(control)
    assert sum(truth.values()) == 1
    token = found.token
    assert token is not None
    assert found.emitted == truth.get(token, 0) != found.target
    assert found.target == control.target[token]
    gaps = [abs(truth.get(y, 0) - mass) for y, mass in enumerate(control.target)]
    assert abs(found.emitted - found.target) == max(gaps)
    assert found.total_variation == sum(gaps) / 2
    assert {type(found.emitted), type(found.target), type(found.total_variation)} == {Fraction}
    assert f"token {token} " in str(found)
    assert not found


@pytest.mark.parametrize("control", breaking, ids=name)
def test_broken_verifier_is_lossy_with_its_reason_and_path(control: Control) -> None:
    found = verdict(control)
    assert found.reason
    assert found.emitted is None
    assert found.path
    assert found.path[0].startswith("draw(2/5, 3/10, 1/5, 1/10) = ")
    assert found.reason in str(found)


@pytest.mark.parametrize(
    ("verifier", "said"),
    [(broken_verifiers.never_ends, "no number of paths"), (broken_verifiers.remembers, "not a function of its coin")],
)
def test_what_no_walk_can_decide_is_left_open_with_its_reason(
    verifier: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spec_math.chance.LONGEST", 100)
    (control,) = [control for control in CONTROLS if control.verifier is verifier]
    found = check_lossless(control.verifier, control.target, control.draft, control.k)
    assert isinstance(found, Undecided)
    assert found.reason is control.left_open
    assert said in found.explanation


@pytest.mark.parametrize(
    ("verifier", "said"),
    [
        (broken_verifiers.raises, "KeyError"),
        (broken_verifiers.divides_by_zero, "ZeroDivisionError"),
        (broken_verifiers.emits_a_placeholder, "emitted the token -1, outside 0..3"),
        (broken_verifiers.emits_beyond_the_vocabulary, "emitted the token 4, outside 0..3"),
        (broken_verifiers.emits_no_token, "emitted None"),
        (broken_verifiers.flips_more_than_one, "a probability must lie in [0, 1]; got 3/2"),
        (broken_verifiers.draws_from_a_residual_that_is_no_law, "sum to 2/5 (off by 3/5)"),
        (wrong_choices.k_sequential_below_gamma_star, "masses must be >= 0; token 0 has -1/4"),
    ],
)
def test_broken_verifier_is_told_what_it_did(verifier: Any, said: str) -> None:
    (control,) = [control for control in CONTROLS if control.verifier is verifier]
    assert said in verdict(control).reason


def test_less_or_equal_on_a_grid_with_zero_emits_tokens_of_mass_zero() -> None:
    (control,) = [c for c in CONTROLS if c.verifier is controls.compares_with_or_equal_on_a_grid]
    assert control.target[2] == 0
    # Drafted with 1/4, and accepted when u = 0, one cell of eight.
    assert emitted(control)[2] == Fraction(1, 4) * Fraction(1, 2**controls.GRID)
    assert check_lossless(controls.compares_strictly_on_a_grid, HALVES, UNWANTED, 1) == Lossless(paths=24, drafts=(1,))


def test_inverting_sums_with_or_equal_emits_what_the_residual_leaves_out() -> None:
    (control,) = [c for c in CONTROLS if c.verifier is controls.inverts_the_residual_with_or_equal]
    assert residual(TARGET, DRAFT)[0] == 0
    rejected = Fraction(2, 5)
    assert emitted(control)[0] == TARGET[0] + rejected * Fraction(1, 2**controls.GRID)


def test_one_shared_uniform_is_what_its_control_says() -> None:
    """Twelve cells hold every threshold of this pair, so that a shared uniform can be walked cell by cell."""
    (control,) = [c for c in CONTROLS if c.verifier is controls.shares_one_uniform]
    sums = [sum(residual(TARGET, DRAFT)[: y + 1]) for y in range(4)]
    cells = [Fraction(2 * i + 1, 24) for i in range(12)]
    walked: dict[int, Fraction] = {}
    for x in range(4):
        for u in cells:
            y = x if u < min(1, TARGET[x] / DRAFT[x]) else next(y for y in range(4) if sums[y] > u)
            walked[y] = walked.get(y, 0) + DRAFT[x] / 12
    assert emitted(control) == walked


def test_one_draft_of_three_by_index_is_right_and_by_token_is_wrong() -> None:
    assert check_lossless(wrong_choices.chooses_an_index, TARGET, DRAFT, 3)
    assert not check_lossless(wrong_choices.chooses_among_distinct_tokens, TARGET, DRAFT, 3)
    # Two drafts are not enough to tell: there a token is as likely by either choice.
    assert check_lossless(wrong_choices.chooses_among_distinct_tokens, TARGET, DRAFT, 2)


def test_a_wrong_residual_may_be_right_on_laws_with_one_wanting_token() -> None:
    """A control shows nothing where it does not bite: here the residual is one-hot, however it is taken."""
    target, draft = exact(["1/4", "1/4", "1/2"]), exact(["1/2", "1/3", "1/6"])
    for lossless_here in (controls.takes_the_likeliest_of_the_residual, controls.shares_one_uniform):
        assert check_lossless(lossless_here, target, draft)
        assert not check_lossless(lossless_here, TARGET, DRAFT)


@given(pair=pairs())
@settings(max_examples=100)
def test_no_right_verifier_is_judged_lossy_beside_its_controls(pair: Any) -> None:
    """The controls' own skeleton with the mistake taken out."""

    def right(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        (x,) = tokens
        return x if coin.flip(wrong_choices.ratio(target, draft, x)) else coin.draw(residual(target, draft))

    assert check_lossless(right, *pair)
    assert check_lossless(wrong_choices.chooses_an_index, *pair, 2)


def test_the_printed_algorithm_1_returns_the_residual_law() -> None:
    """Erratum b of SpecTr: line 7 is reached after an acceptance too."""
    (control,) = [c for c in CONTROLS if c.verifier is controls.returns_the_residual_draw_always]
    assert emitted(control) == {y: mass for y, mass in enumerate(residual(TARGET, DRAFT)) if mass != 0}


def test_a_clamped_denominator_is_found_in_floats_too() -> None:
    float_target, float_draft = TARGET.astype(float), DRAFT.astype(float)

    def clamped(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        (x,) = tokens
        return x if coin.flip(min(1, target[x] / (draft[x] + 1e-10))) else coin.draw(residual(target, draft))

    found = check_lossless(clamped, float_target, float_draft)
    assert isinstance(found, Lossy)
    exact_gap = Fraction(0)
    offset = Fraction(1e-10)
    rejected = sum(d - min(d, t * d / (d + offset)) for t, d in zip(TARGET, DRAFT, strict=True))
    for t, d, r in zip(TARGET, DRAFT, residual(TARGET, DRAFT), strict=True):
        exact_gap += abs(min(d, t * d / (d + offset)) + rejected * r - t) / 2
    assert float(exact_gap) == pytest.approx(found.total_variation, abs=1e-14)
    assert check_lossless(single.verify, float_target, float_draft)


def test_replaying_a_control_shows_its_token() -> None:
    """The path of a verdict can be walked again by hand: here the rejected draft 0 meets the placeholder."""
    (control,) = [c for c in CONTROLS if c.verifier is broken_verifiers.emits_a_placeholder]
    found = verdict(control)
    assert found.path[-1] == "flip(1/4) = False"

    def program(coin: Any) -> int:
        return broken_verifiers.emits_a_placeholder(coin, (coin.draw(DRAFT),), TARGET, DRAFT)

    assert replay(program, [Fraction(0), Fraction(1, 4)]) == -1
    assert law(program)[-1] == Fraction(2, 5)
