"""explore gives the exact law of code that knows nothing of it; each claim meets what breaks it."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from proofs_tests.pathwise.explored_functions import HIDDEN, F, few, positive
from proofs_tests.strategies import laws, pairs
from spec_math import check_lossless_block, residual
from spec_math.arrays import exact
from spec_math.audit import OWN_GRID, Explored, ExploreError, Partial, as_generator, explore
from spec_math.pathwise import followed
from spec_math.pathwise.atom import Atom


def walked(law: Any, u: Any) -> int:
    """An inverse-CDF walk, as kernels write it: one comparison a token."""
    for token, total in enumerate(accumulate(law)):
        if u < total:
            return token
    return len(law) - 1


@few
@given(laws(4))
def test_an_inverse_cdf_walk_draws_its_law(law: Any) -> None:
    assert explore(lambda: walked(law, random.random())) == positive(law)


@few
@given(pairs())
def test_plain_python_speculation_is_lossless(pair: Any) -> None:
    t, d = pair

    def step() -> int:
        x = walked(d, random.random())
        return x if random.random() * d[x] <= t[x] else walked(residual(t, d), random.random())

    found = explore(step)
    assert isinstance(found, Explored)
    assert found.exact
    assert found == positive(t)


def test_a_uniform_compared_twice_is_conditioned() -> None:
    def twice() -> tuple[bool, bool]:
        u = random.random()
        return u < F(1, 2), u > F(1, 3)

    assert explore(twice) == {(True, True): F(1, 6), (True, False): F(1, 3), (False, True): F(1, 2)}


def test_an_explorer_that_forgets_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its interval, a uniform answers each comparison anew: the walk no longer draws its law."""

    def forgetful(self: Atom, cut: Fraction, asked: str) -> bool:
        return self.tape.flip(asked, cut)

    law = exact(["1/4", "1/4", "1/2"])
    assert explore(lambda: walked(law, random.random())) == positive(law)
    monkeypatch.setattr(Atom, "below", forgetful)
    with pytest.raises(ExploreError, match="on ordinary numbers"):
        explore(lambda: walked(law, random.random()))
    monkeypatch.setattr(followed, "numbers_for", lambda *_: None)
    assert explore(lambda: walked(law, random.random())) != positive(law)


@pytest.mark.parametrize(
    ("compare", "chance"),
    [
        (lambda u: u < F(1, 3), F(1, 3)),
        (lambda u: F(1, 3) > u, F(1, 3)),
        (lambda u: u >= F(1, 3), F(2, 3)),
        (lambda u: 1 - u < F(1, 3), F(1, 3)),
        (lambda u: 2 * u + 1 <= F(4, 3), F(1, 6)),
        (lambda u: -u / 2 > F(-1, 8), F(1, 4)),
        (lambda u: int(u * 3) == 1, F(1, 3)),
        (lambda u: u * 0 < 1, 1),
        (lambda u: u < float("inf"), 1),
        (lambda u: u < float("nan"), 0),
        (lambda u: u >= float("nan"), 0),
        (lambda u: u < 2, 1),
    ],
)
def test_thresholds_are_solved_for(compare: Any, chance: Any) -> None:
    assert explore(lambda: bool(compare(random.random()))).get(True, 0) == chance  # type: ignore[union-attr]


def test_weights_are_exact_where_thresholds_are_and_say_so() -> None:
    found = explore(lambda: random.random() < F(1, 3))
    assert isinstance(found, Explored)
    assert found.exact
    rounded = explore(lambda: random.random() < 1 / 3)
    assert isinstance(rounded, Explored)
    assert not rounded.exact
    assert rounded[True] == 1 / 3


@pytest.mark.parametrize("bits", [1, 3, 24])
def test_on_a_grid_strict_and_weak_comparisons_differ_by_a_cell(bits: int) -> None:
    cell = F(1, 2**bits)
    half = {True: F(1, 2), False: F(1, 2)}
    assert explore(lambda: random.random() < F(1, 2), grid=bits) == half
    assert explore(lambda: random.random() <= F(1, 2), grid=bits).get(True) == F(1, 2) + cell  # type: ignore[union-attr]
    assert explore(lambda: random.random() <= 0, grid=bits).get(True) == cell  # type: ignore[union-attr]
    assert explore(lambda: random.random() <= 0) == {False: 1}


def test_a_source_has_its_own_grid() -> None:
    assert explore(lambda: random.random() <= 0, grid=OWN_GRID).get(True) == F(1, 2**53)  # type: ignore[union-attr]
    single = explore(lambda: np.random.default_rng().random(dtype=np.float32) <= 0, grid=OWN_GRID)
    assert single.get(True) == F(1, 2**24)  # type: ignore[union-attr]


def test_real_uniforms_lie_on_the_grid_that_is_claimed() -> None:
    """All on k/2^bits, and not all on the grid of half as many."""
    generator = np.random.default_rng(0)
    python = random.Random(0)
    for drawn, bits in (
        ([python.random() for _ in range(1_000)], 53),
        (generator.random(1_000).tolist(), 53),
        (generator.random(1_000, dtype=np.float32).astype(float).tolist(), 24),
    ):
        cells = [F(u) * 2**bits for u in drawn]
        assert all(cell.denominator == 1 for cell in cells)
        assert any(int(cell) % 2 for cell in cells)


def test_on_a_grid_the_arithmetic_rounds_as_the_code_does() -> None:
    """In float32, u·q < p rounds; the law is counted here over all 2^12 values of u."""
    p, q = np.float32(0.1), np.float32(0.3)

    def accepted(u: Any) -> Any:
        return u * q < p

    counted = sum(bool(accepted(np.float32(k / 2**12))) for k in range(2**12))
    found = explore(lambda: accepted(np.random.default_rng().random(dtype=np.float32)), grid=12)
    assert found == {True: counted / 2**12, False: 1 - counted / 2**12}


def test_a_budget_that_runs_out_leaves_a_bracket_and_no_law() -> None:
    def first_heads() -> int:
        count = 0
        while random.random() < F(1, 2):
            count += 1
        return count

    def bounded() -> int:
        return min(3, next(i for i in range(4) if i == 3 or random.random() < F(1, 2)))

    found = explore(lambda: -bounded(), budget=2)
    assert isinstance(found, Partial)
    assert not isinstance(found, dict)
    assert found.lower == {0: F(1, 2), -1: F(1, 4)}
    assert found.unexplored == F(1, 4)
    whole = explore(lambda: -bounded(), budget=4)
    assert isinstance(whole, Explored)
    for outcome, mass in whole.items():
        bracket = found.bracket(outcome)
        assert bracket.lower <= mass <= bracket.upper
    with pytest.raises(ValueError, match="1,000 coins"):
        explore(first_heads)
    with pytest.raises(ExploreError, match="raise budget"):
        check = as_generator(lambda _: (bounded(),), budget=2)
        check(None, ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (lambda: HIDDEN[0].random() < 0.5, "made before the run"),
        (lambda: np.random.default_rng(HIDDEN[0]), "made before the run"),
        (lambda: HIDDEN[2]() < 0.5, "from random import"),
        (lambda: HIDDEN[3]() < 0.5, "old global generator"),
        (lambda: HIDDEN[4].rand() < 0.5, "made before the run"),
        (lambda: np.random.normal() < 0, "does not follow np.random.normal"),  # noqa: NPY002
        (lambda: np.random.default_rng().choice(3, 2, replace=False, shuffle=False), "does not know the order"),
        (lambda: random.gauss(0, 1) < 0, "does not follow random.gauss"),
        (lambda: np.random.default_rng().normal() < 0, "does not follow Generator.normal"),
        (lambda: float(random.random()), "value of"),
        (lambda: random.random() + 1e14 < 1e14 + 0.25, "floats hold few of its digits"),
        (lambda: 2**40 - random.random() < 2**40 - 0.25, "floats hold few of its digits"),
        (lambda: random.random() / 1e9 + 1 < 1 + 1e-10, "floats hold few of its digits"),
        (lambda: bool(random.random()), "whether it is zero"),
        (lambda: random.random() == random.random(), "compared by =="),
        (lambda: random.random() < 2 * random.random(), "two random numbers meet"),
        (lambda: random.random() + random.random() < 1, "two random numbers meet"),
        (lambda: int(np.argmax(np.random.default_rng().exponential(size=2))), "rings first"),
        (lambda: int(np.argmin(np.random.default_rng().exponential(size=2) - 1)), "shifted"),
        (lambda: [random.random() < 0.5], "cannot be counted"),
    ],
)
def test_what_cannot_be_followed_is_refused(fn: Any, said: str) -> None:
    with pytest.raises(ExploreError, match=said):
        explore(fn)


def test_an_exception_of_the_function_names_its_path() -> None:
    def raises() -> None:
        if random.random() < F(1, 3):
            raise KeyError("lost")

    with pytest.raises(KeyError) as caught:
        explore(raises)
    assert "flip(1/3) = True" in str(caught.value.__notes__)


def test_a_sampler_of_plain_code_meets_the_judge_of_generators() -> None:
    t, d = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])

    def step(rest: Any) -> Any:
        def sampler(_prefix: Any) -> tuple[int, ...]:
            x = walked(d, random.random())
            return (x if random.random() < min(1, t[x] / d[x]) else walked(rest, random.random()),)

        return as_generator(sampler)

    assert check_lossless_block(step(residual(t, d)), lambda _: t, 2)
    assert not check_lossless_block(step(t), lambda _: t, 2)
