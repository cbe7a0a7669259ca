"""Numbers that contradict each other are an error that names the claim, and never a table; right ones never are.

Each claim has its control: a scheme or a streamed form with one fault is caught, by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from spec_math import invariants
from spec_math.cli import app
from spec_math.invariants import BrokenInvariantError, Watch, hoeffding
from spec_math.mean import Mean
from spec_math.scheme import Scheme
from spec_math.studies.positions.comparison import compare, compare_judged
from spec_math.studies.positions.stream import from_rows
from spec_math.studies.positions.verdicts import judge
from spec_math.token_level import SCHEMES, optimal
from spec_math.token_level.streamed import Chunk

KS = (1, 2, 4)


def ignore(_done: int) -> None:
    """A progress bar that nobody watches."""


def stream(seed: int, count: int, size: int, spread: float = 3.0) -> Any:
    rng = np.random.default_rng(seed)
    t, d = (np.exp(rng.normal(0, spread, (count, size))) for _ in range(2))
    d[rng.random(d.shape) < 0.1] = 0.0
    d[:, 0] += 1e-9
    t[0] = d[0]
    t, d = (side / side.sum(axis=1, keepdims=True) for side in (t, d))
    return from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (count, size))


def by_form(form: Any) -> Scheme:
    return next(scheme for scheme in SCHEMES if scheme.streamed is form)


def claims(scheme: Scheme, ks: tuple[int, ...] = KS) -> set[str]:
    """The claims that do not hold for a sabotaged scheme among the right ones: all of them name it."""
    result = compare(stream(1, 40, 7), [*SCHEMES, scheme], ks, ignore)
    assert {subject for _, subject, _ in result.watch.found} <= {scheme}
    return {claim for claim, _, _ in result.watch.found}


def raised(form: Callable[[Chunk, int], Any], by: float, at: int | None = None) -> Any:
    def sabotaged(chunk: Chunk, k: int) -> Any:
        accepted, tested = form(chunk, k)
        more = by if at in (None, k) else 0.0
        return accepted + more, tested + more

    return sabotaged


# Right numbers.


@pytest.mark.parametrize(("size", "spread"), [(1, 1), (2, 3), (5, 30), (64, 1), (700, 6), (4000, 2)])
def test_right_numbers_never_contradict_each_other(size: int, spread: float) -> None:
    for seed in range(3):
        compare(stream(seed, 30, size, spread), SCHEMES, (1, 2, 5, 16, 40), ignore).watch.hold()


def test_nearly_equal_laws_do_not_contradict_each_other() -> None:
    """Ratios within 2^-24 of 1, where bucket keys in float32 put tokens on the wrong side of an edge."""
    rng = np.random.default_rng(5)
    t = rng.dirichlet(np.ones(500), size=20)
    d = t * (1 + rng.normal(0, 2.0**-25, t.shape))
    d /= d.sum(axis=1, keepdims=True)
    compare(from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], t.shape), SCHEMES, KS, ignore).watch.hold()


# Controls of the comparison of schemes.


def test_a_scheme_above_its_optimum_is_caught_whatever_it_is() -> None:
    for scheme in SCHEMES:
        if scheme.streamed is None or scheme.optimum is None:
            continue
        sabotaged = replace(scheme, name="mine", streamed=raised(scheme.optimum.streamed, 1e-9))
        assert invariants.ABOVE_OPTIMUM in claims(sabotaged), scheme.name


def test_a_fault_of_one_k_is_caught() -> None:
    sabotaged = replace(by_form(Chunk.k_sequential), name="mine", streamed=raised(Chunk.optimum, 1e-6, at=4))
    assert invariants.ABOVE_OPTIMUM in claims(sabotaged)


def test_a_streamed_form_that_is_too_low_is_caught_by_the_closed_form() -> None:
    for form in (Chunk.k_sequential, Chunk.recursive, Chunk.greedy, Chunk.overlap, Chunk.hub):
        sabotaged = replace(by_form(form), name="mine", streamed=raised(form, -1e-9))
        assert claims(sabotaged) == {invariants.TWO_WAYS}, form


def test_a_closed_form_that_is_too_high_is_caught() -> None:
    def high(target: Any, draft: Any, k: int) -> Any:
        return optimal.acceptance(target, draft, k) + 1e-9

    sabotaged = replace(by_form(Chunk.k_sequential), name="mine", acceptance=high)
    assert invariants.TWO_WAYS in claims(sabotaged)
    alone = replace(sabotaged, streamed=None)
    assert invariants.ABOVE_OPTIMUM in claims(alone)


def test_a_probability_beyond_one_or_below_zero_is_caught() -> None:
    for by in (0.9, -0.9):
        sabotaged = replace(by_form(Chunk.match), name="mine", streamed=raised(Chunk.match, by))
        assert invariants.PROBABILITY in claims(sabotaged)


def test_no_number_at_all_is_caught() -> None:
    sabotaged = replace(by_form(Chunk.match), name="mine", streamed=raised(Chunk.match, float("nan")))
    assert invariants.PROBABILITY in claims(sabotaged)


def test_tests_that_accept_more_than_is_emitted_are_caught() -> None:
    def swapped(chunk: Chunk, k: int) -> Any:
        accepted, tested = chunk.greedy(k)
        return tested, accepted

    assert invariants.TEST_ABOVE_ACCEPTANCE in claims(replace(by_form(Chunk.greedy), name="mine", streamed=swapped))


def test_more_drafts_that_are_worse_are_caught() -> None:
    def falling(chunk: Chunk, k: int) -> Any:
        return chunk.recursive(max(KS) + 1 - k if k in (1, 4) else k)

    assert invariants.MONOTONE in claims(replace(by_form(Chunk.recursive), name="mine", streamed=falling))


def test_an_answer_that_depends_on_the_sum_of_the_masses_is_caught() -> None:
    class Sums:
        """A chunk's rows stand for its masses: one row is the scaled copy."""

        @staticmethod
        def form(chunk: Chunk, k: int) -> Any:
            accepted, tested = chunk.recursive(k)
            less = 1e-6 if chunk.rows == 1 else 0.0
            return accepted - less, tested - less

    found = claims(replace(by_form(Chunk.recursive), name="mine", streamed=Sums.form))
    assert found == {invariants.PROPORTION}


def test_an_estimate_that_is_far_too_high_is_caught_and_noise_is_not() -> None:
    scheme = next(one for one in SCHEMES if one.estimate is not None)

    def always(*_: Any) -> Mean:
        return Mean(1.0, 0.0, 2)

    positions = stream(3, 400, 300, 5.0)
    compare(positions, [scheme], (4,), ignore).watch.hold()
    result = compare(positions, [replace(scheme, estimate=always)], (4,), ignore)
    with pytest.raises(BrokenInvariantError, match="no scheme exceeds the optimum of its own drafts; recursive"):
        result.watch.hold()


def test_an_optimum_without_replacement_below_that_of_independent_drafts_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from spec_math.studies.positions import comparison

    low = replace(
        optimal.WITHOUT_REPLACEMENT, at_all=lambda t, d, ks: tuple(x - 1e-6 for x in optimal.acceptances(t, d, ks))
    )
    monkeypatch.setattr(comparison, "WITHOUT_REPLACEMENT", low)
    result = compare(stream(1, 10, 6), SCHEMES[:1], KS, ignore)
    with pytest.raises(BrokenInvariantError, match="without replacement are no worse"):
        result.watch.hold()


def test_the_error_names_claim_scheme_position_both_numbers_and_the_gap() -> None:
    watch = Watch()
    watch.at_most(invariants.PROBABILITY, SCHEMES[0], (np.array([0.5, 1.5, 1.25]), 1.0), 0.125, 7, 2)
    form = r"spec_math\.token_level\.streamed\.Chunk\.overlap"
    place = rf"maximal coupling at position 8, k = 2, computed by {form}"
    said = rf"lies in \[0, 1\]; {place}: 1\.5 against 1\.0, 0\.5 too much.*0\.125"
    with pytest.raises(BrokenInvariantError, match=said):
        watch.hold()
    watch.hold(lambda subject: subject is not SCHEMES[0])


def test_what_is_within_its_bound_is_no_contradiction() -> None:
    watch = Watch()
    watch.at_most(invariants.PROBABILITY, "mine", (np.array([1.125]), 1.0), 0.125)
    watch.agree(invariants.TWO_WAYS, "mine", (0.5, 0.625), 0.125, 0, 1)
    assert watch.found == {}
    watch.agree(invariants.TWO_WAYS, "mine", (0.5, 0.75), 0.125, 0, 1)
    assert len(watch.found) == 1


def test_sampling_explains_as_much_as_it_says() -> None:
    """Hoeffding at 10^-12: no mean of fair coins in 20,000 comes near it, and at a rate of 1/10 some come near."""
    rng, draws = np.random.default_rng(0), 200
    means = rng.integers(0, 2, (20_000, draws)).mean(axis=1) - 0.5
    assert means.max() < hoeffding(draws)
    assert means.max() > hoeffding(draws) / 4


# The command.

SABOTAGED = """
from dataclasses import replace
from spec_math import SCHEMES
from spec_math.token_level.streamed import Chunk

def high(chunk, k):
    accepted, member = chunk.optimum(k)
    return accepted + 1e-6, member + 1e-6

mine = replace(SCHEMES[3], name="mine", streamed=high)
"""


def test_the_command_ends_with_an_error_and_shows_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sabotaged_scheme.py").write_text(SABOTAGED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["compare", "--scheme", "sabotaged_scheme:mine", "--k", "1,2", "--positions", "20"]
    said = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert said.exit_code == 3
    assert "invariant broken: " in said.output
    assert "mine at position" in said.output
    assert "computed by sabotaged_scheme.high" in " ".join(said.output.split())
    assert "maximal coupling" not in said.output
    assert not list((tmp_path / "out").glob("comparison*"))


def test_a_judged_comparison_holds_its_claims() -> None:
    scheme = replace(SCHEMES[3], name="mine", streamed=raised(Chunk.optimum, 1e-6))
    with pytest.raises(BrokenInvariantError, match="mine at position"):
        compare_judged(stream(1, 10, 5), {scheme: judge(scheme)}, KS, ignore)
