"""Masses that no float holds, denormal drafts, and one sample: a number, an error, or an infinite error, never NaN.

`several_drafters.optimum` took the logarithm of a mass of 10^-400 as a float, which is 0, and crashed on NaN. A draft
mass of 5·10^-324 overflows as a divisor: NumPy warned, in every verifier that compares t/d with a coin.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from proofs_tests.oracles import forked
from proofs_tests.soundness import position_oracle as oracle
from spec_math import SCHEMES, Lossless, check_lossless, exact, law, replay
from spec_math.block_level import length
from spec_math.block_level import optimum as block_optimum
from spec_math.block_level.methods import METHODS
from spec_math.distribution import capped_ratio, residual, temperature, top_p
from spec_math.language import Table
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.stream import from_rows
from spec_math.token_level import bounds, draft_law, optimal, plan, transport, without_replacement
from spec_math.token_level.optimum import pool_lemma, several_drafters
from spec_math.token_level.optimum.ratio_order import ratio_order
from spec_math.token_level.streamed import Chunk, rounding
from spec_math.verdict import Bracket

LEAST = 5e-324

FLOATS = [
    ([0.5, 0.5], [1.0, LEAST]),
    ([0.5, 0.5], [LEAST, 1.0]),
    ([0.25, 0.25, 0.5], [1.0, LEAST, 2 * LEAST]),
    ([0.25, 0.75, 0.0], [LEAST, 1 - 2.0**-30, 2.0**-30]),
    ([LEAST, 0.5, 0.5], [LEAST, LEAST, 1.0]),
    ([0.5, 0.5], [2.3e-308, 1.0]),
    ([1.0, LEAST], [LEAST, 1.0]),
    ([0.1, 0.2, 0.3, 0.4], [LEAST, 1e-310, 1e-200, 1.0]),
]

each_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
each_pair = pytest.mark.parametrize("pair", FLOATS, ids=range(len(FLOATS)))


@pytest.fixture(autouse=True)
def no_warning_is_let_pass() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def arrays(pair: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.array(pair[0]), np.array(pair[1])


def ignore(_done: int) -> None:
    """A progress bar that nobody watches."""


# Several drafters, at masses that no float holds.


@pytest.mark.parametrize("exponent", [324, 400, 1000, 5000])
@pytest.mark.parametrize("shape", range(5))
def test_the_bracket_of_several_drafters_holds_at_masses_below_all_floats(exponent: int, shape: int) -> None:
    tiny = Fraction(1, 10**exponent)
    half, third = Fraction(1, 2), Fraction(1, 3)
    target, drafts = [
        ([Fraction(1, 4), Fraction(3, 4)], [[tiny, 1 - tiny], [half, half]]),
        ([tiny, 1 - tiny], [[half, half], [tiny, 1 - tiny]]),
        ([half, half], [[1 - tiny, tiny], [tiny, 1 - tiny]]),
        ([third, third, third], [[tiny, tiny**2, 1 - tiny - tiny**2], [half, half / 2, half / 2]]),
        ([1 - 2 * tiny, tiny, tiny], [[tiny, 1 - tiny, 0], [0, tiny, 1 - tiny], [third, third, third]]),
    ][shape]
    found = several_drafters.optimum(target, drafts)
    best = transport.acceptance_of(target, draft_law.independent(drafts))
    assert isinstance(found, Bracket)
    assert found.lower <= best <= found.upper <= 1
    assert isinstance(found.lower, Fraction)


@each_pair
def test_the_bracket_of_several_drafters_holds_at_denormal_masses(pair: Any) -> None:
    target, draft = arrays(pair)
    others = [np.full(len(draft), 1 / len(draft)), target]
    for drafts in ([draft, draft], [draft, others[0]], [draft, *others]):
        found = several_drafters.optimum(target, drafts)
        best = transport.acceptance_of(target, draft_law.independent(drafts))
        bound = (len(target) + 8 * len(drafts) + 8) * 2.0**-53
        assert found.lower - bound <= best <= found.upper + bound
        assert several_drafters.acceptance(target, drafts) <= found.upper + bound


def test_weights_that_are_clipped_alone_are_no_bound() -> None:
    """The control: what a product below 1 would do. For t = d the optimum is 1 and U(w) at (1/2, 1) is no bound."""
    draft = exact(["1/2", "1/2"])
    _, bound = several_drafters._best_prefix(exact([0, 1]), (draft / 2 + draft) / 2, 2)
    assert bound < 1 - transport.acceptance_of([0, 1], draft_law.iid(draft, 2))


# One sample knows no spread.


@pytest.mark.parametrize("pair", [([0.5, 0.5], [0.5, 0.5]), ([0.25, 0.75], [0.75, 0.25]), *FLOATS[:2]])
def test_one_path_has_no_standard_error(pair: Any) -> None:
    with pytest.raises(ValueError, match="at least 2 samples; got 1"):
        without_replacement.estimate(*arrays(pair), 2, 1, np.random.default_rng(0))
    assert 0 <= without_replacement.estimate(*arrays(pair), 2, 2, np.random.default_rng(0)).value <= 1


# Denormal drafts, with warnings as errors.


@each_pair
@each_scheme
def test_a_verifier_on_denormal_drafts_neither_warns_nor_misses(scheme: Any, pair: Any) -> None:
    target, draft = arrays(pair)
    for k in (1, 2, 3):
        verdict = check_lossless(scheme, target, draft, k)
        assert isinstance(verdict, Lossless), str(verdict)
        for form in (scheme.acceptance, scheme.test_acceptance, scheme.optimum):
            assert abs(float(form(target, draft, k)) - 0.5) <= 0.5 + rounding(len(target), k)


@each_pair
@each_scheme
def test_every_drafted_tuple_can_be_verified(scheme: Any, pair: Any) -> None:
    """Tuples of probability 10^-324 too, which no sample meets: their coins are fair and do not overflow."""
    target, draft = arrays(pair)
    size = min(int((draft > 0).sum()), 2)
    for tokens in product(np.flatnonzero(draft > 0).tolist(), repeat=scheme.drafts or size):
        try:
            emitted = law(lambda coin, tokens=tokens: scheme.verify(coin, tokens, target, draft))
        except ValueError:  # a tuple that this scheme never drafts
            continue
        assert abs(sum(emitted.values()) - 1) <= 2.0**-40
        assert all(mass >= 0 for mass in emitted.values())


@each_pair
def test_streamed_values_of_denormal_drafts_are_those_of_the_definition(pair: Any) -> None:
    target, draft = arrays(pair)
    chunk = Chunk(len(target), (1, 2, 3, 100))
    chunk.take(target[None], draft[None])
    t, d = (oracle.law_of(side) for side in pair)
    for k in (1, 2, 3, 100):
        for streamed, way in (
            (chunk.optimum, oracle.optimum),
            (chunk.k_sequential, oracle.k_sequential),
            (chunk.recursive, oracle.recursive),
            (chunk.greedy, oracle.greedy),
        ):
            assert abs(streamed(k)[0][0] - float(way(t, d, k))) <= rounding(len(t), k), (way, k)


@each_pair
def test_compare_takes_denormal_drafts(pair: Any) -> None:
    t, d = (side[None] for side in arrays(pair))
    result = compare(from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], t.shape), SCHEMES, (1, 2, 100), ignore)
    result.watch.hold()
    for line in result.lines:
        assert all(gap.mean >= -2 * rounding(4, 100) for gap in line.gaps.values()), line.name


@each_pair
def test_plans_brackets_and_restrictions_take_denormal_drafts(pair: Any) -> None:
    target, draft = arrays(pair)
    for k in (1, 2, 3):
        for make in (plan.plan, plan.plan_without_replacement):
            assert abs(make(target, draft, k).selection.sum() - 1) <= 2.0**-40
        assert optimal.bounding_subset(target, draft, k).shape == draft.shape
        for scheme in SCHEMES:
            found = bounds.bracket(scheme, target, draft, k)
            assert found.lower <= found.upper + 2.0**-40
    assert residual(target, draft).sum() == pytest.approx(1)
    for heat in (1e-3, 0.5, 2.0, 50.0):
        assert temperature(draft, heat).sum() == pytest.approx(1)
    assert top_p(draft, 1.0).sum() == pytest.approx(1)


@each_pair
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_methods_on_blocks_take_denormal_drafts(method: Any, pair: Any) -> None:
    target, draft = (Table({(): side}, context=0) for side in pair)
    # Trees of four tokens are as wide as they need be after one token.
    lookahead, k = 2 if len(pair[0]) < 4 else 1, 1 if method.one_chain else 2

    def generate(coin: Any, prefix: Any) -> Any:
        return method.generate(coin, target, draft, prefix, lookahead, k)

    expected = float(method.expected(target, draft, (), lookahead, k))
    assert 1 - 2.0**-40 <= expected <= lookahead + 1 + 2.0**-40
    assert abs(expected - float(length.expected(generate, ()))) <= 2.0**-30
    if k == 2:
        best = block_optimum.tokens_per_call(target, draft, (), lookahead, k)
        assert getattr(best, "upper", None) is None or best.upper <= 1 + lookahead + 2.0**-40


def test_the_pool_lemma_keeps_its_chance_where_a_pool_is_all_but_empty() -> None:
    order = ratio_order(np.array([0.5, 0.25, 0.25]), np.array([1.0, LEAST, 3 * LEAST]))
    chances = [pool_lemma.keep(order, (), (y, z), 1, (0, high)) for y, z in ((0, 1), (1, 0)) for high in (2, 3)]
    assert all(0 <= chance <= 1 for chance in chances)


@pytest.mark.parametrize(
    ("top", "bottom", "share"),
    [(0.5, LEAST, 1.0), (LEAST, LEAST, 1.0), (LEAST, 1.0, LEAST), (0.0, LEAST, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 1.0)],
)
def test_a_capped_ratio_never_overflows(top: float, bottom: float, share: float) -> None:
    assert capped_ratio(np.float64(top), np.float64(bottom)) == share
    assert capped_ratio(Fraction(top), Fraction(bottom)) == share


def test_the_quotient_itself_warns() -> None:
    """The control: what every verifier divided before."""
    with pytest.raises(RuntimeWarning, match="overflow"):
        min(1, np.float64(0.5) / np.float64(LEAST))


def test_replayed_and_enumerated_coins_agree_on_denormal_drafts() -> None:
    target, draft = arrays(FLOATS[2])
    for scheme in SCHEMES:

        def program(coin: Any, scheme: Any = scheme) -> Any:
            return scheme.verify(coin, scheme.draw(coin, draft, 2), target, draft)

        assert replay(program, [0.5] * 12) in forked(program)
