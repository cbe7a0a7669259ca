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
    rows_ = np.array([[*logits, 0.5], [0.5, *logits[::-1]]], dtype=np.float32)
    logs, masses = np.empty((2, *rows_.shape))
    stream._exponentials(rows_, 1.0, (logs, masses), ())
    assert logs.tolist() == [[x - max(row) for x in row] for row in rows_.tolist()]


def both_ways(delayed: Delayed):
    return delayed.plain, delayed.compiled
