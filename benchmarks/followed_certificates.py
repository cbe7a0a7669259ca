"""Certificates of samplers as they are: the time to write and to check one as a ratio of its verdict's."""

from __future__ import annotations

from benchmarks.table import Row, ratio_row
from proofs_tests.certificates.followed import plain
from spec_math.audit import judge, subject_of
from spec_math.certificates import check_followed
from spec_math.samplers.case import default
from spec_math.samplers.certificate import Certificate


def rows() -> list[Row]:
    """Measure a chain of two drafts on the zoo's toy: 185 boxes, Fractions."""
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
    ]
