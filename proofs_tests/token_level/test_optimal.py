"""The optimum against brute force over all 2^V subsets, its laws, and floats and counts against exact values."""

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofs_tests.strategies import pairs
from spec_math import exact, law, overlap, proportional_to
from spec_math.common_denominator import Counts
from spec_math.scheme import draw_independent
from spec_math.token_level import greedy, optimal
from spec_math.token_level import without_replacement as successive

UNIT = Fraction(1, 2**53)
BERNOULLI = exact(["2/5", "3/5"]), exact(["3/4", "1/4"])
BERNOULLI_3 = exact(["2/5", 0, "3/5"]), exact(["3/4", 0, "1/4"])
UNEVEN = exact(["1/5", "3/10", "1/2"]), exact(["1/2", "3/10", "1/5"])


def brute_force(draw, target, draft, k):
    """1 − max over all 2^V subsets H of P(S ⊆ H) − t(H); the law of S by walking the program that draws the drafts."""
    sets = law(lambda coin: frozenset(draw(coin, draft, k)))
    size, best = len(target), Fraction(0)
    for bits in range(2**size):
        members = {token for token in range(size) if bits >> token & 1}
        inside = sum((mass for drawn, mass in sets.items() if drawn <= members), Fraction(0))
        best = max(best, inside - sum((target[token] for token in members), Fraction(0)))
    return 1 - best


@st.composite
def instances(draw):
    """A pair on at most six tokens and at most four drafts, within 400 tuples of drafts."""
    k = draw(st.integers(1, 4))
    return (*draw(pairs({1: 6, 2: 6, 3: 6, 4: 4}[k])), k)


@given(instances())
@settings(max_examples=120)
@example((*BERNOULLI, 2))
def test_optimum_of_independent_drafts_is_the_best_of_all_subsets(instance):
    target, draft, k = instance
    value = optimal.acceptance(target, draft, k)
    assert type(value) is Fraction
    assert value == brute_force(draw_independent, target, draft, k)


@pytest.mark.parametrize("k", [2, 40, 300])
def test_prefixes_that_floats_cannot_tell_apart_are_told_apart(k):
    """Two cuts differ by 2^-90, which is below the rounding of either. Control: in floats the other is the lower."""
    rng, unit, turned = np.random.default_rng(k), 2**90, 0
    for _ in range(30):
        low, high = np.sort(1 - rng.random(2) / k)
        first, second = (Fraction(float(place)).limit_denominator(10**9) for place in (low, high))
        draft = exact([first, second - first, 1 - second])
        middle = Fraction(round((second**k - first**k) * unit) + int(rng.integers(-1, 2)), unit)
        target = exact([0, middle, 1 - middle])
        cuts = [1 - first**k, 1 - second**k + middle]
        assert optimal.acceptance(target, draft, k) == min(cuts)
        rounded = [float(1 - float(place) ** k + float(mass)) for place, mass in ((first, 0), (second, middle))]
        turned += (rounded[0] < rounded[1]) != (cuts[0] < cuts[1])
    assert turned > 3


@given(instances())
@settings(max_examples=120)
@example((*BERNOULLI, 2))
def test_optimum_without_replacement_is_the_best_of_all_subsets(instance):
    target, draft, k = instance
    value = optimal.acceptance_without_replacement(target, draft, k)
    assert type(value) is Fraction
    assert value == brute_force(successive.draw, target, draft, k)


@given(instances())
@settings(max_examples=60)
def test_greedy_acceptance_is_the_best_of_all_subsets(instance):
    target, draft, k = instance
    assert greedy.acceptance(target, draft, k) == brute_force(greedy.draw, target, draft, k)


def sorted_prefixes(target, draft, key, inside):
    """The best cut over the prefixes of some order of all tokens: the prefix rule with its parts exchanged."""
    order = sorted(range(len(target)), key=lambda token: key(target[token], draft[token]))
    cuts = []
    for i in range(len(order) + 1):
        held = sum((draft[token] for token in order[:i]), Fraction(0))
        cuts.append(inside(held) - sum((target[token] for token in order[:i]), Fraction(0)))
    return 1 - max(cuts)


WRONG = {
    "prefixes by t alone": lambda t, d, k: sorted_prefixes(t, d, lambda x, _: x, lambda held: held**k),
    "prefixes by d descending": lambda t, d, k: sorted_prefixes(t, d, lambda _, y: -y, lambda held: held**k),
    "suffixes for prefixes": lambda t, d, k: sorted_prefixes(t, d, lambda x, y: -x / y, lambda held: held**k),
    "one draft for k": lambda t, d, k: optimal.acceptance(t, d, 1),  # noqa: ARG005
    "k times the mass for its power": lambda t, d, k: sorted_prefixes(t, d, lambda x, y: x / y, lambda held: k * held),
    "all drafts distinct": optimal.acceptance_without_replacement,
}
GRID = [
    (proportional_to(t), proportional_to(d), k)
    for t in ([1, 2, 3], [3, 1, 1], [1, 1, 4], [5, 3, 1])
    for d in ([3, 2, 1], [1, 1, 1], [1, 4, 2])
    for k in (2, 3)
] + [(proportional_to([2, 3, 10]), proportional_to([1, 10, 4]), 2)]


@pytest.mark.parametrize("name", WRONG)
def test_brute_force_rejects_wrong_prefix_rules(name):
    """Control: each wrong rule misses the brute force somewhere on a small grid where the right one never does."""
    assert all(optimal.acceptance(t, d, k) == brute_force_on_grid(i) for i, (t, d, k) in enumerate(GRID))
    assert any(WRONG[name](t, d, k) != brute_force_on_grid(i) for i, (t, d, k) in enumerate(GRID))


def test_brute_force_rejects_the_independent_formula_for_drafts_without_replacement():
    """Control: k i.i.d. drafts fall into H likelier than k distinct ones."""
    wrong = [optimal.acceptance(t, d, k) != brute_force(successive.draw, t, d, k) for t, d, k in GRID if k < len(t)]
    assert any(wrong)


@lru_cache
def brute_force_on_grid(place):
    return brute_force(draw_independent, *GRID[place])


def test_erratum_d_the_optimum_of_the_bernoulli_pair():
    assert optimal.acceptance(*BERNOULLI, 2) == Fraction(67, 80)
    assert optimal.acceptance(["4/10", "6/10"], ["3/4", "1/4"], 2) == Fraction(67, 80)


@given(pairs(6), st.integers(1, 6))
def test_lemma_1_monotone_in_the_number_of_drafts(pair, k):
    for acceptance in (optimal.acceptance, optimal.acceptance_without_replacement):
        assert acceptance(*pair, k) <= acceptance(*pair, k + 1)


@given(pairs(6), st.integers(1, 40))
def test_lemma_1_consistent_at_every_number_of_drafts(pair, k):
    """α* ≥ min(T, 1 − (1 − T/c)^k) and α* ≤ T, where t ≤ c·d on the draft's support and T is its target mass.

    A prefix with draft mass x has at least T − c(1 − x) of the target, so x^k − t(H) ≤ max(x0^k, 1 − T), where
    x0 = 1 − T/c: the left of x0 by x^k, the right by convexity. The limit is T, reached at a finite k where T < 1.
    """
    target, draft = pair
    support = draft > 0
    held = target[support].sum() + Fraction(0)
    bound = max(target[support] / draft[support])
    value = optimal.acceptance(target, draft, k)
    assert value <= held
    if held > 0:
        missed = (1 - held / bound) ** k
        assert value >= min(held, 1 - missed)
        if missed <= 1 - held:
            assert value == held
    else:
        assert value == 0


@given(pairs(6), st.integers(1, 4))
def test_drafts_without_replacement_accept_no_less(pair, k):
    assert optimal.acceptance_without_replacement(*pair, k) >= optimal.acceptance(*pair, k)


@given(pairs(6))
def test_one_draft_is_maximal_coupling(pair):
    assert optimal.acceptance(*pair, 1) == overlap(*pair) == optimal.acceptance_without_replacement(*pair, 1)


@given(pairs(6), st.integers(1, 4))
def test_bounding_subset_proves_the_optimum(pair, k):
    target, draft = pair
    subset = optimal.bounding_subset(target, draft, k)
    assert subset.dtype == bool
    assert subset.shape == target.shape
    held, kept = draft[subset].sum() + Fraction(0), target[subset].sum() + Fraction(0)
    assert 1 - held**k + kept == optimal.acceptance(target, draft, k)


@given(pairs(6), st.integers(1, 5))
def test_equal_laws_are_accepted_surely_and_disjoint_ones_never(pair, k):
    target, draft = pair
    assert optimal.acceptance(target, target, k) == 1
    assert not optimal.bounding_subset(target, target, k).any()
    if not (target * draft).any():
        assert optimal.acceptance(target, draft, k) == 0


def test_the_smallest_problems():
    assert optimal.acceptance([1], [1], 3) == 1 == optimal.acceptance_without_replacement([1], [1], 3)
    assert optimal.acceptance([0, 1], [1, 0], 2) == 0 == optimal.acceptance_without_replacement([0, 1], [1, 0], 2)
    assert optimal.acceptance([0.0, 1.0], [1.0, 0.0], 2) == 0.0
    assert optimal.acceptance([0.0, 1.0], [0.5, 0.5], 3) == 1 - 0.5**3
    assert optimal.acceptance_without_replacement(["1/2", "1/4", "1/4"], ["1/2", "1/2", 0], 3) == Fraction(3, 4)
    assert optimal.acceptance_without_replacement([0.5, 0.25, 0.25], [0.5, 0.5, 0.0], 3) == 0.75


@given(pairs(5), st.integers(1, 4))
@settings(max_examples=60)
def test_counts_have_the_value_of_their_fractions(pair, k):
    counts = tuple(Counts.of(masses) for masses in pair)
    assert optimal.acceptance(*counts, k) == optimal.acceptance(*pair, k)
    assert optimal.acceptance_without_replacement(*counts, k) == optimal.acceptance_without_replacement(*pair, k)
    assert (optimal.bounding_subset(*counts, k) == optimal.bounding_subset(*pair, k)).all()


def random_counts(size, denominator, seed, near=None):
    """Whole weights of a peaked law, or weights a few units from those of another law."""
    rng = np.random.default_rng(seed)
    if near is None:
        weights = [int(weight * 2.0**60) for weight in np.exp(2 * rng.standard_normal(size))]
        total = sum(weights)
        whole = [weight * denominator // total for weight in weights]
    else:
        whole = [max(0, int(top) + int(step)) for top, step in zip(near, rng.integers(-9, 9, size), strict=True)]
    whole[0] += denominator - sum(whole)
    return Counts(np.array(whole, dtype=object), denominator)


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("denominator", [10**9, 2**61 - 1, 10**40])
def test_counts_are_exact_at_large_vocabularies(denominator, near):
    """Against all prefixes of an exact sort, in whole numbers, no float anywhere."""
    size, ks = 3_000, (1, 2, 5)
    draft = random_counts(size, denominator, 1)
    target = random_counts(size, denominator, 2, draft.numerators if near else None)
    t, d = target.numerators.tolist(), draft.numerators.tolist()
    order = sorted((x for x in range(size) if d[x]), key=lambda x: Fraction(t[x], d[x]))
    values = []
    for k in ks:
        top, bottom, best = 0, 0, 0
        for token in order:
            top, bottom = top + t[token], bottom + d[token]
            best = max(best, bottom**k - top * denominator ** (k - 1))
        values.append(1 - Fraction(best, denominator**k))
    assert optimal.acceptances(target, draft, ks) == tuple(values)


def test_float_keys_without_the_exact_repair_miss_the_optimum(monkeypatch):
    """Control: two ratios that are both 1.0 as floats; the best prefix is the second token, a stable sort's last."""
    target, draft = Counts([2**60 + 1, 2**60 - 1], 2**61), Counts([2**60, 2**60], 2**61)
    assert optimal.acceptance(target, draft, 1) == overlap(target.law(), draft.law()) == 1 - Fraction(1, 2**61)

    def by_float(t, d):
        return np.argsort((t / d).astype(float), kind="stable")

    monkeypatch.setattr(optimal, "by_exact_ratio", by_float)
    assert optimal.acceptance(target, draft, 1) == 1


def test_counts_and_laws_do_not_mix():
    with pytest.raises(TypeError, match="both be Counts"):
        optimal.acceptance(Counts([1, 1], 2), ["1/2", "1/2"], 2)
    with pytest.raises(ValueError, match="one vocabulary; target has 2 tokens, draft has 1"):
        optimal.acceptance(Counts([1, 1], 2), Counts([1], 1), 2)
    with pytest.raises(TypeError, match="one number type"):
        optimal.acceptance(["1/2", "1/2"], [0.5, 0.5], 2)


@pytest.mark.parametrize("function", [optimal.acceptance, optimal.bounding_subset])
@pytest.mark.parametrize(
    ("k", "error"), [(0, ValueError), (True, TypeError), (2.9, TypeError), (float("nan"), TypeError)]
)
def test_a_number_of_drafts_is_a_count(function, k, error):
    with pytest.raises(error, match="k must be"):
        function(*UNEVEN, k)


@pytest.mark.parametrize("world", ["exact", "float", "torch"])
def test_batches_are_row_by_row(world):
    rows = [[UNEVEN, BERNOULLI_3], [(UNEVEN[1], UNEVEN[0]), (UNEVEN[0], UNEVEN[0])], [BERNOULLI_3, UNEVEN]]
    target = np.array([[list(pair[0]) for pair in row] for row in rows], dtype=object)
    draft = np.array([[list(pair[1]) for pair in row] for row in rows], dtype=object)
    convert = lambda values: values  # noqa: E731
    if world != "exact":
        target, draft = target.astype(np.float64), draft.astype(np.float64)
    if world == "torch":
        torch = pytest.importorskip("torch")
        convert = torch.tensor
    for function in (optimal.acceptance, optimal.acceptance_without_replacement):
        found = function(convert(target), convert(draft), 2)
        assert tuple(found.shape) == (3, 2)
        for place in np.ndindex(3, 2):
            assert found[place] == function(target[place], draft[place], 2)
            assert world != "exact" or type(found[place]) is Fraction
    found = optimal.bounding_subset(convert(target), convert(draft), 2)
    for place in np.ndindex(3, 2):
        assert found[place].tolist() == optimal.bounding_subset(target[place], draft[place], 2).tolist()


def test_several_numbers_of_drafts_share_one_sort_and_keep_their_order():
    ks = (4, 1, 2, 2)
    assert optimal.acceptances(*UNEVEN, ks) == tuple(optimal.acceptance(*UNEVEN, k) for k in ks)
    floats = tuple(masses.astype(np.float64) for masses in UNEVEN)
    assert optimal.acceptances(*floats, ks) == tuple(optimal.acceptance(*floats, k) for k in ks)
    assert optimal.acceptances(*UNEVEN, ()) == ()


@given(pairs(4), st.integers(1, 3))
@settings(max_examples=40)
def test_the_plan_the_transport_and_the_value_agree(pair, k):
    target, draft = pair
    drafts = law(lambda coin: draw_independent(coin, draft, k))
    value = optimal.acceptance(target, draft, k)
    assert value == optimal.plan(target, draft, k).acceptance == optimal.acceptance_of(target, drafts)
    drafts = law(lambda coin: successive.draw(coin, draft, k))
    value = optimal.acceptance_without_replacement(target, draft, k)
    planned = optimal.plan_without_replacement(target, draft, k)
    assert value == planned.acceptance == optimal.acceptance_of(target, drafts)
