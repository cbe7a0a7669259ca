"""Certificates of all theorems: written, checked, timed. `python -m proofs_tests.certificates.every_proof` prints them.

Options: words of theorems; `--seconds N` leaves out theorems whose proof takes longer than about N seconds.
"""

from __future__ import annotations

import gzip
import json
import sys
from time import process_time
from typing import Any, NamedTuple

from spec_math.certificates import check_proof
from spec_math.certificates.proof import certified
from spec_math.symbolic import Theorem, chosen, prove


class Line(NamedTuple):
    """The figures of one theorem; times in seconds of processor time."""

    name: str
    scope: str
    leaves: int
    empty: int
    linear: int
    products: int
    z3: int
    size: int
    zipped: int
    proof: float
    written: float
    checked: float


def line(theorem: Theorem) -> Line:
    """Prove a theorem, prove it with its certificate, and check that.

    Raises:
        ValueError: it is not proved, or the checker rejects its certificate.
    """
    begun = process_time()
    alone = prove(theorem)
    proof = process_time() - begun
    begun = process_time()
    found, document = certified(theorem)
    written = process_time() - begun
    if document is None or not alone or not found or found.regions != alone.regions:
        raise ValueError(f"{theorem.name} ({theorem.scope}): {alone.verdict}, with its certificate {found.verdict}")
    text = json.dumps(document, separators=(",", ":")).encode()
    read: dict[str, Any] = json.loads(text)
    begun = process_time()
    checker = check_proof.Proof(read)
    checker.walk()
    checked = process_time() - begun
    _ = check_proof.check(read) if checked < 1 else ""
    counts = checker.counts
    leaves, linear, products, z3 = (counts[kind] for kind in ("leaf", "linear", "products", "z3"))
    empty, zipped = linear + products + z3, len(gzip.compress(text))
    sizes = leaves, empty, linear, products, z3, len(text), zipped
    return Line(theorem.name, theorem.scope, *sizes, proof, written, checked)


HEAD = "| theorem | leaves | empty | linear | products | z3 alone | bytes | zipped | proof | written | checked |"


def row(found: Line) -> str:
    """Return a row of the table."""
    times = " | ".join(f"{seconds:.2f}" for seconds in (found.proof, found.written, found.checked))
    numbers = " | ".join(f"{number:,}" for number in found[2:9])
    return f"| {found.name}, {found.scope} | {numbers} | {times} |"


def main(argv: list[str]) -> int:
    """Print a row of each theorem, the quick ones first, and their sums."""
    most = float(argv[argv.index("--seconds") + 1]) if "--seconds" in argv else float("inf")
    words = argv[: argv.index("--seconds")] if "--seconds" in argv else argv
    theorems = sorted(chosen(tuple(words)), key=lambda theorem: theorem.seconds)
    print(HEAD, "|---|" + "---|" * 10, sep="\n", flush=True)
    lines: list[Line] = []
    wrong = 0
    for theorem in theorems:
        if theorem.seconds <= most:
            try:
                lines.append(line(theorem))
                print(row(lines[-1]), flush=True)
            except ValueError as error:
                wrong += 1
                print(f"WRONG {error}", flush=True)
    sums = [sum(column) for column in list(zip(*lines, strict=True))[2:]]
    print(row(Line(f"{len(lines)} theorems", "sums", *sums)), flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
