"""How long the exact expected length of a block takes: closed forms for chains, node by node for trees.

Run from the project's folder: python -m benchmarks.block_lengths
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from benchmarks.table import Row, ratio_row, show, time_row
from spec_math.arrays import Array, proportional_to
from spec_math.block_level import block, chain, length, spectr, without_replacement

Model = Callable[[tuple[int, ...]], Array]


def model(seed: int, size: int, floats: bool = False) -> Model:
    """Return a model with a law of its own after every prefix: whole weights 1 to 9, drawn once and not timed."""
    known: dict[tuple[int, ...], Array] = {}

    def after(prefix: tuple[int, ...]) -> Array:
        if prefix not in known:
            random = Random(f"{seed} {prefix}")
            law = proportional_to([random.randint(1, 9) for _ in range(size)])
            known[prefix] = law.astype(float) if floats else law
        return known[prefix]

    return after


def rows() -> list[Row]:
    """Measure every promise."""
    target, draft = model(1, 8), model(2, 8)
    fast_target, fast_draft = model(1, 8, floats=True), model(2, 8, floats=True)
    two_target, two_draft = model(1, 2), model(2, 2)
    four_target, four_draft = model(1, 4), model(2, 4)
    checked = Fraction(chain.expected(target, draft, (), 3)), Fraction(block.expected(target, draft, (), 3))
    print(f"V = 8, L = 3: {float(checked[0]):.6f} tokens a call for the chain, {float(checked[1]):.6f} for the block")

    def enumerated() -> Any:
        return length.expected(lambda coin, prefix: block.generate(coin, two_target, two_draft, prefix, 3), ())

    return [
        time_row("chain.expected, V = 8, L = 3, Fractions", lambda: chain.expected(target, draft, (), 3), 100),
        time_row("block.expected, V = 8, L = 3, Fractions", lambda: block.expected(target, draft, (), 3), 100),
        time_row("block.expected, V = 8, L = 3, floats", lambda: block.expected(fast_target, fast_draft, (), 3), 100),
        time_row(
            "block.expected, V = 8, L = 4, Fractions", lambda: block.expected(target, draft, (), 4), 1000, repeats=5
        ),
        time_row(
            "spectr.expected, V = 4, widths (8, 1, 1), Fractions",
            lambda: spectr.expected(four_target, four_draft, (), (8, 1, 1)),
            10_000,
            repeats=5,
        ),
        time_row(
            "without_replacement.expected, V = 8, widths (2, 2, 1), Fractions",
            lambda: without_replacement.expected(target, draft, (), (2, 2, 1)),
            10_000,
            repeats=3,
        ),
        ratio_row(
            "block.expected, V = 2, L = 3",
            (lambda: block.expected(two_target, two_draft, (), 3), enumerated),
            1,
            "walking every path of block.generate",
        ),
    ]


if __name__ == "__main__":
    sys.exit(0 if show(rows(), "Expected lengths of blocks, one thread") else 1)
