"""How long strings take: tries, segmentations and ψ of real vocabularies, and one alignment; with the memory they need.

Run from the project's folder: python -m benchmarks.strings [repetitions]
The real vocabularies are looked for in a folder shared/vocabularies beside the project; without them only the
alignment is measured.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.table import Row, time_row
from proofs_tests.real_vocabularies import FOLDER, real
from spec_math.language import GreedyTokenizer, Vocabulary, trie
from spec_math.string_level import segmentation
from spec_math.string_level.alignment import align
from spec_math.string_level.psi import first_token, psi


def row(name: str, goal: str, repetitions: int, call: Callable[[], Any]) -> None:
    """Time a call, the first one (compiling, caches) left out, and print its line."""
    call()
    seconds: list[float] = []
    for _ in range(repetitions):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    low, _, high = quantiles(seconds, n=4)
    spread = f"[{low * 1e3:.2f}, {high * 1e3:.2f}]"
    print(f"{name:58} {min(seconds) * 1e3:10.2f} {median(seconds) * 1e3:10.2f} {spread:22} {goal}")


def memory() -> float:
    """Return the most memory this process has held so far, in megabytes (Linux counts it in kilobytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def words(rng: Random, size: int) -> list[str]:
    """Return tokens of one to eight letters."""
    return ["".join(rng.choices("abcdefgh", k=rng.randint(1, 8))) for _ in range(size)]


def strings(repetitions: int) -> None:
    """Measure what needs the real vocabularies: Llama 3.1 as the target, Qwen2 as the drafter."""
    target, draft = real("llama3.1"), real("qwen2")
    strung = Vocabulary([draft.special.get(index, token) for index, token in enumerate(draft)])
    both = f"{len(target):,} and {len(draft):,} tokens"
    row(f"tries of {both}", "1000", repetitions, lambda: (trie.build(target.tokens), trie.build(draft.tokens)))
    row(
        f"segmentations of all {len(strung):,} Qwen2 tokens",
        "300",
        repetitions,
        lambda: segmentation.counts(strung.tokens, strung),
    )
    row("the same, one by one in Python integers", "-", 3, lambda: [segmentation.count(t, strung) for t in strung])

    weights = np.random.default_rng(0).random(len(draft))
    weights[list(draft.special)] = 0
    masses = weights / weights.sum()
    row("ψ, dense drafter, until determined", "500", repetitions, lambda: psi(target, draft, masses))
    peaked = weights**30 / (weights**30).sum()
    row("ψ, peaked drafter, until determined", "500", repetitions, lambda: psi(target, draft, peaked))
    for lookahead in (1, 2, 4):
        row(
            f"ψ, dense drafter, lookahead {lookahead}",
            "-",
            repetitions,
            lambda lookahead=lookahead: psi(target, draft, masses, lookahead),
        )
    found = first_token(target, draft, masses)
    print(
        f"   dense: Σ ψ = {found.law.sum():.15f}, {found.draws:.3f} draft tokens a text, "
        f"{len(found.unreachable)} target tokens without mass"
    )
    text = "The law of the first target token of a drafted text. " * 200
    tokenizer = GreedyTokenizer(target)
    row(f"longest-prefix tokenising of {len(text):,} characters", "-", repetitions, lambda: tokenizer.encode(text))
    print(f"   most memory held so far: {memory():,.0f} MB (goal: under 1,000)\n")


def rows() -> list[Row]:
    """Measure counting, ψ and tries on the real vocabularies where they are at hand, and one alignment."""
    rng = Random(0)
    xs, ys = words(rng, 64), words(rng, 64)
    found = [time_row("alignment of 64 × 64 tokens, window 8", lambda: align(xs, ys, 8), 1)]
    if not FOLDER.exists():
        return found
    target, draft = real("llama3.1"), real("qwen2")
    strung = Vocabulary([draft.special.get(index, token) for index, token in enumerate(draft)])
    masses = np.random.default_rng(0).random(len(draft))
    masses[list(draft.special)] = 0
    masses /= masses.sum()

    def tries() -> Any:
        return trie.build(target.tokens), trie.build(draft.tokens)

    return [
        *found,
        time_row("both tries of Llama 3.1 and Qwen2", tries, 1000, repeats=7),
        time_row(
            f"segmentations of all {len(strung):,} Qwen2 tokens",
            lambda: segmentation.counts(strung.tokens, strung),
            300,
            repeats=9,
        ),
        time_row(f"ψ of all {len(target):,} Llama 3.1 tokens", lambda: psi(target, draft, masses), 500, repeats=9),
    ]


def main() -> None:
    """Print one table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print(f"{'milliseconds':58} {'least':>10} {'median':>10} {'[quartiles]':22} goal")
    if FOLDER.exists():
        strings(repetitions)
    else:
        print("the real vocabularies are not at hand (shared/vocabularies beside the project): left out")
    rng = Random(0)
    xs, ys = words(rng, 64), words(rng, 64)
    row("alignment of 64 x 64 tokens, window 8", "1", 10 * repetitions, lambda: align(xs, ys, 8))


if __name__ == "__main__":
    main()
