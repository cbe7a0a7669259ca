"""Certificates of all theorems: written, checked, timed. `python -m proofs_tests.certificates.every_proof` prints them.

Options: words of theorems, and numbers from which to which of them, the quick ones first: `17:40`.
"""

from __future__ import annotations

import gzip
import json
import sys
from time import process_time
from typing import Any, NamedTuple

from spec_math.certificates import check_proof
from spec_math.symbolic import Theorem, chosen, prove
from spec_math.symbolic.certificate import certified


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
    witnesses = [node[1] for node in read["nodes"] if node[0] == "empty"]
    # A linear witness adds multiples of facts; the facts may be products themselves.
    linear = sum(all(len(places) < 2 and factor is None for _, places, factor in terms) for terms in witnesses)
    leaves, empty, z3 = (counts.get(kind, 0) for kind in ("leaf", "empty", "z3"))
    sizes = leaves, empty + z3, linear, empty - linear, z3, len(text), len(gzip.compress(text))
    return Line(theorem.name, theorem.scope, *sizes, proof, written, checked)


HEAD = "| theorem | leaves | empty | linear | products | z3 alone | bytes | zipped | proof | written | checked |"


def row(found: Line) -> str:
    """Return a row of the table."""
    times = " | ".join(f"{seconds:.2f}" for seconds in (found.proof, found.written, found.checked))
    numbers = " | ".join(f"{number:,}" for number in found[2:9])
    return f"| {found.name}, {found.scope} | {numbers} | {times} |"


def main(argv: list[str]) -> int:
    """Print a row of each theorem, the quick ones first, and their sums."""
    first, _, last = next((word for word in argv if ":" in word), ":").partition(":")
    words = tuple(word for word in argv if ":" not in word)
    theorems = sorted(chosen(words), key=lambda theorem: theorem.seconds)[int(first or 0) : int(last or 10_000)]
    print(HEAD, "|---|" + "---|" * 10, sep="\n", flush=True)
    lines: list[Line] = []
    wrong = 0
    for theorem in theorems:
        try:
            lines.append(line(theorem))
            print(row(lines[-1]), flush=True)
        except ValueError as error:
            wrong += 1
            print(f"WRONG {theorem.name}, {theorem.scope}: {error}", flush=True)
    sums = [sum(column) for column in list(zip(*lines, strict=True))[2:]]
    print(row(Line(f"{len(lines)} theorems", "sums", *sums)), flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
