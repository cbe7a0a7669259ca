"""explore gives the exact law of code that knows nothing of it; each claim meets what breaks it."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial
from itertools import accumulate, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from proofs_tests.strategies import laws, pairs
from spec_math import check_lossless_block, residual
from spec_math.arrays import exact
from spec_math.audit import OWN_GRID, Explored, ExploreError, LeakError, Partial, as_generator, explore
from spec_math.audit.exploration.atom import Atom

F = Fraction
few = settings(max_examples=30)  # an exploration looks once at every object alive, to find generators made before


def walked(law: Any, u: Any) -> int:
    """An inverse-CDF walk, as kernels write it: one comparison a token."""
    for token, total in enumerate(accumulate(law)):
        if u < total:
            return token
    return len(law) - 1


def positive(masses: Any) -> dict[int, Any]:
    return {token: mass for token, mass in enumerate(masses) if mass}


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


def test_random_module_draws() -> None:
    assert explore(lambda: random.choices("ab", [1, 2])[0]) == {"a": F(1, 3), "b": F(2, 3)}
    assert explore(lambda: random.choices("ab", cum_weights=[1, 3])[0]) == {"a": F(1, 3), "b": F(2, 3)}
    assert explore(lambda: random.randrange(1, 7, 2)) == dict.fromkeys((1, 3, 5), F(1, 3))
    assert explore(lambda: random.choice("ab") + random.choice("ab")) == dict.fromkeys(
        ("aa", "ab", "ba", "bb"), F(1, 4)
    )
    assert explore(lambda: random.Random(5).uniform(1, 3) < 2) == {True: F(1, 2), False: F(1, 2)}
    assert explore(lambda: tuple(random.sample("abc", 2))) == dict.fromkeys(permutations("abc", 2), F(1, 6))
    assert explore(lambda: tuple(_shuffled([0, 1, 2]))) == dict.fromkeys(permutations(range(3)), F(1, 6))


def _shuffled(cards: list[int]) -> list[int]:
    random.shuffle(cards)
    return cards


def test_numpy_generator_draws() -> None:
    def rng() -> Any:
        return np.random.default_rng(3)

    quarter = [0.25, 0.75]
    assert explore(lambda: int(rng().choice(2, p=quarter))) == {0: 0.25, 1: 0.75}
    assert explore(lambda: int(rng().multinomial(1, quarter).argmax())) == {0: 0.25, 1: 0.75}
    assert explore(lambda: int(rng().integers(2, 4))) == {2: F(1, 2), 3: F(1, 2)}
    assert explore(lambda: tuple((rng().random(2) < quarter).tolist()))[True, False] == 1 / 16  # type: ignore[index]
    assert explore(lambda: int(np.searchsorted(np.cumsum(quarter), rng().random(), "right"))) == {0: 0.25, 1: 0.75}
    assert explore(lambda: tuple(rng().multinomial(2, quarter).tolist())) == {
        (0, 2): 9 / 16,
        (1, 1): 6 / 16,
        (2, 0): 1 / 16,
    }
    rows = explore(lambda: tuple(rng().multinomial(1, [quarter, [1.0, 0.0]]).argmax(-1).tolist()))
    assert rows == {(0, 0): 0.25, (1, 0): 0.75}
    assert explore(lambda: tuple(rng().choice(3, 2, False, [0.5, 0.25, 0.25]).tolist()))[1, 0] == 0.25 * 0.5 / 0.75  # type: ignore[index]
    assert explore(lambda: tuple(rng().choice(3, 2, False).tolist())) == dict.fromkeys(
        permutations(range(3), 2), F(1, 6)
    )


def test_choice_without_replacement_is_met_by_sampling() -> None:
    """50,000 seeded draws of NumPy's own; 6 sigma of the worst cell is 6·sqrt(1/4/n) < .0135."""
    law = [0.5, 0.3, 0.2]
    rng = np.random.default_rng(0)
    drawn = [tuple(rng.choice(3, 2, False, law).tolist()) for _ in range(50_000)]
    found = explore(lambda: tuple(np.random.default_rng().choice(3, 2, False, law).tolist()))
    assert isinstance(found, Explored)
    assert all(abs(drawn.count(pair) / len(drawn) - mass) < 0.0135 for pair, mass in found.items())


def test_numpy_s_old_functions_draw_too() -> None:
    quarter = [0.25, 0.75]
    old: Any = np.random
    for draw in (
        lambda: int(old.rand() >= 0.25),
        lambda: int(old.choice(2, p=quarter)),
        lambda: int(old.multinomial(1, quarter).argmax()),
        lambda: int((np.array(quarter) / old.exponential(size=2)).argmax()),
        lambda: int(old.RandomState(3).random_sample() >= 0.25),
        lambda: min(1, int(old.randint(4))),
    ):
        assert explore(draw) == {0: 0.25, 1: 0.75}

    def seeded() -> tuple[bool, bool]:
        old.seed(1)
        first = old.random(2)[1] < F(1, 2)
        old.seed(1)
        return first, old.rand(2)[1] < F(1, 2)

    assert explore(seeded) == {(True, True): F(1, 2), (False, False): F(1, 2)}


@few
@given(laws(4))
def test_a_race_of_exponentials_draws_in_proportion(law: Any) -> None:
    def by_time() -> int:
        return int(np.argmin(np.random.default_rng().exponential(size=len(law)) / law))

    def by_rate() -> int:
        return int((law / np.random.default_rng().standard_exponential(len(law))).argmax())

    assert explore(by_time) == explore(by_rate) == positive(law)


def test_gumbel_noise_on_logarithms_draws_the_softmax() -> None:
    logits = np.log(np.array([0.125, 0.375, 0.5]))
    found = explore(lambda: int(np.argmax(logits + np.random.default_rng().gumbel(size=3))))
    # exp(log p) of the code's own logits, each within 2 roundoffs of p; the sum divides three of them.
    assert all(abs(found[i] - p) <= 8 * 2.0**-53 for i, p in enumerate([0.125, 0.375, 0.5]))  # type: ignore[index]
    by_hand = explore(lambda: int(np.argmax(logits - np.log(-np.log(np.random.default_rng().random(3))))))
    assert by_hand == found


def test_a_small_number_in_a_logarithm_is_left_out_and_told() -> None:
    logits = np.log(np.array([0.25, 0.75]))

    def draw(small: float) -> int:
        noise = np.log(-np.log(np.random.default_rng().random(2) + small) + small)
        return int(np.argmax(logits - noise))

    found, plain = explore(lambda: draw(1e-10)), explore(lambda: draw(0.0))
    assert isinstance(found, Explored)
    assert isinstance(plain, Explored)
    assert found == plain
    assert (found.ignored, plain.ignored) == (4 * 1e-10, 0)
    with pytest.raises(ExploreError, match="after it was scaled"):
        explore(lambda: draw(0.1))
    flipped = explore(lambda: int(np.argmax(logits - np.log(-np.log1p(-np.random.default_rng().random(2))))))
    assert flipped == plain


def test_a_generator_seeded_anew_repeats_itself() -> None:
    def seeded() -> tuple[bool, bool]:
        random.seed(7)
        first = random.random() < F(1, 2)
        random.seed(7)
        return first, random.random() < F(1, 2)

    def drawn_on() -> tuple[bool, bool]:
        random.seed(7)
        return random.random() < F(1, 2), random.random() < F(1, 2)

    def numpy_seeded() -> tuple[bool, bool]:
        return tuple(np.random.default_rng(7).random() < F(1, 2) for _ in range(2))  # type: ignore[return-value]

    assert explore(seeded) == explore(numpy_seeded) == {(True, True): F(1, 2), (False, False): F(1, 2)}
    assert len(explore(drawn_on)) == 4  # type: ignore[arg-type]
    with pytest.raises(ExploreError, match="drawn from twice"):
        explore(lambda: (np.random.default_rng(7).random() < F(1, 2), np.random.default_rng(7).integers(3)))


def test_numbers_of_one_seed_are_the_same_in_calls_of_other_sizes_or_are_refused() -> None:
    """The second of two uniforms is the second of two calls for one. Of other numbers that is not known."""

    def at_once_and_in_turn(draw: Any) -> tuple[bool, bool]:
        at_once = draw(np.random.default_rng(7), 2)
        generator = np.random.default_rng(7)
        in_turn = [draw(generator, None), draw(generator, None)]
        return bool(at_once[1] < F(1, 2)), bool(in_turn[1] < F(1, 2))

    def uniforms(generator: Any, size: Any) -> Any:
        return generator.random(size)

    assert explore(lambda: at_once_and_in_turn(uniforms)) == {(True, True): F(1, 2), (False, False): F(1, 2)}
    real = np.random.default_rng(7)
    assert np.random.default_rng(7).random(2)[1] == [real.random(), real.random()][1]
    with pytest.raises(ExploreError, match="number 1 of a call"):
        explore(lambda: at_once_and_in_turn(lambda generator, size: generator.integers(4, size=size)))
    with pytest.raises(ExploreError, match="a uniform of 53 bits and now as a uniform of 24 bits"):
        explore(lambda: [np.random.default_rng(7).random(dtype=kind) < 1 / 2 for kind in (np.float64, np.float32)])


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


def test_leaking_state_is_reported_with_what_differed() -> None:
    calls = [0]

    def asks_otherwise() -> bool:
        calls[0] += 1
        return random.random() < F(1, calls[0] + 1)

    def ends_early() -> Any:
        calls[0] += 1
        return calls[0] > 1 or random.random() < F(1, 2)

    def asks_more() -> Any:
        calls[0] += 1
        return random.random() < F(1, 2), calls[0] > 2 and random.random() < F(1, 3)

    def answers_otherwise() -> int:
        calls[0] += 1
        return calls[0]

    for fn, said in (
        (asks_otherwise, r"asked <python uniform 0> < 1/3 where the run before it asked <python uniform 0> < 1/2"),
        (ends_early, r"with the same 0 answer\(s\), this run ended where the run before it asked"),
        (asks_more, r"with the same 1 answer\(s\), this run asked <python uniform 1> < 1/3 where .* had ended"),
        (answers_otherwise, "the first run returned 1 and the last one 2"),
    ):
        calls[0] = 0
        with pytest.raises(LeakError, match=said):
            explore(fn)


_NUMPYS = np.random.default_rng(0)
_PYTHONS = random.Random(0)
_IMPORTED, _OLD, _BOUND = random.random, np.random.rand, _NUMPYS.random
_STATE = np.random.RandomState(0)
_CLASS, _MAKE = random.Random, np.random.default_rng
_HIDDEN: Any = [np.random.default_rng(1), random.Random(1), random.random, np.random.rand, np.random.RandomState(1)]
"""In a list, NumPy's generators are not found, and seen only by what was drawn from them."""


class _Sampler:
    """A sampler with a generator of its own."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(2)

    def step(self) -> bool:
        return bool(self.generator.random() < 0.25)

    __call__ = step


def _closed_over(generator: Any) -> Any:
    return lambda: generator.random() < 0.25


@pytest.mark.parametrize(
    "fn",
    [
        lambda: _NUMPYS.random() < 0.25,
        lambda: _PYTHONS.random() < 0.25,
        lambda: _STATE.rand() < 0.25,
        lambda: _IMPORTED() < 0.25,
        lambda: _OLD() < 0.25,
        lambda: _BOUND() < 0.25,
        lambda: _CLASS(7).random() < 0.25,
        lambda: _MAKE(7).random() < 0.25,
        lambda: _HIDDEN[1].random() < 0.25,
        lambda: isinstance(_NUMPYS, np.random.Generator) and _NUMPYS.choice(4) == 0,
        _closed_over(np.random.default_rng(3)),
        _closed_over(random.Random(3)),
        _Sampler().step,
        _Sampler(),
        partial(lambda generator, cut: generator().random() < cut, lambda: _NUMPYS, 0.25),
    ],
)
def test_generators_that_a_function_finds_are_followed(fn: Any) -> None:
    """In its module, its closure or its object, by whatever name, and left as they were."""
    states = repr(_NUMPYS.bit_generator.state), _PYTHONS.getstate(), random.getstate(), repr(_STATE.get_state())
    assert explore(fn) == {True: 0.25, False: 0.75}
    assert states == (
        repr(_NUMPYS.bit_generator.state),
        _PYTHONS.getstate(),
        random.getstate(),
        repr(_STATE.get_state()),
    )


def test_two_names_of_one_generator_are_one() -> None:
    def both() -> tuple[bool, bool]:
        return _NUMPYS.random() < F(1, 2), _BOUND() < F(1, 2)

    assert len(explore(both)) == 4  # type: ignore[arg-type]

    def again() -> tuple[bool, bool]:
        state = _PYTHONS.getstate()
        first = _PYTHONS.random() < F(1, 2)
        _PYTHONS.setstate(state)
        return first, _PYTHONS.random() < F(1, 2)

    assert explore(again) == {(True, True): F(1, 2), (False, False): F(1, 2)}


def test_a_generator_kept_from_an_earlier_exploration_is_refused() -> None:
    kept: list[Any] = []

    def keeps() -> bool:
        if not kept:
            kept.append(np.random.default_rng(0))
        return bool(kept[0].random() < 0.5)

    assert explore(keeps) == {True: 0.5, False: 0.5}
    with pytest.raises(ExploreError, match="outside the run that made it"):
        explore(keeps)


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (lambda: _HIDDEN[0].random() < 0.5, "made before the run"),
        (lambda: np.random.default_rng(_HIDDEN[0]), "made before the run"),
        (lambda: _HIDDEN[2]() < 0.5, "from random import"),
        (lambda: _HIDDEN[3]() < 0.5, "old global generator"),
        (lambda: _HIDDEN[4].rand() < 0.5, "made before the run"),
        (lambda: np.random.normal() < 0, "does not follow np.random.normal"),  # noqa: NPY002
        (lambda: np.random.default_rng().choice(3, 2, replace=False, shuffle=False), "does not know the order"),
        (lambda: random.gauss(0, 1) < 0, "does not follow random.gauss"),
        (lambda: np.random.default_rng().normal() < 0, "does not follow Generator.normal"),
        (lambda: float(random.random()), "value of"),
        (lambda: bool(random.random()), "whether it is zero"),
        (lambda: random.random() == 0, "compared by =="),
        (lambda: random.random() < random.random(), "two random numbers meet"),
        (lambda: random.random() + random.random() < 1, "two random numbers meet"),
        (lambda: int(np.argmax(np.random.default_rng().exponential(size=2))), "rings first"),
        (lambda: int(np.argmin(np.random.default_rng().exponential(size=2) - 1)), "shifted"),
        (lambda: [random.random() < 0.5], "cannot be counted"),
    ],
)
def test_what_cannot_be_followed_is_refused(fn: Any, said: str) -> None:
    with pytest.raises(ExploreError, match=said):
        explore(fn)


def test_the_real_generators_are_as_they_were() -> None:
    random.seed(1)
    before = random.random
    state = random.getstate()
    explore(lambda: random.random() < F(1, 2))
    assert random.random == before
    assert random.getstate() == state
    assert np.random.default_rng(0).random() == np.random.default_rng(0).random()


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
