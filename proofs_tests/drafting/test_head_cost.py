"""SpecVocab's Table 4, with W_down and without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math.drafting import head_cost

SIZES = st.integers(1, 60)


@given(SIZES, SIZES, SIZES, SIZES)
def test_table_4_counts_the_multiplications_of_each_product(size, dimension, rank, k):
    # A matrix [a, b] times a vector takes a·b multiplications: W_down [d', d], W_vocab [V, d'], U[K, :] [k, d].
    assert head_cost.full(size, dimension) == size * dimension
    assert head_cost.reduced(k, dimension) == k * dimension
    assert head_cost.speculative(size, dimension, rank, k) == rank * dimension + size * rank + k * dimension
    assert head_cost.speculative(size, dimension, rank, k, down=False) == size * rank + k * dimension


def test_w_down_can_turn_the_comparison():
    # V·d'/d + k < V' is the paper's condition: 32 + 10 < 50. With W_down 16 more: 58.
    costs = [head_cost.speculative(128, 64, 16, 10, down) for down in (False, True)]
    assert costs[0] < head_cost.reduced(50, 64) < costs[1]


def test_the_paper_s_sizes():
    # Qwen3 8B: V = 151,936, d = 4,096, d' = d/16, k = 2,048, against a fixed 32,000: W_down is one part in 46.
    with_down = head_cost.speculative(151_936, 4096, 256, 2048)
    assert with_down == 1_048_576 + 38_895_616 + 8_388_608
    assert with_down < head_cost.reduced(32_000, 4096) == 131_072_000


def test_wrong_sizes_are_named():
    with pytest.raises(ValueError, match="rank must be at least 1"):
        head_cost.speculative(10, 4, 0, 2)
    with pytest.raises(TypeError, match="size must be a whole number"):
        head_cost.full(10.0, 4)
