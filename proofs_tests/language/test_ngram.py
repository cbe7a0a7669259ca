"""The n-gram model: its law against counts made another way, its four readings against each other."""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spec_math.language.context_tree import windows
from spec_math.language.corpus import documentation
from spec_math.language.ngram import NGram

U = Fraction(1, 2**53)


@st.composite
def learnt(draw):
    """A text of a few tokens with starts of texts among them, an order and a size."""
    size = draw(st.integers(1, 4))
    tokens = draw(st.lists(st.integers(-1, size - 1), min_size=1, max_size=30).filter(lambda text: max(text) >= 0))
    return tokens, draw(st.integers(1, 4)), size


class Textbook:
    """Interpolated Kneser–Ney with dictionaries of tuples and sets of predecessors: the oracle."""

    def __init__(self, tokens, order, size, discount=Fraction(3, 4), continuation=True):
        self.order, self.size, self.discount = order, size, discount
        occurrences, before = defaultdict(int), defaultdict(set)
        for text in _texts(tokens):
            marked = ["^", *text]
            for end in range(2, len(marked) + 1):
                for begin in range(max(0, end - order), end):
                    gram = tuple(marked[begin:end])
                    occurrences[gram] += 1
                    if begin:
                        before[gram].add(marked[begin - 1])
        self.counts = {
            gram: number if len(gram) == order or gram[0] == "^" or not continuation else len(before[gram])
            for gram, number in occurrences.items()
        }

    def law(self, context):
        """Return the law after a context of tokens, its start marked by "^"."""
        below = self.law(context[1:]) if context else [Fraction(1, self.size)] * self.size
        counts = [self.counts.get((*context, token), 0) for token in range(self.size)]
        if not sum(counts):
            return below
        kinds = sum(number > 0 for number in counts)
        return [
            (max(number - self.discount, Fraction(0)) + self.discount * kinds * mass) / sum(counts)
            for number, mass in zip(counts, below, strict=True)
        ]

    def after(self, prefix):
        marked = ("^", *prefix)
        return self.law(marked[len(marked) - min(len(marked), self.order - 1) :])


def _texts(tokens):
    texts = [[]]
    for token in tokens:
        if token < 0:
            texts.append([])
        else:
            texts[-1].append(token)
    return texts


def prefixes(size, longest):
    return [prefix for length in range(longest + 1) for prefix in product(range(size), repeat=length)]


@given(learnt())
@example(([0, 1, 0, 1, 1], 2, 2))
@example(([0, -1, 0, -1, 0], 3, 1))
@settings(max_examples=60)
def test_exact_law_is_interpolated_kneser_ney(given_):
    tokens, order, size = given_
    model, oracle = NGram.learn(tokens, order, size), Textbook(tokens, order, size)
    for prefix in prefixes(size, min(order, 3)):
        assert model.exact(prefix).tolist() == oracle.after(prefix)
        assert all(type(mass) is Fraction for mass in model.exact(prefix))


@pytest.mark.parametrize("wrong", [{"continuation": False}, {"discount": Fraction(1, 2)}])
def test_exact_law_is_told_from_other_discounts_and_counts(wrong):
    tokens = [0, 1, 2, 1, 0, 1, 1, 2, -1, 2, 1, 0]
    model, oracle = NGram.learn(tokens, 3, 3), Textbook(tokens, 3, 3, **wrong)
    assert any(model.exact(prefix).tolist() != oracle.after(prefix) for prefix in prefixes(3, 2))


@given(learnt())
@settings(max_examples=60)
def test_rows_equal_the_exact_laws_within_3K_plus_3_roundings(given_):  # noqa: N802
    # Discounted counts c - 3/4 and products 3/4 T are exact (dyadic, far below 2^53). Roundings on the way to a mass:
    #   uniform share   3/4 T / C / V: 2;   plus its count's share: +1;   weight of that law: each of K levels one
    #   division and, but for the first, one product: 2 K - 1;   times the weight: +1;   the terms of K longer
    #   contexts: +K.   In all 3 + (2 K - 1) + 1 + K = 3 K + 3; a term of a longer context has fewer.
    # Every term is positive, so n roundings move a mass, or a sum of masses, by a relative n u / (1 - n u) at most.
    tokens, order, size = given_
    model = NGram.learn(tokens, order, size)
    gamma = (3 * order * U) / (1 - 3 * order * U)
    for prefix in prefixes(size, min(order, 3)):
        exact, floats = model.exact(prefix), [Fraction(mass) for mass in model(prefix).tolist()]
        assert all(abs(mine - mass) <= gamma * mass for mine, mass in zip(floats, exact, strict=True))
        assert abs(sum(floats) - 1) <= gamma
        assert sum(exact) == 1
        assert min(exact) > 0


@given(learnt())
@settings(max_examples=60)
def test_rows_calls_and_masses_are_the_same_floats(given_):
    tokens, order, size = given_
    model = NGram.learn(tokens, order, size)
    asked = prefixes(size, min(order, 3))
    contexts = np.stack([model.context(prefix) for prefix in asked])
    rows = model.rows(contexts)
    assert rows.dtype == np.float64
    assert rows.tolist() == [model(prefix).tolist() for prefix in asked]
    every = np.tile(np.arange(size), (len(asked), 1))
    assert model.mass(contexts, every).tolist() == rows.tolist()
    assert model.mass(contexts, every[:, -1]).tolist() == rows[:, -1].tolist()


GRID = 2**12


def is_law_of_grid(tokens, law, order):
    """Judge drawn tokens at the uniforms (j + 1/2) / GRID: is each token's count what its mass allows?

    A token's uniforms are at most order + 1 intervals (a piece for each depth, one for the uniform law), and of an
    interval's length times GRID the number of grid points in it differs by at most 1. A border off by 3 · order u
    (see NGram.draw) adds 2 · 3 · order u · GRID for each interval.
    """
    slack = (order + 1) * (1 + 6 * order * U * GRID)
    counts = np.bincount(tokens, minlength=len(law)).tolist()
    return all(abs(number - GRID * mass) <= slack for number, mass in zip(counts, law, strict=True))


@given(learnt())
@settings(max_examples=40)
def test_draw_has_the_exact_law_up_to_its_borders(given_):
    tokens, order, size = given_
    model = NGram.learn(tokens, order, size)
    uniforms = (np.arange(GRID) + 0.5) / GRID
    for prefix in prefixes(size, min(order - 1, 2)):
        drawn = model.draw(np.tile(model.context(prefix), (GRID, 1)), uniforms)
        assert is_law_of_grid(drawn, model.exact(prefix), order)


def test_draw_is_told_from_draws_of_the_wrong_law():
    tokens, order = [0, 1, 2, 1, 0, 1, 1, 2, -1, 2, 1, 0], 3
    model, shorter = NGram.learn(tokens, order, 3), NGram.learn(tokens, order - 1, 3)
    uniforms, law = (np.arange(GRID) + 0.5) / GRID, model.exact((0, 1))
    assert is_law_of_grid(model.draw(np.tile([0, 1], (GRID, 1)), uniforms), law, order)
    assert not is_law_of_grid(shorter.draw(np.tile([1], (GRID, 1)), uniforms), law, order)
    assert not is_law_of_grid(model.draw(np.tile([0, 1], (GRID, 1)), uniforms**2), law, order)
    assert not is_law_of_grid((model.draw(np.tile([0, 1], (GRID, 1)), uniforms) + 1) % 3, law, order)


@given(learnt())
@settings(max_examples=40)
def test_draw_stays_in_the_vocabulary_at_the_ends_of_the_unit_interval(given_):
    tokens, order, size = given_
    model = NGram.learn(tokens, order, size)
    uniforms = np.array([0.0, 2.0**-1074, 0.25, 0.5, 1 - 2.0**-52, 1 - 2.0**-53])
    for prefix in prefixes(size, min(order - 1, 2)):
        drawn = model.draw(np.tile(model.context(prefix), (6, 1)), uniforms)
        assert ((drawn >= 0) & (drawn < size)).all()


@pytest.fixture(scope="module")
def held_out_laws():
    """The models of order 1, 2 and 5 of the documentation, with the masses they give to what was held out."""
    corpus = documentation()
    result = {}
    for order in (1, 2, 5):
        model = NGram.learn(corpus.training, order, corpus.size)
        contexts, following = windows(corpus.held_out, order)
        result[order] = model, contexts, following
    return result


def test_longer_contexts_foretell_the_held_out_words_better(held_out_laws):
    perplexity = {
        order: exp(-np.log(model.mass(contexts, following)).mean())
        for order, (model, contexts, following) in held_out_laws.items()
    }
    assert perplexity[5] < perplexity[2] < perplexity[1] < documentation().size


@pytest.mark.parametrize("order", [1, 2, 5])
def test_laws_of_the_documentation_sum_to_1_and_leave_no_token_out(held_out_laws, order):
    model, contexts, following = held_out_laws[order]
    rows = model.rows(contexts)
    # γ of the rows (3 · order roundings), and below (V - 1) u for the sum itself.
    bound = float((3 * order + model.size) * U)
    assert bound < 1e-12
    assert (np.abs(rows.sum(axis=1) - 1) <= bound).all()
    assert rows.min() > 0
    assert (rows[np.arange(len(rows)), following] == model.mass(contexts, following)).all()


@pytest.mark.parametrize("order", [2, 5])
def test_exact_law_of_the_documentation_meets_the_rows(held_out_laws, order):
    model, contexts, _ = held_out_laws[order]
    gamma = (3 * order * U) / (1 - 3 * order * U)
    for context in contexts[40:3000:740]:
        prefix = tuple(token for token in context.tolist() if token >= 0)
        if len(prefix) < order - 1:
            continue
        exact = model.exact(prefix)
        assert sum(exact) == 1
        assert all(abs(Fraction(m) - e) <= gamma * e for m, e in zip(model(prefix).tolist(), exact, strict=True))


def test_draws_from_the_documentation_follow_its_law(held_out_laws):
    # Pearson's statistic over the 30 most probable tokens and the rest, 30 degrees of freedom: a right drawer is
    # above 76.6 once in 200,000 seeds (the quantile of chi-square at 1 - 5e-6); the seed is fixed.
    model, contexts, _ = held_out_laws[5]
    number = 200_000
    context = np.tile(contexts[1234], (number, 1))
    law = model.rows(context[:1])[0]
    top = np.argsort(-law, kind="stable")[:30]
    drawn = np.bincount(model.draw(context, np.random.default_rng(20).random(number)), minlength=model.size)

    def statistic(counts):
        seen = np.append(counts[top], number - counts[top].sum())
        wanted = number * np.append(law[top], 1 - law[top].sum())
        return ((seen - wanted) ** 2 / wanted).sum()

    assert statistic(drawn) < 76.6
    assert statistic(np.roll(drawn, 1)) > 76.6


def test_learning_is_a_function_of_its_text():
    tokens = np.random.default_rng(3).integers(-1, 5, 400)
    first, second = (NGram.learn(given_, 3, 5) for given_ in (tokens, tokens.tolist()))
    contexts, _ = windows(tokens, 3)
    assert (first.rows(contexts) == second.rows(contexts)).all()


@pytest.mark.parametrize(
    ("tokens", "order", "size", "error", "says"),
    [
        ([0, 1], 0, 2, ValueError, "order must be at least 1; got 0"),
        ([0, 1], True, 2, TypeError, "order must be a whole number"),
        ([0, 1], 2.9, 2, TypeError, "order must be a whole number"),
        ([0, 1], 2, 0, ValueError, "size must be at least 1"),
        ([], 2, 2, ValueError, "at least one token"),
        ([-1, -1], 2, 2, ValueError, "at least one token"),
        ([0, 2], 2, 2, ValueError, r"in \[0, 2\).*place \(1,\) has 2"),
        ([0, -2], 2, 2, ValueError, r"place \(1,\) has -2"),
        ([0, True], 2, 2, TypeError, "must be ints; got True"),
        ([0, 1.0], 2, 2, TypeError, "must be ints; got 1.0"),
        (np.array([0.0]), 2, 2, TypeError, "array of float64"),
    ],
)
def test_learn_refuses(tokens, order, size, error, says):
    with pytest.raises(error, match=says):
        NGram.learn(tokens, order, size)


@pytest.mark.parametrize("reading", ["__call__", "exact"])
@pytest.mark.parametrize(("prefix", "error"), [((0, 7), ValueError), ((0, -1), ValueError), ((0, True), TypeError)])
def test_a_prefix_with_an_unknown_token_is_named(reading, prefix, error):
    model = NGram.learn([0, 1], 2, 2)
    with pytest.raises(error, match=rf"prefix \(0, {prefix[1]}\): token 1 must be an index"):
        getattr(model, reading)(prefix)


@pytest.mark.parametrize(
    ("contexts", "says"),
    [
        ([[0]], r"must be \[n, 2\]"),
        ([0, 1], "2 dimension"),
        ([[0, -1]], "in front only"),
        ([[0, 2]], r"place \(0, 1\)"),
    ],
)
def test_rows_refuse(contexts, says):
    with pytest.raises(ValueError, match=says):
        NGram.learn([0, 1], 3, 2).rows(contexts)


def test_mass_and_draw_refuse_what_does_not_fit_their_contexts():
    model = NGram.learn([0, 1], 2, 2)
    with pytest.raises(ValueError, match=r"\[n = 1"):
        model.mass([[0]], [0, 1])
    with pytest.raises(ValueError, match="place"):
        model.mass([[0]], [-1])
    with pytest.raises(ValueError, match="one for each context"):
        model.draw([[0]], [0.5, 0.5])
    for uniform in (1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match=r"\[0, 1\)"):
            model.draw([[0]], [uniform])
