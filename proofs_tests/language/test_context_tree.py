"""The tree of contexts and the windows of a text, against slices of tuples."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_math.language.context_tree import ContextTree, windows

TEXT = st.lists(st.integers(-1, 2), min_size=1, max_size=30).filter(lambda text: max(text) >= 0)


@given(TEXT, st.integers(1, 5))
def test_windows_are_the_tokens_before_each_token_in_its_own_text(text, order):
    wanted, start = [], 0
    for at, token in enumerate(text):
        if token < 0:
            start = at + 1
            continue
        before = text[max(start, at - order + 1) : at]
        wanted.append(([-1] * (order - 1 - len(before)) + before, token))
    contexts, following = windows(text, order)
    assert list(zip(contexts.tolist(), following.tolist(), strict=True)) == wanted


@given(TEXT, st.integers(1, 4))
@settings(max_examples=60)
def test_longest_contexts_hold_their_occurrences(text, order):
    tree = ContextTree(np.array(text), order, 3)
    contexts, following = windows(text, order)
    nodes = tree.nodes(contexts)
    reached = [(tuple(context), token) for context, token in zip(contexts.tolist(), following.tolist(), strict=True)]
    for (context, token), number in Counter(reached).items():
        # A context is found down to its longest form: one start of a text at most counts as a token of it.
        row = nodes[reached.index((context, token))]
        depth = min(order - 1, sum(older >= 0 for older in context) + 1)
        assert (row >= 0).tolist() == [at <= depth for at in range(order)]
        pairs = dict(zip(tree.pair_keys.tolist(), tree.pair_count.tolist(), strict=True))
        assert pairs[row[depth] * tree.size + token] == number


def test_a_context_never_seen_has_no_node():
    tree = ContextTree(np.array([0, 1]), 2, 3)
    nodes = tree.nodes(np.array([[2], [0]]))
    assert (nodes[0] >= 0).tolist() == [True, False]


def test_windows_refuse_an_order_that_is_no_count():
    with pytest.raises(ValueError, match="order must be at least 1"):
        windows([0], 0)
    with pytest.raises(TypeError, match="order must be a whole number"):
        windows([0], True)
