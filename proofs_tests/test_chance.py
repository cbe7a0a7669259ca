"""One program, four readings that agree: enumerated, forked by an oracle, replayed over a whole grid, and sampled."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofs_tests.oracles import forked
from proofs_tests.strategies import dyadic_laws, laws
from spec_math import Cumulative, exact, law, replay, sample
from spec_math.chance import LONGEST, ChanceError, paths
from spec_math.token_level import k_sequential, recursive, single

HALF = Fraction(1, 2)
BELOW_ONE = float(np.nextafter(1.0, 0.0))


@st.composite
def programs(draw: st.DrawFn, depth: int = 3) -> Any:
    """A random tree of flips and draws, with its leaves as outcomes."""
    kind = draw(st.sampled_from(["leaf", "flip", "draw"])) if depth else "leaf"
    if kind == "leaf":
        leaf = draw(st.integers(0, 3))
        return lambda _coin: leaf
    if kind == "flip":
        p = draw(st.sampled_from([Fraction(0), Fraction(1), HALF, Fraction(1, 3), Fraction(1, 2**60)]))
        branches = [draw(programs(depth - 1)) for _ in range(2)]
        return lambda coin: branches[coin.flip(p)](coin)
    masses = draw(laws(draw(st.integers(1, 3))))
    branches = [draw(programs(depth - 1)) for _ in masses]
    return lambda coin: branches[coin.draw(masses)](coin)


@given(program=programs())
def test_enumerated_law_is_the_forked_law(program: Any) -> None:
    enumerated = law(program)
    assert enumerated == forked(program)
    assert sum(enumerated.values()) == 1
    assert {type(mass) for mass in enumerated.values()} == {Fraction}
    walked = list(paths(program))
    assert sum(path.mass for path in walked) == 1
    assert all(path.mass > 0 for path in walked)
    assert len({path.choices for path in walked}) == len(walked)


def grid_law(program: Any, coins: int, cells: int) -> dict[Any, Fraction]:
    """The law of a program whose uniforms are the left ends of `cells` equal cells, all combinations of them."""
    found: dict[Any, Fraction] = {}
    for uniforms in product([Fraction(i, cells) for i in range(cells)], repeat=coins):
        outcome = replay(program, uniforms)
        found[outcome] = found.get(outcome, 0) + Fraction(1, cells**coins)
    return found


@pytest.mark.parametrize(
    ("verify", "k", "coins", "target", "draft"),
    [
        (single.verify, 1, 3, ["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"]),
        (recursive.verify, 2, 5, ["1/4", "3/4"], ["1/2", "1/2"]),
        (k_sequential.verify, 2, 5, ["1/2", "1/2"], ["1/2", "1/2"]),
    ],
)
def test_replay_over_a_grid_that_holds_every_threshold_is_the_law(
    verify: Any, k: int, coins: int, target: Any, draft: Any
) -> None:
    def program(coin: Any) -> int:
        tokens = tuple(coin.draw(exact(draft)) for _ in range(k))
        return verify(coin, tokens, target, draft)

    assert grid_law(program, coins, 4) == law(program)


@given(masses=laws(4), numerator=st.integers(0, 63))
def test_replayed_draw_is_the_first_token_whose_sum_exceeds_the_uniform(masses: Any, numerator: int) -> None:
    u = Fraction(numerator, 64)
    wanted = next(i for i in range(4) if sum(masses[: i + 1]) > u * sum(masses))
    assert masses[wanted] > 0
    assert replay(lambda coin: coin.draw(masses), [u]) == wanted
    assert replay(lambda coin: coin.draw(Cumulative(masses)), [u]) == wanted
    assert Cumulative(masses).at(u) == wanted


@given(masses=dyadic_laws(4), u=st.one_of(st.just(0.0), st.just(BELOW_ONE), st.floats(0, 1, exclude_max=True)))
def test_a_token_of_mass_zero_is_never_drawn(masses: Any, u: float) -> None:
    for law_of_four in (masses, masses.astype(float), [0, *masses, 0], [0.0, *masses.astype(float), 0.0]):
        drawn = replay(lambda coin, masses=law_of_four: coin.draw(masses), [u])
        assert law_of_four[drawn] > 0


@given(weights=st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=12).filter(any))
def test_float_draws_stay_on_the_support_at_both_ends(weights: list[float]) -> None:
    masses = [0.0, *(np.array(weights) / np.sum(weights)).tolist(), 0.0]
    assume(abs(sum(masses) - 1) < 1e-9)
    support = [i for i, mass in enumerate(masses) if mass > 0]
    assert masses[replay(lambda coin: coin.draw(masses), [0.0])] > 0
    assert replay(lambda coin: coin.draw(masses), [0.0]) == support[0]
    assert masses[replay(lambda coin: coin.draw(masses), [BELOW_ONE])] > 0


def test_a_uniform_that_rounds_up_to_the_whole_sum_draws_the_last_token_with_mass() -> None:
    closer_than_floats_get = 1 - Fraction(1, 2**60)
    masses = [0.1] * 10 + [0.0]
    assert closer_than_floats_get * sum(masses) == sum(masses)
    assert replay(lambda coin: coin.draw(masses), [closer_than_floats_get]) == 9


@pytest.mark.parametrize(
    ("p", "u", "outcome"),
    [
        (HALF, HALF, False),
        (HALF, Fraction(1, 2) - Fraction(1, 2**80), True),
        (0.5, 0.5, False),
        (0.5, float(np.nextafter(0.5, 0)), True),
        (0, 0, False),
        (0.0, 0.0, False),
        (1, BELOW_ONE, True),
        (5e-324, 0.0, True),
        (np.float32(0.5), 0.25, True),
    ],
)
def test_flip_is_strictly_less(p: Any, u: Any, outcome: bool) -> None:
    assert replay(lambda coin: coin.flip(p), [u]) is outcome


def test_draw_is_in_proportion_to_the_sum() -> None:
    """A float law may sum to a little more than 1: the uniform is taken of that sum, and a path has its share of it."""
    masses = [0.5, 0.5, 2.0**-8]
    assert law(lambda coin: coin.draw(masses)) == {token: mass / (1 + 2.0**-8) for token, mass in enumerate(masses)}
    for read in (masses, Cumulative(masses)):
        drawn = [replay(lambda coin, read=read: coin.draw(read), [u]) for u in (0.497, 0.4985, 0.994, 0.997)]
        assert drawn == [0, 1, 1, 2]


class Tape:
    """A source that counts what is taken from it."""

    def __init__(self, uniforms: list[Any]) -> None:
        self.left = list(uniforms)

    def random(self) -> Any:
        return self.left.pop(0)


@given(asked=st.lists(st.sampled_from(["never", "surely", "half", "one-hot", "first", "pair", "kept"]), max_size=8))
def test_every_call_consumes_one_uniform_in_order(asked: list[str]) -> None:
    """Coins whose answer is certain consume theirs too, so that arrays of uniforms keep their layout."""
    kept = Cumulative([HALF, HALF])
    tape = Tape([Fraction(i, 8) for i in range(8)])
    taken: list[int] = []

    def program(coin: Any) -> None:
        for question in asked:
            match question:
                case "never":
                    assert coin.flip(0) is False
                case "surely":
                    assert coin.flip(1) is True
                case "half":
                    assert coin.flip(HALF) is (len(taken) < 4)
                case "one-hot":
                    assert coin.draw([0, 1, 0]) == 1
                case "first":
                    assert coin.draw([1, 0]) == 0
                case "pair":
                    assert coin.draw([HALF, HALF]) == (len(taken) >= 4)
                case _:
                    assert coin.draw(kept) == (len(taken) >= 4)
            taken.append(len(tape.left))

    sample(program, tape)
    assert taken == [7 - i for i in range(len(asked))]


@pytest.mark.parametrize("rng", [random.Random(5), np.random.default_rng(5)])
def test_a_sample_is_the_replay_of_its_generator(rng: Any) -> None:
    def program(coin: Any) -> tuple[Any, ...]:
        return tuple(coin.draw([0.25, 0.25, 0.5]) if coin.flip(0.5) else -1 for _ in range(20))

    again = random.Random(5) if isinstance(rng, random.Random) else np.random.default_rng(5)
    uniforms = [again.random() for _ in range(40)]
    assert sample(program, rng) == replay(program, uniforms)


def test_samples_follow_the_law() -> None:
    """20,000 draws of a law on 4 outcomes: each count within 6 standard deviations, 1e-8 of false alarm in all."""
    masses = exact(["1/8", "1/8", "1/4", "1/2"])
    rng, counts = random.Random(11), [0] * 4
    for _ in range(20_000):
        counts[sample(lambda coin: coin.draw(masses), rng)] += 1
    for found, mass in zip(counts, masses.astype(float), strict=True):
        assert abs(found - 20_000 * mass) < 6 * (20_000 * mass * (1 - mass)) ** 0.5


def test_cumulative_is_its_vector_in_every_reading() -> None:
    masses = exact(["1/3", 0, "2/3"])

    def by(choice: Any) -> Any:
        return lambda coin: (coin.draw(choice), coin.draw(choice))

    assert law(by(masses)) == law(by(Cumulative(masses))) == law(by(masses.tolist()))
    assert [path.choices for path in paths(by(masses))] == [path.choices for path in paths(by(Cumulative(masses)))]
    for seed in range(20):
        assert sample(by(masses), random.Random(seed)) == sample(by(Cumulative(masses)), random.Random(seed))


def test_torch_masses_are_drawn_from() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    masses = torch.tensor([0.25, 0.0, 0.75])
    assert law(lambda coin: coin.draw(masses)) == {0: 0.25, 2: 0.75}
    assert law(lambda coin: coin.flip(masses[0])) == {True: 0.25, False: 0.75}
    assert replay(lambda coin: coin.draw(masses), [0.25]) == 2


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda coin: coin.flip(Fraction(-1, 2)), r"flip: a probability must lie in \[0, 1\]; got -1/2"),
        (lambda coin: coin.flip(1.5), r"flip: a probability must lie in \[0, 1\]; got 1.5"),
        (lambda coin: coin.flip(float("nan")), r"flip: a probability must lie in \[0, 1\]; got nan"),
        (lambda coin: coin.draw([]), "draw: a distribution needs at least one token; got none"),
        (lambda coin: coin.draw([2, -1]), "draw: masses must be >= 0; token 1 has -1"),
        (lambda coin: coin.draw([1.0, float("nan")]), "draw: masses must be >= 0; token 1 has nan"),
        (lambda coin: coin.draw(exact(["1/2", "1/3"])), r"these 2 sum to 5/6 \(off by 1/6\)"),
        (lambda coin: coin.draw(exact([1, Fraction(1, 2**80)])), "masses must sum to 1"),
        (lambda coin: coin.draw([0.5, 0.25]), r"these 2 sum to 0.75 \(off by 0.25\)"),
        (lambda coin: coin.draw(Cumulative([HALF, HALF, HALF])), r"these 3 sum to 3/2 \(off by 1/2\)"),
        (lambda coin: coin.draw(Cumulative([0, 0])), r"these 2 sum to 0 \(off by 1\)"),
    ],
)
def test_what_is_no_chance_is_refused_in_every_reading(ask: Any, said: str) -> None:
    for read in (law, lambda program: sample(program, random.Random(0)), lambda program: replay(program, [0.5])):
        with pytest.raises(ChanceError, match=said):
            read(ask)


@pytest.mark.parametrize("uniform", [1, 1.0, -0.25, float("nan"), Fraction(3, 2)])
def test_a_uniform_outside_its_interval_is_refused(uniform: Any) -> None:
    for ask in (lambda coin: coin.flip(HALF), lambda coin: coin.draw([HALF, HALF])):
        with pytest.raises(ValueError, match=r"uniforms must lie in \[0, 1\); number 2 is"):
            replay(lambda coin, ask=ask: (coin.flip(HALF), ask(coin)), [0, uniform])


def test_too_few_uniforms_are_told() -> None:
    with pytest.raises(ValueError, match="asks for more uniforms than the 1 that were given"):
        replay(lambda coin: coin.flip(HALF) and coin.flip(HALF), [0.25])
    assert replay(lambda coin: coin.flip(HALF), [0.25, 7]) is True


def test_a_source_without_uniforms_is_refused() -> None:
    with pytest.raises(TypeError, match=r"rng must have a method random\(\)"):
        sample(lambda coin: coin.flip(HALF), 0)


@pytest.mark.parametrize("read", [law, lambda ask: sample(ask, random.Random(0)), lambda ask: replay(ask, [0.5])])
def test_what_no_coin_is_asked_is_named_with_what_it_is_asked(read: Any) -> None:
    with pytest.raises(AttributeError, match=r"a coin has no 'choose': .*coin\.flip\(p\) and coin\.draw\(masses\)"):
        read(lambda coin: coin.choose([1]))


def test_an_exception_carries_its_path() -> None:
    def program(coin: Any) -> None:
        if not coin.flip(HALF):
            coin.draw([0, 1])
            raise LookupError("here")

    with pytest.raises(LookupError, match="here") as caught:
        law(program)
    assert caught.value.__notes__ == ["on the path: flip(1/2) = False, draw(0, 1) = 1"]


def test_a_program_that_is_no_function_of_its_coin_is_refused() -> None:
    asked = iter(range(2, 9))
    with pytest.raises(ChanceError, match=r"on the same path it asked flip\(1/2\) and then flip\(1/3\)"):
        law(lambda coin: coin.flip(Fraction(1, next(asked))))


def test_an_endless_program_is_refused() -> None:
    def endless(coin: Any) -> None:
        while True:
            coin.flip(HALF)

    with pytest.raises(ChanceError, match=f"one path asks for more than {LONGEST:,} coins"):
        law(endless)


@settings(max_examples=30)
@given(masses=laws(3))
def test_outcomes_of_probability_zero_are_not_walked(masses: Any) -> None:
    seen: list[int] = []
    law(lambda coin: seen.append(coin.draw(masses)))
    assert seen == [token for token in range(3) if masses[token] > 0]


def test_a_long_law_is_shortened_in_its_path() -> None:
    (path,) = paths(lambda coin: coin.draw([0] * 99 + [1]))
    assert path.choices == ("draw(0, 0, 0, 0, 0, 0, 0, 0, … 100 in all) = 99",)


def test_a_walk_puts_no_choice_into_words_until_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most walks never ask, and the words of a path take longer than the path."""
    worded: list[Any] = []

    def noted(number: Any) -> str:
        worded.append(number)
        return str(number)

    monkeypatch.setattr("spec_math.chance.as_text", noted)
    assert law(lambda coin: coin.flip(Fraction(1, 3))) == {True: Fraction(1, 3), False: Fraction(2, 3)}
    walked = list(paths(lambda coin: coin.flip(Fraction(1, 3))))
    assert worded == []
    assert walked[0].choices == ("flip(1/3) = True",)
    assert worded == [Fraction(1, 3)]
