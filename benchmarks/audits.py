"""What the judge of a sampler costs: beside bare enumeration, and for 1, 2 and 3 drafts beside 3 alone."""

from __future__ import annotations

import numpy as np

from benchmarks.table import Row, ratio_row
from spec_math.audit import judge, judge_counts, subject_of
from spec_math.chance import Coin, law
from spec_math.samplers.case import Case, default
from spec_math.scheme import draw_independent
from spec_math.token_level import recursive


def rows() -> list[Row]:
    """Measure the recursive verifier on the zoo's toy: five tokens, Fractions."""
    subject = subject_of(recursive.verify)
    two, three = default(0, 2), default(0, 3)

    def program(coin: Coin) -> int:
        target, draft = _arrays(two)
        return recursive.verify(coin, draw_independent(coin, draft, 2), target, draft)

    return [
        ratio_row(
            "judging a verifier, k = 2", (lambda: judge(subject, two), lambda: law(program)), 2.0, "bare enumeration"
        ),
        ratio_row(
            "judging it for 1, 2 and 3 drafts",
            (lambda: judge_counts(subject, default()), lambda: judge(subject, three)),
            2.0,
            "3 drafts alone",
        ),
    ]


def _arrays(case: Case) -> tuple[np.ndarray, np.ndarray]:
    return np.array(case.target[0], dtype=object), np.array(case.draft[0], dtype=object)
