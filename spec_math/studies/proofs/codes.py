"""The exit code of proofs."""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.symbolic import Proof


def code_of(proofs: Sequence[Proof]) -> int:
    """Return the exit code of proofs: 1 where one is refuted, 3 where one is left open and none refuted, else 0.

    >>> code_of([Proof("one token: lossless", "all laws", "proved", 7, 0, 2, 0.1)])
    0
    """
    verdicts = {proof.verdict for proof in proofs}
    return 1 if "refuted" in verdicts else 3 if "open" in verdicts else 0
