"""The cost of a drafter's output head a step, in multiplications: full, reduced or speculative (SpecVocab, Table 4).

Source: SpecVocab, Table 4.
"""

from __future__ import annotations

from spec_math.arrays import count


def full(size: int, dimension: int) -> int:
    """Return V·d, the multiplications of a head on the whole vocabulary.

    Raises:
        TypeError, ValueError: a size is not a positive integer.

    >>> full(1000, 64)
    64000
    """
    return count(size, "size") * count(dimension, "dimension")


def reduced(kept: int, dimension: int) -> int:
    """Return V'·d, those of a head on a fixed part of V' tokens (FR-Spec, VocabTrim, EAGLE-3).

    >>> reduced(100, 64)
    6400
    """
    return full(kept, dimension)


def speculative(size: int, dimension: int, rank: int, k: int, down: bool = True) -> int:
    """Return d'·d + V·d' + k·d: W_down, the ranking of all V tokens at rank d', the exact logits of k candidates.

    down=False leaves d'·d out, as the paper does. Source: SpecVocab, Table 4.

    Raises:
        TypeError, ValueError: a size is not a positive integer.

    >>> speculative(1000, 64, 4, 50), speculative(1000, 64, 4, 50, down=False)
    (7456, 7200)
    """
    rank, head = count(rank, "rank"), full(k, dimension)
    return (rank * dimension if down else 0) + full(size, rank) + head
