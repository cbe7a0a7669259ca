"""The length of a block: its law, its mean, and an interval that covers the mean as often as it says."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level.models import Rows
from spec_math.arrays import exact
from spec_math.block_level import block, chain, length
from spec_math.mean import of_independent

Text = tuple[int, ...]
TARGET, DRAFT = Rows((exact(["1/3", "2/3"]),)), Rows((exact(["2/3", "1/3"]),))


def thirds(coin: Any, prefix: Text) -> Text:
    return block.generate(coin, TARGET, DRAFT, prefix, 2)


def test_law_of_a_block_sums_to_one_and_gives_its_mean() -> None:
    masses = length.law(thirds, ())
    assert sum(masses.values()) == 1
    assert length.expected(thirds, ()) == sum(len(text) * mass for text, mass in masses.items()) == Fraction(20, 9)


def test_estimate_covers_the_mean() -> None:
    # 100 intervals of 90 %: each misses with a chance of at most 1/10, so that more than 26 misses, which is
    # 10 + 16, have a chance of at most exp(−2 · 16²/100) < 1 % (Hoeffding). The control is twenty times narrower.
    random, misses, narrow = Random(1), 0, 0
    for _ in range(100):
        found = length.estimate(thirds, (), 3, 40, random, 0.9)
        misses += not found.low <= 20 / 9 <= found.high
        narrow += not abs(found.value - 20 / 9) <= (found.high - found.low) / 40
    assert misses <= 26
    assert narrow > 26


def test_estimate_is_the_interval_of_its_sizes() -> None:
    lengths = [1, 3, 2, 3, 3, 1] * 50
    told = iter(lengths)
    found = length.estimate(lambda *_: (0,) * next(told), (), 3, len(lengths), Random(0), 0.9)
    assert found == of_independent(np.array(lengths, dtype=float), 1, 3, 0.9)
    assert 1 < found.low < found.value == np.mean(lengths) < found.high < 3


def test_estimate_narrows_with_the_square_root_of_the_samples() -> None:
    few, many = (length.estimate(thirds, (), 3, samples, np.random.default_rng(0), 0.99) for samples in (250, 4000))
    assert few.low <= 20 / 9 <= few.high
    assert many.low <= 20 / 9 <= many.high
    # Four times narrower or more at one sample variance, as the term in 1/n falls faster; 3 leaves the two sample
    # variances a factor of 16/9 between them.
    assert (many.high - many.low) * 3 <= few.high - few.low


def test_estimate_of_a_sure_block_is_its_length() -> None:
    found = length.estimate(lambda *_: (0, 0), (), 3, 2000, Random(0))
    assert found.value == 2
    assert 1 <= found.low <= 2 <= found.high <= 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, 1), ValueError, "at least 2 samples"),
        ((3, 2.0), TypeError, "samples must be a whole number"),
        ((0, 10), ValueError, "longest must be at least 1"),
        ((2, 100), ValueError, r"a block of 3 tokens was emitted, outside 1..2"),
    ],
)
def test_estimate_refuses(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        length.estimate(thirds, (), *arguments, Random(0))


@pytest.mark.parametrize("confidence", [0, 1, 1.5, float("nan")])
def test_estimate_refuses_a_confidence_that_is_none(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1"):
        length.estimate(thirds, (), 3, 10, Random(0), confidence)


def test_a_first_block_says_nothing_of_later_ones() -> None:
    # Tokens per call depend on the prefix: a target that agrees with its draft after token 1 alone.
    target = Rows((exact(["1/3", "2/3"]), exact(["1/2", "1/2"]), exact(["2/3", "1/3"])))
    means = [chain.expected(target, DRAFT, prefix, 1) for prefix in [(), (0,), (1,)]]
    assert means == [Fraction(5, 3), Fraction(11, 6), Fraction(2)]
