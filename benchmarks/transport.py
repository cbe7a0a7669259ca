"""How long the exact optimum takes with its certificate, next to the linear program, and how large the problems are.

Run: python -m benchmarks.transport [repetitions]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from benchmarks.table import Row, time_row
from spec_math import proportional_to
from spec_math.token_level import draft_law, transport

INSTANCES = 5


def timed(call: Callable[[], Any], repetitions: int) -> list[float]:
    """Return the seconds of each repetition, the first call (imports, caches) left out."""
    call()
    seconds: list[float] = []
    for _ in range(repetitions):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    return seconds


def shown(seconds: list[float]) -> str:
    """Return least, median and quartiles in milliseconds."""
    low, _, high = quantiles(seconds, n=4)
    return f"{min(seconds) * 1e3:9.1f} {median(seconds) * 1e3:9.1f}   [{low * 1e3:.1f}, {high * 1e3:.1f}]"


def problems(size: int, k: int) -> list[tuple[Any, Any, Any]]:
    """Return a few random targets with the laws of k i.i.d. drafts, as tuples and as sets; weights 1 to 1000."""
    rng = Random(size * 100 + k)
    result: list[tuple[Any, Any, Any]] = []
    for _ in range(INSTANCES):
        target, draft = (proportional_to([rng.randint(1, 1000) for _ in range(size)]) for _ in range(2))
        result.append((target, draft_law.iid(draft, k), draft_law.independent_sets([draft] * k)))
    return result


def rows() -> list[Row]:
    """Measure the promise: an exact certificate for V = 16, k = 3, drafts as tuples, in a tenth of a second."""
    target, tuples, _ = problems(16, 3)[0]
    return [time_row("certificate, exact, V = 16, k = 3", lambda: transport.solve(target, tuples), 100)]


def main() -> None:
    """Print the table of sizes, then the table of times."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print("Sizes of SpecTr's linear program (Eq. 4), on tuples and on draft sets")
    for size, k in ((2, 2), (4, 2), (8, 2), (16, 2), (8, 3), (16, 3), (32, 3), (64, 3), (16, 4), (32_000, 2)):
        print("  ", draft_law.sizes(size, k))
    print(
        f"\nMilliseconds over {INSTANCES} random instances x {repetitions}: least, median, [quartiles]; i.i.d. drafts"
    )
    for size, k in ((4, 2), (8, 3), (16, 2), (16, 3), (32, 2)):
        times: dict[str, list[float]] = {}
        for target, tuples, sets in problems(size, k):
            certificate = transport.solve(target, tuples)
            calls: dict[str, Callable[[], Any]] = {
                "solve, drafts as tuples": lambda target=target, law=tuples: transport.solve(target, law),
                "check that certificate": certificate.check,
                "solve, drafts as sets": lambda target=target, law=sets: transport.solve(target, law),
                "linear program on sets": lambda target=target, law=sets: transport.linear_program(target, law),
            }
            if draft_law.sizes(size, k).tuple_variables <= 5_000:
                calls["linear program on tuples"] = lambda target=target, law=tuples: transport.linear_program(
                    target, law, reduced=False
                )
            for name, call in calls.items():
                times.setdefault(name, []).extend(timed(call, repetitions))
            if not certificate.check(target, tuples):
                raise SystemExit(f"V = {size}, k = {k}: the certificate is rejected: {certificate.fault()}")
        for name, seconds in times.items():
            print(f"   V = {size:2}, k = {k}  {name:25} {shown(seconds)}")


if __name__ == "__main__":
    main()
