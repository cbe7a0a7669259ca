"""Right samplers were called with target and draft exchanged, since arguments were taken by their position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofs_tests.soundness.audited import not_judged, verdict_of
from spec_math.audit import check_sampler
from spec_math.verdict import Lossless, Lossy

SIGNATURES = [
    ("step(draft, target)", "drawn(draft), target, draft"),
    ("verify(draft_probs, target_probs, tokens)", "tokens[0], target_probs, draft_probs"),
    ("verify(draft_token_ids, draft_probs, target_probs)", "draft_token_ids[0], target_probs, draft_probs"),
    ("keyword_only(*, draft, tokens, target)", "tokens[0], target, draft"),
    ("positional_only(draft_dist, target_dist, /, tokens)", "tokens[0], target_dist, draft_dist"),
    ("defaults_between(q_draft, temperature=1.0, p_target=None, tokens=None)", "tokens[0], p_target, q_draft"),
    ("one_token(proposal_probs, verifier_probs, draft_token)", "draft_token, verifier_probs, proposal_probs"),
    ("camel(draftProbs, targetProbs, tokenIds)", "tokenIds[0], targetProbs, draftProbs"),
    ("others(small_probs, big_probs, ids, *rest, top_k=None)", "ids[0], big_probs, small_probs"),
    ("letters(t, d, x)", "x[0], t, d"),
    ("teacher_and_student(student, teacher, tokens)", "tokens[0], teacher, student"),
]


@pytest.mark.parametrize(("signature", "arguments"), SIGNATURES)
def test_any_order_and_any_plain_name_is_understood(signature: str, arguments: str, tmp_path: Path) -> None:
    name = signature.partition("(")[0]
    for kind, expected in (("right", Lossless), ("wrong", Lossy)):
        code = f"def {signature}:\n    return {kind}({arguments})\n"
        assert isinstance(verdict_of(code, name, tmp_path), expected)


HELD = """
class Sampler:
    def __init__(self, kind):
        self.kind = kind
    def verify(self, draft, target, tokens):
        return self.kind(tokens[0], target, draft)
    def __call__(self, draft_probs, target_probs):
        return self.kind(drawn(draft_probs), target_probs, draft_probs)
    @staticmethod
    def plain(draft, target, tokens):
        return right(tokens[0], target, draft)

def tempered(temperature, draft, target, tokens, kind):
    return kind(tokens[0], target, draft)

right_one, wrong_one = Sampler(right), Sampler(wrong)
right_method, wrong_method = right_one.verify, wrong_one.verify
right_partial, wrong_partial = partial(tempered, 1.0, kind=right), partial(tempered, 1.0, kind=wrong)
right_coin = lambda draft, coin, target: coin.draw(target)
wrong_coin = lambda draft, coin, target: coin.draw(draft)
"""


@pytest.mark.parametrize("held", ["one", "method", "partial", "coin"])
def test_objects_partials_and_coins_are_called_by_name_too(held: str, tmp_path: Path) -> None:
    assert isinstance(verdict_of(HELD, f"right_{held}", tmp_path), Lossless)
    assert isinstance(verdict_of(HELD, f"wrong_{held}", tmp_path), Lossy)
    assert isinstance(verdict_of(HELD, "Sampler.plain", tmp_path), Lossless)


AMBIGUOUS = [
    ("step(tokens, p, q)", "tokens[0], p, q", "p=target,q=draft"),
    ("step(tokens, p, q)", "tokens[0], q, p", "q=target,p=draft"),
    ("step(a, b)", "drawn(b), a, b", "a=target,b=draft"),
    ("step(a, b)", "drawn(a), b, a", "draft,target"),
    ("step(draft, target, draft_probs)", "draft[0], target, draft_probs", "draft=tokens"),
    ("step(*laws)", "drawn(laws[1]), *laws", "target,draft"),
    ("step(probs, draft, x)", "x[0], probs, draft", "probs=target"),
]


@pytest.mark.parametrize(("signature", "arguments", "roles"), AMBIGUOUS)
def test_what_names_do_not_tell_is_asked_for_and_never_guessed(
    signature: str, arguments: str, roles: str, tmp_path: Path
) -> None:
    """SpecTr writes p for the draft, others p for the target."""
    for kind, expected in (("right", Lossless), ("wrong", Lossy)):
        code = f"def {signature}:\n    return {kind}({arguments})\n"
        asked = verdict_of(code, "step", tmp_path)
        assert not_judged(asked)
        assert "--roles" in asked.explanation
        told = verdict_of(code, "step", tmp_path, roles=roles)
        assert isinstance(told, expected), told
        if isinstance(told, Lossless):
            assert told.assumed[0].endswith("as roles tell")


def test_the_example_that_a_question_gives_can_be_used_as_it_stands() -> None:
    def step(tokens: Any, p: Any, q: Any) -> int:
        return tokens[0] if p is not q else -1

    asked = check_sampler(step, ["1/2", "1/2"], ["1/2", "1/2"])
    assert not_judged(asked)
    roles = asked.explanation.partition('roles="')[2].partition('"')[0]  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(check_sampler(step, ["1/2", "1/2"], ["1/2", "1/2"], roles=roles), Lossless)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"roles": "draft=target,target=draft"}, "its name says something else"),
        ({"roles": "target,draft,tokens"}, "its name says something else"),
        ({"roles": {"p": "target"}}, "the parameter 'p', which step does not have"),
        ({"roles": "draft=proposal"}, "each of coin, tokens, target, draft once at most"),
        ({"roles": "draft=draft,target"}, "all by name or all by position"),
        ({"shape": "laws"}, "contradicts the parameters of step"),
        ({"shape": "verifier"}, "contradicts the parameters of step"),
    ],
)
def test_roles_and_shapes_that_contradict_the_names_are_bad_input(how: Any, said: str) -> None:
    def step(draft: Any, target: Any, tokens: Any) -> int:  # noqa: ARG001
        return tokens[0]

    with pytest.raises(ValueError, match=said):
        check_sampler(step, ["1/4", "3/4"], ["1/2", "1/2"], **how)


def test_by_position_the_same_samplers_would_be_condemned() -> None:
    """The control: what calling by position did."""

    def step(draft: Any, target: Any) -> Any:
        return min(range(2), key=lambda token: -target[token] + 0 * draft[token])

    def exchanged(target: Any, draft: Any) -> Any:
        return step(target, draft)

    assert check_sampler(step, ["1", "0"], ["0", "1"])
    assert isinstance(check_sampler(exchanged, ["1", "0"], ["0", "1"]), Lossy)
