"""What Python's random and NumPy draw while code is explored: each draw has its law, by its own steps."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from proofs_tests.pathwise.explored_functions import F, few, positive
from proofs_tests.strategies import laws
from spec_math.audit import Explored, ExploreError, explore


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
