"""An error of the user's own code is told with its line; None and -1 for "all rejected" are refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from spec_math.samplers.case import position
from spec_math.samplers.counts import check_sampler, judge_counts
from spec_math.samplers.subject import subject_of
from spec_math.studies.audits.study import AuditRequest, study
from spec_math.verdict import Lossy, Reason, Undecided

LAWS = ["3/8", "3/8", "1/8", "1/8"], ["1/8", "1/4", "1/4", "3/8"]

BROKEN = {
    "NameError": "residual(target, draft)",
    "TypeError": "target(draft)",
    "AttributeError": "target.residual",
    "ModuleNotFoundError": "__import__('no_such_module')",
}

SAMPLER = """
import random

def verify(tokens, target, draft):
    x = tokens[0]
    if random.random() * draft[x] < target[x]:
        return x
    return {rest}
"""


@pytest.mark.parametrize("kind", BROKEN)
def test_an_error_of_the_function_is_told_first_with_its_line(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"mine_{kind.lower()}.py"
    file.write_text(SAMPLER.format(rest=BROKEN[kind]))
    result = study(
        AuditRequest(f"{file}:verify", target=",".join(LAWS[0]), draft=",".join(LAWS[1]), numbers="fractions"),
        subject_of,
        lambda *_: lambda _: None,
    )
    assert f"because it fails: {kind}: " in result.finding, result.finding
    assert f"an error in the code of verify (line 8 of {file.name})" in result.finding
    assert result.exit_code == 1
    assert not any("another law" in note.text for note in result.notes)


@pytest.mark.parametrize("answer", [None, -1])
@pytest.mark.parametrize("listed", [False, True])
def test_none_and_minus_one_for_all_drafts_rejected_are_refused(answer: Any, listed: bool) -> None:
    def verify(tokens: Any, target: Any, draft: Any) -> Any:
        x = tokens[0]
        found = x if random.random() * draft[x] < target[x] else answer
        return [found] if listed else found

    verdict = check_sampler(verify, *LAWS)
    assert isinstance(verdict, Undecided), verdict
    assert verdict.reason is Reason.NOT_JUDGED
    assert "all drafts were rejected" in verdict.explanation
    assert "residual" in verdict.explanation


def test_an_error_of_the_function_breaks_no_contract() -> None:
    def verify(tokens: Any, target: Any, draft: Any) -> Any:
        x = tokens[0]
        return x if random.random() * draft[x] < target[x] else residual(target, draft)  # type: ignore[name-defined]  # noqa: F821

    found = judge_counts(subject_of(verify, numbers="fractions"), position(*LAWS)).last
    assert isinstance(found.verdict, Lossy)
    assert found.contract is None
