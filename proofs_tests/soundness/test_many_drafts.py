"""Hundreds, thousands and millions of drafts: every number is still that of its definition.

`compare --k 1000` printed .8586 for K-SEQ beside an optimum of .5010 on t = (1/2, 1/2), d = (10^-6, 1 − 10^-6): its γ*
was cut at 2^8. The truth is .5007. Powers of a rounded 1 − x are off by k roundings, which shows from thousands on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from proofs_tests.soundness import position_oracle as oracle
from spec_math.invariants import ABOVE_OPTIMUM, TWO_WAYS, BrokenInvariantError
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.stream import from_rows
from spec_math.token_level import SCHEMES, k_sequential, optimal, recursive, without_replacement
from spec_math.token_level.excess import Excess, none_of
from spec_math.token_level.streamed import Chunk, RatioBuckets, rounding

KS = (31, 32, 33, 64, 65, 255, 257, 1000, 10**4, 10**6, 10**9)

LAWS = {
    "of the table": ([0.5, 0.5], [1e-6, 1 - 1e-6]),
    "rarer than one in a thousand million": ([0.25, 0.75], [1e-12, 1 - 1e-12]),
    "a token that is never drafted": ([0.125, 0.375, 0.5], [0.5, 0.5, 0.0]),
    "ratios of every size": ([0.4, 0.3, 0.2, 0.0999, 1e-4], [1e-7, 1e-5, 1e-3, 0.1, 0.89898990]),
    "equal": ([0.3, 0.7], [0.3, 0.7]),
    "disjoint": ([0.0, 0.0, 1.0], [0.25, 0.75, 0.0]),
    "one token": ([1.0], [1.0]),
    "nearly equal": ([0.5 + 2.0**-30, 0.5 - 2.0**-30], [0.5, 0.5]),
}

WAYS: tuple[tuple[Callable[..., Any], Callable[..., Decimal]], ...] = (
    (Chunk.optimum, oracle.optimum),
    (Chunk.k_sequential, oracle.k_sequential),
    (Chunk.greedy, oracle.greedy),
)

each_pair = pytest.mark.parametrize("pair", LAWS.values(), ids=LAWS.keys())


def rejected_by_steps(t: Any, d: Any, k: int) -> Decimal:
    """Recursive rejection by its scales, a step a test, to 60 digits: λ grows by E(λ)."""
    with localcontext() as context:
        context.prec = oracle.DIGITS
        scale, left = Decimal(0), Decimal(1)
        for _ in range(k):
            scale += left
            left = sum((max(a - scale * b, Decimal(0)) for a, b in zip(t, d, strict=True)), Decimal(0))
        return 1 - left


def ignore(_done: int) -> None:
    """A progress bar that nobody watches."""


@each_pair
def test_streamed_values_are_those_of_the_definition(pair: Any) -> None:
    t, d = (oracle.law_of(side) for side in pair)
    chunk = Chunk(len(t), KS)
    chunk.take(*(np.array([side]) for side in pair))
    for k in KS:
        for streamed, way in WAYS:
            assert abs(streamed(chunk, k)[0][0] - float(way(t, d, k))) <= rounding(len(t), k), (k, way)


@each_pair
@pytest.mark.parametrize("k", [64, 65, 66, 257, 1000, 10_000])
def test_tests_taken_together_reject_as_one_by_one(pair: Any, k: int) -> None:
    t, d = (oracle.law_of(side) for side in pair)
    chunk = Chunk(len(t), (k,))
    chunk.take(*(np.array([side]) for side in pair))
    assert abs(chunk.recursive(k)[0][0] - float(rejected_by_steps(t, d, k))) <= rounding(len(t), k)


def test_tests_taken_together_over_many_ratios() -> None:
    """Hundreds of ratios on the way, among them equal ones, against the closed form's own steps."""
    rng = np.random.default_rng(3)
    for size, spread in ((50, 1.0), (400, 3.0), (400, 12.0)):
        target, draft = (np.exp(rng.normal(0, spread, size)) for _ in range(2))
        draft[: size // 4] = target[: size // 4] / 8
        draft[size // 2 : size // 2 + 5] = 0.0
        chunk = Chunk(size, (65, 300, 5000))
        chunk.take(target[None], draft[None])
        t, d = target / target.sum(), draft / draft.sum()
        for k in (65, 300, 5000):
            assert abs(chunk.recursive(k)[0][0] - recursive.acceptance(t, d, k)) <= 2 * rounding(size, k), (size, k)


def test_a_million_tests_end_where_they_must() -> None:
    """d(1) = 10^-6 and t(1) = 1/2: E falls as (1 − 10^-6)^k/2, a formula of its own."""
    rare, chunk = Decimal("1e-6"), Chunk(2, (10**6, 10**8))
    chunk.take(np.array([[0.5, 0.5]]), np.array([[1e-6, 1 - 1e-6]]))
    for k in (10**6, 10**8):
        left = (Decimal("0.5") - rare) * (1 - rare) ** (k - 1)
        assert abs(chunk.recursive(k)[0][0] - (1 - float(left))) <= rounding(2, k)


@each_pair
@pytest.mark.parametrize("k", [33, 257, 1000, 10**4, 10**6])
def test_closed_forms_of_floats_are_those_of_the_definition(pair: Any, k: int) -> None:
    t, d = (oracle.law_of(side) for side in pair)
    laws = [np.array([float(mass) for mass in side]) for side in (t, d)]
    best, bound = oracle.optimum(t, d, k), rounding(len(t), k)
    assert abs(optimal.acceptance(*laws, k) - float(best)) <= bound
    true = float(oracle.k_sequential(t, d, k))
    assert abs(k_sequential.test_acceptance(*laws, k) - true) <= bound
    assert abs(k_sequential.acceptance(*laws, k) - true) <= bound


@pytest.mark.parametrize("k", [33, 100])
def test_exact_laws_keep_exact_values(k: int) -> None:
    t, d = ["1/2", "1/2"], ["1/1000", "999/1000"]
    laws = [Decimal("0.5")] * 2, [Decimal("0.001"), Decimal("0.999")]
    assert abs(float(k_sequential.test_acceptance(t, d, k)) - float(oracle.k_sequential(*laws, k))) <= 2.0**-50
    assert abs(float(k_sequential.acceptance(t, d, k)) - float(k_sequential.test_acceptance(t, d, k))) <= 2.0**-50
    assert abs(float(recursive.acceptance(t, d, k)) - float(rejected_by_steps(*laws, k))) <= 2.0**-50


@pytest.mark.parametrize("k", [1000, 10**6])
def test_compare_holds_for_thousands_of_drafts(k: int) -> None:
    pairs = [pair for pair in LAWS.values() if len(pair[0]) == 2]
    t, d = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    result = compare(from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], t.shape), SCHEMES, (1, 8, k), ignore)
    result.watch.hold()
    means = {line.name: line.acceptance[k].mean for line in result.lines if k in line.acceptance}
    exact = [(oracle.law_of(pair[0]), oracle.law_of(pair[1])) for pair in pairs]
    for name, way in (("K-SEQ at γ*", oracle.k_sequential), ("optimal plan", oracle.optimum)):
        assert abs(means[name] - sum(float(way(*laws, k)) for laws in exact) / len(exact)) <= rounding(2, k)


def test_what_has_no_value_for_many_drafts_has_none() -> None:
    """Without replacement the optimum of more than 64 drafts is not computed for large V: the others are shown."""
    rng = np.random.default_rng(1)
    laws = rng.dirichlet(np.ones(200), size=4)
    result = compare(from_rows(lambda a, b: laws[a:b], lambda a, b: laws[a:b], laws.shape), SCHEMES, (2, 100), ignore)
    result.watch.hold()
    best = result.optima[1].acceptance
    assert (best[2].count, best[100].count) == (4, 0)
    drawn = next(line for line in result.lines if line.scheme is not None and line.scheme.estimate is not None)
    assert drawn.acceptance[100].count == 4
    assert drawn.gap(100) is None


def test_a_chance_that_rounds_to_above_one_has_a_power() -> None:
    """Sums of masses and of their quotients by γ may: what is left is then nothing, not NaN."""
    above = np.array([1.0, 1.0 + 2.0**-52])
    assert k_sequential.none_of(above, 1000).tolist() == [0.0, 0.0]
    assert none_of(1.0 + 2.0**-52, 1000) == 0.0


def test_too_many_terms_are_refused_and_do_not_overflow() -> None:
    laws = np.full(400, 1 / 400)
    for k in (200, 400, 10**6):
        with pytest.raises(ValueError, match=r"more than 2e\+06; call without_replacement\.estimate"):
            without_replacement.acceptance(laws, laws, k)


def test_a_gamma_that_is_cut_is_caught_before_anything_is_shown() -> None:
    """The control: γ* no larger than 2^8, as it was."""

    def cut(chunk: Any, k: int) -> Any:
        excess = Excess(RatioBuckets.of(np.array([[0.5, 0.5]]), np.array([[1e-6, 1 - 1e-6]])).excess)
        gamma = np.minimum(excess.gamma_star(k), 2.0**8)
        values = np.full(chunk.rows, (1 - (1 - (1 - excess.at(gamma)) / gamma) ** k).item())
        return values, values

    t, d = np.array([[0.5, 0.5]]), np.array([[1e-6, 1 - 1e-6]])
    scheme = next(one for one in SCHEMES if one.streamed is Chunk.k_sequential)
    result = compare(
        from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (1, 2)), [replace(scheme, streamed=cut)], (1000,), ignore
    )
    assert {claim for claim, _, _ in result.watch.found} == {ABOVE_OPTIMUM, TWO_WAYS}
    with pytest.raises(
        BrokenInvariantError, match=r"K-SEQ at γ\* at position 0, k = 1000, .*: 0\.858\d+ against 0\.50"
    ):
        result.watch.hold()
