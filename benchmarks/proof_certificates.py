"""Certificates of proofs: the time to write and to check one as a ratio of the proof's.

Run from the project's folder: python -m benchmarks.proof_certificates. The module
`proofs_tests.certificates.every_proof` prints the same of all theorems.
"""

from __future__ import annotations

import sys
from statistics import median
from time import process_time

from benchmarks.table import Row, interleaved, show
from spec_math.certificates import check_proof
from spec_math.symbolic import THEOREMS, prove
from spec_math.symbolic.certificate import certified

MEASURED = (
    ("maximal coupling: lossless", "all distributions on 4 tokens, 1 draft"),
    ("K-SEQ: lossless", "all distributions on 3 tokens, 1 draft, every γ with f(γ) ≤ 0"),
    ("SpecHub: lossless", "all distributions on 3 tokens, 2 drafts"),
    ("optimal plan: lossless", "all distributions on 3 tokens, 1 draft"),
)
"""Theorems with 100 to 300 empty regions, linear and not."""


def rows() -> list[Row]:
    """Measure every promise, in processor time."""
    found: list[Row] = []
    for name, scope in MEASURED:
        (theorem,) = (one for one in THEOREMS if (one.name, one.scope) == (name, scope))
        _, document = certified(theorem)
        if document is None:
            raise SystemExit(f"{name} ({scope}) is not proved")
        works = (
            lambda theorem=theorem: prove(theorem),
            lambda theorem=theorem: certified(theorem),
            lambda document=document: check_proof.check(document),
        )
        alone, written, checked = interleaved(works, 3, process_time)
        for what, seconds, bound in (("write", written, 2.0), ("check", checked, 1.0)):
            ratios = [ours / theirs for ours, theirs in zip(seconds, alone, strict=True)]
            spread = f"{min(ratios):.3g}..{max(ratios):.3g}; best {min(seconds):.3g} s / {min(alone):.3g} s"
            found.append(
                Row(f"{what} the certificate of {name}", median(ratios), bound, "×", spread, "the proof alone")
            )
    return found


if __name__ == "__main__":
    sys.exit(not show(rows(), "Certificates of proofs"))
