"""Tokens per call of the target: the law of a block, its expected length, and an estimate by sampling.

Source: SpecTr, Tables 2 and 4, for the quantity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.lossless import Generate, Text
from spec_math.chance import law as law_of
from spec_math.chance import sample
from spec_math.mean import Mean, of_independent


def law(generate: Generate, prefix: Text) -> dict[Text, Any]:
    """Compute the law of the tokens that one block emits after prefix, {emitted tokens: mass}, by walking every path.

    Exact on Fractions; the number of paths grows with every coin.

    >>> from fractions import Fraction
    >>> law(lambda coin, prefix: (0,) if coin.flip(Fraction(1, 3)) else (1, 1), ())
    {(0,): Fraction(1, 3), (1, 1): Fraction(2, 3)}
    """
    return law_of(lambda coin: generate(coin, tuple(prefix)))


def expected(generate: Generate, prefix: Text) -> Any:
    """Compute the expected number of tokens that one block emits after prefix, in tokens per call of the target.

    The law: Σ_b |b| · P(b) over the blocks b of `law`.

    >>> from fractions import Fraction
    >>> expected(lambda coin, prefix: (0,) if coin.flip(Fraction(1, 3)) else (1, 1), ())
    Fraction(5, 3)
    """
    return sum(len(block) * mass for block, mass in law(generate, prefix).items())


def estimate(generate: Generate, prefix: Text, longest: int, samples: int, rng: Any, confidence: float = 0.99) -> Mean:
    """Estimate the expected number of tokens of a block after prefix from `samples` sampled blocks of 1 to `longest`.

    The interval is that of `mean.of_independent`: it holds for every number of samples, as it rests on the range of
    the draws and not on a normal limit. rng is a NumPy Generator or a random.Random.

    Raises:
        TypeError, ValueError: longest or samples is not a positive integer, fewer than 2 samples, confidence outside
            (0, 1), or a block longer than `longest`.

    >>> import random
    >>> estimate(lambda coin, prefix: (0, 0), (), 2, 100, random.Random(0)).value
    2.0
    """
    longest, samples = count(longest, "longest"), count(samples, "samples")
    if samples < 2:
        raise ValueError("an interval needs at least 2 samples; got 1")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1; got {confidence}")
    start = tuple(prefix)
    sizes = np.empty(samples)
    for place in range(samples):
        size = len(sample(lambda coin: generate(coin, start), rng))
        if not 1 <= size <= longest:
            raise ValueError(
                f"a block of {size} tokens was emitted, outside 1..{longest}; the interval rests on the longest block: "
                "pass lookahead + 1"
            )
        sizes[place] = size
    return of_independent(sizes, 1, longest, confidence)
