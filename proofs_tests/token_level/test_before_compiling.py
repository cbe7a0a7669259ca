"""What takes the first calls of a kernel that is compiled later returns the same, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spec_math.kernels import Delayed
from spec_math.language import NGram, ngram
from spec_math.studies.positions import stream


@pytest.mark.parametrize("order", [1, 2, 4])
def test_rows_of_n_grams(order):
    rng = np.random.default_rng(order)
    text = rng.integers(0, 6, 300)
    text[::17] = -1
    model = NGram.learn(text, order, 7)
    contexts = np.array([model.context(tuple(rng.integers(0, 7, at % 6).tolist())) for at in range(60)])
    found = []
    for fill in both_ways(ngram._delayed_fill):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ngram, "_delayed_fill", fill)
            found.append(model.rows(contexts.reshape(60, order - 1)))
    assert found[0].tobytes() == found[1].tobytes()
    assert len(np.unique(found[0], axis=0)) > (1 if order > 1 else 0)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False) | st.just(-np.inf), min_size=1, max_size=20))
@example([-np.inf, 3e38, -3e38, 1e-45, 0.0, -0.0])
def test_logits_less_the_largest(logits):
    rows_, largest = np.array([logits, logits[::-1]], dtype=np.float32), np.array([3e38, float(max(logits[0], -1e9))])
    found = np.empty((2, *rows_.shape))
    with np.errstate(all="ignore"):
        stream._lower.plain(rows_, largest, found[0])
        stream._lower.compiled(rows_, largest, found[1])
    assert found[0].tobytes() == found[1].tobytes()
    assert found[0].tolist() == [
        [float(x) - most for x in row] for row, most in zip(rows_.tolist(), largest, strict=True)
    ]


def both_ways(delayed: Delayed):
    return delayed.plain, delayed.compiled
