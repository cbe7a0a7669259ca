"""Wrong versions of the checker of proofs are noticed: a sample of them, by documents that take milliseconds."""

from __future__ import annotations

from pathlib import Path

from proofs_tests.certificates.checker_mutants import as_module, outcome
from proofs_tests.certificates.proof_mutants import quick_cases
from spec_math.certificates import check_proof

CHECKER = Path(check_proof.__file__)
CHANGES = {
    "size > 0": "size >= 0",
    "min(own) >= 0": "min(own) >= -1",
    "if factor is None else {0}": "if factor is None else {0, 1}",
    "positive and not total": "not total",
    "demand(node > at,": "demand(node >= at,",
    "same and signs == [0]": "signs == [0]",
    'demand(not zeros, f"a divisor': 'demand(True, f"a divisor',
    'claims + means and count["leaf"]': "claims + means",
    "len(document) == 11": "len(document) > 10",
    "str(value).isprintable()": "True",
}
"""Conditions of the checker, each with a weaker one."""


def test_each_weaker_condition_is_noticed_by_a_document_written_by_hand(tmp_path: Path) -> None:
    """`python -m proofs_tests.certificates.proof_mutants` changes every line."""
    source, cases = CHECKER.read_text(encoding="utf-8"), quick_cases(tmp_path)
    expected = {words: outcome(as_module(source, CHECKER), case) for words, case in cases.items()}
    living: list[str] = []
    for condition, weaker in CHANGES.items():
        assert source.count(condition) == 1
        wrong = as_module(source.replace(condition, weaker), CHECKER)
        if all(outcome(wrong, case) == expected[words] for words, case in cases.items()):
            living.append(condition)
    assert not living
