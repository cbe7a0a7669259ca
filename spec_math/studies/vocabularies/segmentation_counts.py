"""The numbers behind Timor et al.'s Figures 2 and 3 and Table 5: the segmentations of every token of a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from spec_math.arrays import count
from spec_math.language import Vocabulary
from spec_math.string_level import segmentation


@dataclass(frozen=True)
class Counts:
    """The segmentations of tokens by length in bytes, {length: counts in ascending order}, shortest length first.

    kept: of the `tied` tokens of the last length so many are meant, None where all are: which ones is not determined,
    and neither is what depends on it.
    """

    by_length: dict[int, list[int]]
    kept: int | None = None

    @property
    def least(self) -> list[int]:
        """Every count, of the tied ones the smallest: the choice with the smallest mean."""
        return self._chosen(slice(None, self.kept))

    @property
    def most(self) -> list[int]:
        """Every count, of the tied ones the largest: the choice with the largest mean."""
        return self._chosen(slice(None if self.kept is None else -self.kept, None))

    def _chosen(self, of_last: slice) -> list[int]:
        *shorter, last = self.by_length.values()
        return sorted([*(value for row in shorter for value in row), *last[of_last]])


def counts(vocabulary: Vocabulary, shortest: int | None = None) -> Counts:
    """Count the segmentations of all text tokens into tokens of the same vocabulary, or of so many shortest ones.

    Tokens that only repeat the bytes of another are counted like it.

    Raises:
        ValueError: there are fewer text tokens. TypeError: shortest is not a positive integer.

    Source: Timor et al., Appendix C, with the 150,000 shortest of 151,646.

    >>> found = counts(Vocabulary(["a", "b", "ab", "bb", "abb"]))
    >>> found.by_length
    {1: [1, 1], 2: [2, 2], 3: [4]}
    >>> counts(Vocabulary(["a", "b", "aa", "ab"]), shortest=3)
    Counts(by_length={1: [1, 1], 2: [2, 2]}, kept=1)
    """
    texts = [token for token in vocabulary if token]
    wanted = len(texts) if shortest is None else count(shortest, "--shortest")
    if wanted > len(texts):
        raise ValueError(f"--shortest must not exceed the {len(texts):,} tokens with text; got {wanted:,}")
    last = sorted(map(len, texts))[wanted - 1]
    within = [text for text in texts if len(text) <= last]
    rows: dict[int, list[int]] = {}
    for text, number in zip(within, segmentation.counts(within, vocabulary), strict=True):
        rows.setdefault(len(text), []).append(number)
    kept = len(rows[last]) - (len(within) - wanted)
    return Counts({size: sorted(rows[size]) for size in sorted(rows)}, None if kept == len(rows[last]) else kept)


def summary(found: Counts) -> dict[str, tuple[float, float]]:
    """Return Table 5's lines for the number of segmentations, each as the least and the largest it can be.

    Equal ends are determined. Quantiles between two values are interpolated, the deviation divides by n − 1: as the
    table's do.

    >>> summary(counts(Vocabulary(["a", "b", "aa", "ab"]), shortest=3))["mean"]
    (1.3333333333333333, 1.3333333333333333)
    """
    sides = found.least, found.most
    pairs = [(f"{percent} %", [_quantile(side, percent) for side in sides]) for percent in (25, 50, 75)]
    lines = {
        "mean": [float(Fraction(sum(side), len(side))) for side in sides],
        "standard deviation": [_deviation(side) for side in sides],
        "minimum": [float(side[0]) for side in sides],
        **dict(pairs),
        "maximum": [float(side[-1]) for side in sides],
    }
    return {name: (values[0], values[1]) for name, values in lines.items()}


def _deviation(values: list[int]) -> float:
    size, total, squares = len(values), sum(values), sum(value * value for value in values)
    return sqrt(Fraction(squares * size - total * total, size * (size - 1))) if size > 1 else 0.0


def _quantile(values: list[int], percent: int) -> float:
    place = Fraction((len(values) - 1) * percent, 100)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return float(values[low] + (place - low) * (values[high] - values[low]))
