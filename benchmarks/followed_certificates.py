"""Certificates of samplers as they are: the time to write and to check one as a ratio of its verdict's."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from time import process_time
from typing import Any

from benchmarks.table import Row, ratio_row
from proofs_tests.certificates.followed import plain
from spec_math.audit import judge, subject_of
from spec_math.certificates import check_followed
from spec_math.samplers.case import default, position
from spec_math.samplers.certificate import Certificate


def again(tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001 - it decides by the target alone
    """Draw a token from the target, whatever was drafted: V^2 boxes."""
    return random.choices(range(len(target)), target)[0]


def of_many(size: int = 100) -> list[Row]:
    """Measure size² boxes once, in processor time: 10,000, or with a size of 316 99,856, which take half an hour."""
    target = [Fraction(place + 1, size * (size + 1) // 2) for place in range(size)]
    subject, case = subject_of(again), position(target, [Fraction(1, size)] * size)
    seconds = [process_time()]
    found = judge(subject, case)
    seconds.append(process_time())
    document = Certificate((found,)).document()
    seconds.append(process_time())
    _ = check_followed.check(document, "{file}:{name}".format(**document["function"]))
    seconds.append(process_time())
    told, written, checked = (after - before for before, after in pairwise(seconds))
    against = f"the verdict, {told:.3g} s"
    return [
        Row(f"writing a certificate of {size**2:,} boxes", written / told, 2.0, "×", "once", against),
        Row("checking it, with runs", checked / told, 1.0, "×", "once", against),
    ]


def rows() -> list[Row]:
    """Measure a chain of two drafts on the zoo's toy, 185 boxes in Fractions, and a draw of 10,000 boxes."""
    subject, case = subject_of(plain.chain), default(2)
    found = judge(subject, case)
    document = Certificate((found,)).document()
    place = "{file}:{name}".format(**document["function"])

    def verdict() -> object:
        return judge(subject, case)

    return [
        ratio_row(
            "writing a certificate of 185 boxes",
            (lambda: Certificate((found,)).document(), verdict),
            2.0,
            "the verdict",
        ),
        ratio_row("adding up its boxes", (lambda: check_followed.check(document), verdict), 0.2, "the verdict"),
        ratio_row(
            "checking it, with runs", (lambda: check_followed.check(document, place), verdict), 1.0, "the verdict"
        ),
        *of_many(),
    ]
