"""Samplers as people write them are judged exactly: right ones pass, each wrong one fails for its own reason."""

# ruff: noqa: ARG005 - samplers have the arguments of their shape
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from proofs_tests.samplers import samplers
from proofs_tests.strategies import pairs
from spec_math import check_lossless
from spec_math.audit import check_sampler, judge, likenesses, subject_of
from spec_math.block_level import emitted_law
from spec_math.distribution import residual_of
from spec_math.samplers.case import Case, chain, default, position
from spec_math.verdict import Lossy, Reason, Undecided
from spec_math.zoo import toy

F = Fraction
HALF = ["1/2", "1/2"]
QUARTERS = ["1/4", "3/4"]


def judged(fn: Any, case: Case | None = None, **how: Any) -> Any:
    return judge(subject_of(fn, **how), case or default(2 if "block" in fn.__name__ else 0), 10_000)


@pytest.mark.parametrize("fn", [samplers.verify, samplers.step, samplers.whole, samplers.block])
def test_right_samplers_pass(fn: Any) -> None:
    found = judged(fn)
    assert found.verdict
    assert found.kind == ""
    assert found.contract is None
    assert found.joint <= found.bound < 1e-11


@pytest.mark.parametrize("fn", [samplers.verify, samplers.step])
def test_rational_samplers_pass_exactly(fn: Any) -> None:
    found = judged(fn, numbers="fractions")
    assert (found.joint, found.bound) == (0, 0)
    assert found.walk.exact


@settings(max_examples=15, deadline=None)
@given(pairs())
def test_the_judge_is_the_library_s_own_on_verifiers(pair: Any) -> None:
    t, d = pair
    for verify in (samplers.verify, samplers.verify_wrong):
        ours = check_sampler(verify, list(map(str, t)), list(map(str, d)), k=2)
        theirs = check_lossless(verify, t, d, k=2)
        assert bool(ours) == bool(theirs)
        if isinstance(ours, Lossy) and isinstance(theirs, Lossy) and theirs.total_variation is not None:
            assert ours.total_variation == theirs.total_variation


def test_a_wrong_law_is_told_exactly_with_its_path() -> None:
    found = judged(samplers.step_redraws, position(QUARTERS, HALF), numbers="fractions")
    assert (found.first, found.joint, found.kind, found.contract) == (F(1, 16), F(1, 16), "law", "verifier")
    assert (found.verdict.token, found.verdict.emitted, found.verdict.target) == (0, F(5, 16), F(1, 4))
    assert found.law == {(0,): F(5, 16), (1,): F(11, 16)}
    assert found.way == ("draft 1: token 0", "<1/2 · python uniform 0 + 0> < 1/4: True")


def test_a_chain_is_judged_in_its_joint_law() -> None:
    """The bonus from the row before it: its first token is exact, and so are the first two."""
    found = judged(samplers.block_without_its_bonus)
    assert found.first <= found.bound
    assert found.joint > F(1, 100)
    assert len(found.verdict.tokens) == 3
    assert judged(samplers.block_without_its_bonus, chain(toy.TARGET, toy.DRAFT, 2)).verdict


def test_random_numbers_used_twice_break_the_contract_of_replay() -> None:
    case = position(["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"])
    found = judged(samplers.step_of_one_seed, case)
    assert not found.verdict
    assert found.contract == "replay"
    assert judged(samplers.step_redraws, case).contract == "verifier"
    assert judged(samplers.whole_greedy).contract == "drafter or verifier"


@pytest.mark.parametrize(
    ("fn", "kind", "said"),
    [
        (samplers.raises, "RuntimeError", "RuntimeError: no token was sampled"),
        (samplers.out_of_range, "tokens", r"emitted \(5,\), outside the tokens 0..4"),
    ],
)
def test_what_breaks_is_told_with_its_path(fn: Any, kind: str, said: str) -> None:
    found = judged(fn)
    assert found.kind == kind
    with pytest.raises(AssertionError, match=said):
        assert found.verdict, str(found.verdict)
    assert found.way[0] == "draft 1: token 0"


def test_a_float_as_a_token_and_a_block_for_a_token_are_refused() -> None:
    """Nothing was judged where every answer is so; where some are tokens, the others are faults."""
    for answer, said in ((0.5, "not a token index"), ((0, 1), "give a lookahead"), ([[0]], "flat list")):
        verdict = judged(lambda tokens, target, draft, answer=answer: answer).verdict
        assert verdict.reason is Reason.NOT_JUDGED
        assert said in verdict.explanation
        sometimes = judged(lambda tokens, target, draft, answer=answer: answer if tokens[0] else tokens[0]).verdict
        assert isinstance(sometimes, Lossy)
        assert said in sometimes.reason


def test_what_cannot_be_explored_says_so() -> None:
    for fn, said in (
        (samplers.normal, "does not follow np.random.normal"),
        (samplers.leaks, "state leaks between runs"),
        (lambda target, draft: int(np.exp(np.random.default_rng().random(2))[0] < 1), "cannot follow (TypeError"),
    ):
        verdict = judged(fn).verdict
        assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN
        assert said in verdict.explanation


def test_a_budget_that_runs_out_decides_only_what_it_can() -> None:
    case = position(QUARTERS, HALF)
    open_ended = judge(subject_of(samplers.endless), case, 50)
    assert isinstance(open_ended.verdict, Undecided)
    assert open_ended.verdict.reason is Reason.BUDGET
    assert open_ended.walk.paths == 50
    assert "raise the budget" in str(check_sampler(samplers.endless, QUARTERS, HALF, budget=50))
    proven = judge(subject_of(samplers.endless_but_wrong), position(["1/4", "1/4", "1/2"], ["1/3"] * 3), 50)
    assert isinstance(proven.verdict, Lossy)
    assert proven.verdict.token == 0
    assert proven.joint == F(1, 4)


@pytest.mark.parametrize(
    ("fn", "lookahead", "names"),
    [
        (samplers.step_redraws, 0, ["M11"]),
        (samplers.whole_greedy, 0, ["M2"]),
        (lambda tokens, targets, drafts: [*tokens, samplers.random.choices(range(5), targets[-1])[0]], 2, ["M7", "M8"]),
    ],
)
def test_a_known_bug_is_recognised(fn: Any, lookahead: int, names: list[str]) -> None:
    """M11, M2, and M7 with M8, which emit one law: the same as ours to the toy's last digits."""
    found = likenesses(subject_of(fn), lookahead, 10_000)
    assert [one.specimen.name for one in found if one.same][: len(names)] == names
    assert found[0].same
    specimen = found[0].specimen
    assert specimen.generate is not None
    # Another road to the distance: both laws from scratch.
    zoo = emitted_law(specimen.generate, toy.target, toy.HORIZON if lookahead else 1)
    ours = judge(subject_of(fn), default(lookahead), 10_000).law
    assert max(abs(float(zoo.get(text, 0) - ours.get(text, 0))) for text in zoo | ours) < 1e-7


def test_what_passes_or_breaks_looks_like_nothing() -> None:
    assert likenesses(subject_of(samplers.step), 0, 1000) == []
    assert likenesses(subject_of(samplers.raises), 0, 1000) == []


@pytest.mark.parametrize(
    ("fn", "how", "said"),
    [
        (samplers.step, {"shape": "laws"}, "contradicts the parameters of step"),
        (samplers.step, {"roles": "tokens,draft,target"}, "roles say that target takes the draft's distribution"),
        (samplers.step, {"roles": "target=target,target=draft"}, "each of coin, tokens, target, draft once at most"),
        (samplers.step, {"roles": "p=target"}, "the parameter 'p', which step does not have"),
        (samplers.step, {"shape": "kernel"}, "a shape must be one of verifier, tokens, laws"),
        (samplers.step, {"numbers": "float8"}, "numbers must be one of fractions"),
    ],
)
def test_options_that_are_wrong_are_refused(fn: Any, how: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        subject_of(fn, **how)


def test_signatures_and_modules_tell_shape_and_numbers() -> None:
    assert subject_of(samplers.verify).shape == "verifier"
    assert subject_of(samplers.verify).numbers.name == "Fractions"
    assert subject_of(samplers.block).shape == "tokens"
    assert subject_of(samplers.whole).shape == "laws"
    assert subject_of(samplers.whole).numbers.name == "NumPy float64"
    assert subject_of(lambda tokens, target, draft, temperature=1.0: 0).shape == "tokens"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: position(["1/4", "1/4"], HALF), "must sum to exactly 1"),
        (lambda: position(["1"], HALF), r"of one size; these have \[1, 2\] tokens"),
        (lambda: position(QUARTERS, HALF, 0), "at least 1"),
        (lambda: position([0.1, 0.9], HALF), "must sum to exactly 1"),
        (lambda: position([HALF], HALF), "a distribution|one of the world"),
        (lambda: chain([HALF], [HALF]), r"L \+ 1 target rows and L draft rows; got 1 and 1"),
    ],
)
def test_a_case_that_is_none_is_refused(make: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        make()


def test_single_precision_is_forgiven_its_own_rounding_and_no_more() -> None:
    """The bound for float32 covers a right sampler, and a bug of one part in ten stands out."""
    found = judged(samplers.block, numbers="float32")
    assert found.verdict
    assert 0 < found.joint <= found.bound < 2e-4

    def lenient(tokens: Any, target: Any, draft: Any) -> Any:
        x = tokens[0]
        left = np.maximum(target - draft, 0)
        return x if np.random.rand() < 1.1 * target[x] / draft[x] else np.random.choice(5, p=left / left.sum())  # noqa: NPY002

    assert not judged(lenient, numbers="float32").verdict


def reversed_step(coin: Any, x: int, t: Any, d: Any) -> int:
    return x if coin.flip(min(1, d[x] / t[x])) else coin.draw(residual_of(t, d))


def again(coin: Any, drafts: Any, t: Any, d: Any) -> int:
    for x in drafts:
        if coin.flip(min(1, t[x] / d[x])):
            return x
    return coin.draw(residual_of(t, d))


def test_a_sampler_with_one_of_them_is_named_by_it() -> None:
    """The second shows with two drafts alone, which are asked for; min(t, d) + ρt is the law of M11 as well.

    With ρ = Σ(t − d)+ and the residual r, t = min(t, d) + ρr: two tries and a draw from r give (1 + ρ)·min(t, d) + ρ²r.
    """
    one = likenesses(
        subject_of(lambda coin, tokens, target, draft: reversed_step(coin, tokens[0], target, draft)), 0, 9
    )
    assert [found.specimen.name for found in one if found.same] == ["M59"]
    subject = subject_of(lambda coin, tokens, target, draft: again(coin, tokens, target, draft))
    assert likenesses(subject, 0, 1000) == []
    two = likenesses(subject, 0, 1000, asked=default(k=2))
    assert [found.specimen.name for found in two if found.same] == ["M11", "M60"]


def hot(coin: Any, _tokens: Any, target: Any, _draft: Any) -> int:
    return coin.draw(target)


def test_a_sampler_at_a_temperature_is_compared_with_what_others_do_at_it() -> None:
    """It emits the toy's own law where temperature 1/2 is asked for, as M19 does in its drafted tokens."""
    cold = replace(default(), heat=F(1, 2))
    found = likenesses(subject_of(hot), 0, 1000, asked=cold)
    assert [one.specimen.name for one in found] == ["M19"]
