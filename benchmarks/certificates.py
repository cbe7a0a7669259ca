"""Certificates with paths: the time to write and to check one as a ratio of its verdict's, and its size.

Run: python -m benchmarks.certificates
"""

from __future__ import annotations

from time import process_time
from typing import Any

from benchmarks.table import Row, interleaved, show
from spec_math import check_lossless, proportional_to
from spec_math.certificates import check_paths
from spec_math.token_level import recursive


def redraws(coin: Any, tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001 - it decides by the target alone
    """Draw a token from the target, whatever was drafted: V^(k+1) paths."""
    return coin.draw(target)


CASES = {"10^2": (recursive.verify, 5, 3, 5), "10^4": (redraws, 10, 3, 3), "10^5": (redraws, 10, 4, 1)}
"""Verifier, tokens, drafts and repeats, by about how many paths there are."""


def measured(name: str) -> list[Row]:
    """Return the rows of one size: writing and checking as multiples of the verdict's time, and the size in bytes."""
    verify, size, k, repeats = CASES[name]
    target = proportional_to([place + 1 for place in range(size)])
    draft = proportional_to([size - place for place in range(size)])

    def judge() -> Any:
        return check_lossless(verify, target, draft, k)

    verdict = judge()
    certificate = verdict.certificate()
    document = certificate.document()
    bytes_written = sum(len(line.encode()) for line in certificate.lines())
    works = judge, lambda: sum(map(len, certificate.lines())), lambda: check_paths.check(document)
    told, written, checked = (min(seconds) for seconds in interleaved(works, repeats, process_time))
    what = f"{verdict.paths:,} paths, {bytes_written:,} bytes"
    against = f"the verdict, {told * 1e3:.3g} ms"
    return [
        Row(f"certificate written, {name} paths", written / told, 2.0, "×", what, against),
        Row(f"certificate checked, {name} paths", checked / told, 1.0, "×", what, against),
    ]


def rows() -> list[Row]:
    """Measure the promises: at most twice the verdict's time to write, at most its time to check."""
    return [row for name in CASES for row in measured(name)]


def main() -> None:
    """Print the table."""
    _ = show(rows(), "Certificates with paths")


if __name__ == "__main__":
    main()
