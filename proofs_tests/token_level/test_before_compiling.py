"""What takes the first calls of a kernel that is compiled later returns the same, bit by bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spec_math.arrays import exact
from spec_math.kernels import Delayed, kernel
from spec_math.language import NGram, ngram
from spec_math.studies.positions import stream
from spec_math.token_level import bucketed_optimum, favourites, knot_mixture, ratio_buckets, ratio_order, row_answers

MASSES = st.one_of(
    st.just(0.0), st.integers(1, 5).map(float), st.sampled_from([5e-324, 1e-300, 2.0**-60, 1e-9, 1.0 - 2.0**-53])
)
PAIRS = st.lists(st.tuples(MASSES, MASSES), min_size=1, max_size=40)


def rows(pairs):
    """A target and a draft of positive mass from pairs of masses, one token of 1 in each added at the ends."""
    target, draft = np.array([(1.0, 0.0), *pairs, (0.0, 1.0)]).T
    return np.ascontiguousarray(target), np.ascontiguousarray(draft)


def both(delayed: Delayed, *given_):
    """What the plain function and the kernel return; a kernel that is not compiled warns where one that is does not."""
    with np.errstate(all="ignore"):
        return delayed.plain(*given_), delayed.compiled(*given_)


def buckets(target, draft, total_t, total_d):
    """The buckets that either fills."""
    filled = [ratio_buckets.buckets_of(len(target)) for _ in range(2)]
    with np.errstate(all="ignore"):
        ratio_buckets._delayed.plain(target, draft, total_t, total_d, filled[0])
        ratio_buckets._delayed.compiled(target, draft, total_t, total_d, filled[1])
    return filled


@given(PAIRS)
@example([(0.0, 0.0)] * 3)
@example([(1.0, 5e-324), (2.0, 5e-324), (1e-323, 5.0), (5e-324, 5.0), (1.0, 1.0), (1.0, 1.0)])
def test_tokens_by_ratio(pairs):
    plain, compiled = both(ratio_order._delayed, *rows(pairs))
    assert plain.dtype == compiled.dtype
    assert plain.tolist() == compiled.tolist()


@given(PAIRS)
@example([(0.0, 0.0), (3.0, 1.0), (3.0, 1.0), (2.0, 0.0), (0.0, 2.0)])
def test_buckets(pairs):
    target, draft, total_t, total_d, _ = ratio_buckets.ranged(*rows(pairs))
    filled = buckets(target, draft, total_t, total_d)
    for plain, compiled in zip(*filled, strict=True):
        assert plain.tobytes() == compiled.tobytes()
    plain, compiled = both(bucketed_optimum._delayed_ends, filled[0][2])
    assert plain.tobytes() == compiled.tobytes()


def test_buckets_of_a_whole_vocabulary():
    """Sums of thousands of masses differ in their last bits where they are taken in another order."""
    rng = np.random.default_rng(0)
    target, draft = rng.exponential(size=(2, 4096)) ** 4
    filled = buckets(target, draft, float(target.sum()), float(draft.sum()))
    assert [plain.tobytes() == compiled.tobytes() for plain, compiled in zip(*filled, strict=True)] == [True] * 4


def answers(target, draft, ks=(1, 2, 3, 40, 70)):
    """What either answers with what it leaves, and where the kernel of all leaves something."""
    target, draft, total_t, total_d, product = ratio_buckets.ranged(target, draft)
    gathered = ratio_buckets.gather(target, draft, total_t, total_d, ratio_buckets.buckets_of(len(target)))
    tops = np.zeros(min(max(ks), len(draft)), dtype=np.int64)
    given_ = np.array(ks), (target, draft), tops, (total_t, total_d, product, favourites.find(draft, tops)), gathered
    found = []
    with np.errstate(all="ignore"):
        for taken in both_ways(row_answers._delayed):
            overall, by_k = np.full(3, -1.0), np.full((5, len(ks)), -1.0)
            is_left, left = taken(*given_, (overall, by_k)), np.isnan(by_k)
            if is_left:
                row_answers._fill_left(*given_, by_k)
            found.append(overall.tobytes() + by_k.tobytes())
    return found, left, by_k


@given(PAIRS)
@example([(1.0, 1.0), (1.0 + 2.0**-52, 1.0), (1.0, 1.0), (3.0, 3.0)])
@example([(5e-324, 1.0), (1.0, 5e-324), (0.0, 0.0), (2.0**-53, 1e-300)])
def test_answers(pairs):
    (plain, compiled), left, by_k = answers(*rows(pairs))
    assert plain == compiled
    assert not np.isnan(by_k).any()
    assert left[4].tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("spread", [0.0, 3e-3, 0.3, 3.0])
def test_answers_of_many_tokens(spread):
    rng = np.random.default_rng(0)
    draft = rng.integers(1, 50, 4096).astype(float)
    target = draft * np.exp(spread * rng.standard_normal(4096)).round(3)
    (plain, compiled), _, _ = answers(target, draft)
    assert plain == compiled


def test_a_draft_with_next_to_nothing_outside_its_favourites_is_left():
    (plain, compiled), left, _ = answers(np.array([0.25, 0.5, 0.25]), np.array([1.0, 1e-80, 0.0]), (1, 2))
    assert plain == compiled
    assert left[3].tolist() == [False, True]


_sort_by_ratio = bucketed_optimum._sort_by_ratio


@kernel
def sort(pairs, ratios, order):
    """What kernels alone call."""
    _sort_by_ratio(pairs, ratios, order)


_power = bucketed_optimum._power


@kernel
def power(x, rest, k):
    """What kernels alone call."""
    return _power(x, rest, k)


@pytest.mark.parametrize("k", [3, 32, 33, 40])
@pytest.mark.parametrize("x", [2.0**-20, 1e-4, 0.3, 0.6, 1 - 1e-6, 1 - 2.0**-50])
def test_powers_keep_the_digits_of_whichever_of_both_is_small(x, k):
    """Of 2^-20 the rest has lost all but 33 bits."""
    small = Fraction(1) - Fraction(x)
    exact_power = Fraction(x) ** k
    assert abs(Fraction(power(x, float(small), k)) / exact_power - 1) < k * 2.0**-46
    # 1 − 2^-60 is a float by its rest alone.
    assert power(1.0, 2.0**-60, 2**59) == pytest.approx(np.exp(-0.5), rel=1e-12)


@given(PAIRS)
@example([(1.0, 1.0), (2.0, 0.0), (0.0, 0.0)] * 170)
def test_few_pairs_in_a_kernel_are_sorted_as_by_numpy(pairs):
    pairs, order, ratios = np.array(pairs), np.empty(512, dtype=np.int64), np.empty(512)
    with np.errstate(all="ignore"):
        sort(pairs, ratios, order)
    wanted = bucketed_optimum.by_ratio(pairs, "stable")
    assert [order[: len(pairs)].tolist(), ratios[: len(pairs)].tolist()] == [found.tolist() for found in wanted]


@pytest.mark.parametrize("number", [bucketed_optimum.SMALL, bucketed_optimum.SMALL + 1])
def test_an_optimum_inside_a_bucket_too_large_for_the_kernel(number):
    """One bucket holds all ratios from 1.0005 to 1.015; P² is steepest against T where the ratio is 2P, about 1.007."""
    ratios, draft = np.linspace(1.0005, 1.015, number), np.full(number, 1e-3 / number)
    rng = np.random.default_rng(number)
    target = rng.permutation(ratios) * draft
    target, draft = np.append(target, [0.0, 1 - target.sum()]), np.append(draft, [0.5035, 0.4955])
    (plain, compiled), left, by_k = answers(target, draft, (2,))
    assert plain == compiled
    assert left[1].tolist() == [number > bucketed_optimum.SMALL]
    order = ratio_order.ratio_order(target, draft)
    assert by_k[1, 0] == pytest.approx(1 - max(order.draft_below**2 - order.target_below), abs=1e-12)
    assert by_k[1, 0] < 1 - max(0.5035**2, (0.5035 + 1e-3) ** 2 - target[:-2].sum()) - 1e-9


@given(PAIRS, st.integers(1, 8), st.floats(0, 1))
def test_favourites(pairs, number, rest):
    target, draft = rows(pairs)
    tokens = np.zeros((2, min(number, len(draft))), dtype=np.int64)
    favourites._by_classes.plain(draft, tokens[0])
    favourites._by_classes.compiled(draft, tokens[1])
    assert tokens[0].tolist() == tokens[1].tolist()
    for k in range(1, number + 2):
        plain, compiled = both(favourites._delayed, k, target, draft, tokens[0], rest, float(target.sum()))
        assert tuple(map(float, plain)) == tuple(map(float, compiled))


def test_favourites_among_more_tokens_than_classes():
    draft = np.random.default_rng(1).integers(0, 50, 3000).astype(float)
    tokens = np.zeros((2, 40), dtype=np.int64)
    favourites._by_classes.plain(draft, tokens[0])
    favourites._by_classes.compiled(draft, tokens[1])
    assert tokens[0].tolist() == tokens[1].tolist()


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


def test_pools_of_a_mixture():
    mixture = knot_mixture.knot_mixture(exact(["1/4", "1/4", "1/2"]), exact(["1/2", "2/3", "17/12"]), exact(
        ["1/32", "9/64", "53/64"]))  # fmt: skip
    for component in range(len(mixture.weights)):
        for place in range(3):
            plain, compiled = both(knot_mixture._delayed_pool, mixture._latest, component, place)
            assert plain == compiled


@pytest.mark.parametrize("top", [[], [0], [4, 1], [2, 3, 0]])
def test_what_favourites_leave_is_summed_token_by_token(top):
    target, draft = np.array([4.0, 2.0, 1.0, 8.0, 1.0]), np.array([0.5, 0.125, 0.25, 0.0625, 0.0625])
    outside = 1 - sum(draft[token] for token in top)
    left = [min(target[token] / 16, draft[token] / outside) for token in range(5) if token not in top]
    assert favourites.drawn(target, draft, np.array(top, dtype=np.int64), 16.0, outside) == pytest.approx(sum(left))
