"""Random single changes of certificates of proofs. `python -m proofs_tests.certificates.proof_forgeries` tries 10,000.

Each change that the checker accepts is looked at point by point.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from typing import Any

from proofs_tests.certificates.forgeries import forged
from proofs_tests.certificates.proof_points import holds
from spec_math.certificates import check_proof
from spec_math.symbolic import THEOREMS
from spec_math.symbolic.certificate import certified

SMALL = (
    ("maximal coupling: lossless", "all distributions on 2 tokens, 1 draft"),
    ("maximal coupling: as its formula says", "all distributions on 2 tokens, 1 draft"),
    ("maximal coupling: optimal for its drafts", "all distributions on 2 tokens, 1 draft"),
    ("SpecHub: lossless", "all distributions on 2 tokens, 2 drafts"),
    ("shared noise: at least (1 − TV)/(1 + TV)", "all distributions on 2 tokens, 1 draft"),
)
"""Theorems with small certificates: of each kind of statement, with empty regions that carry witnesses."""


@cache
def certificate(name: str, scope: str) -> dict[str, Any]:
    """Return the certificate of a theorem, as a file holds it."""
    (theorem,) = (theorem for theorem in THEOREMS if (theorem.name, theorem.scope) == (name, scope))
    _, document = certified(theorem)
    if document is None:
        raise ValueError(f"{name} is not proved")
    return json.loads(json.dumps(document))


def accepted(document: dict[str, Any], many: int, seed: int) -> tuple[int, list[str]]:
    """Return how many of so many changes the checker accepts, and those that are wrong at a point."""
    passed, wrong = 0, list[str]()
    for words, forgery in islice(forged(document, seed), many):
        try:
            _ = check_proof.check(forgery)
        except ValueError:
            continue
        passed += 1
        if not holds(forgery):
            wrong.append(words)
    return passed, wrong


def main(many: int = 10_000) -> int:
    """Print what came of the changes of each certificate."""
    failed = 0
    for seed, theorem in enumerate(SMALL):
        passed, wrong = accepted(certificate(*theorem), many // len(SMALL), seed)
        print(
            f"{theorem[0]}: {many // len(SMALL):,} changes, {passed} accepted, {len(wrong)} of them wrong {wrong[:5]}"
        )
        failed += len(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
