"""Intervals of sampled means cover the truth as often as they say, for laws and sizes where a normal limit does not."""

from __future__ import annotations

from math import isnan, log, log1p, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from proofs_tests.coverage import LAWS, limit, misses, narrowed, normal, too_many
from spec_math.mean import STAKE, Mean, known, of_independent, of_positions, of_strata

RUNS = 2_000
SIZES = (2, 5, 20, 100)
CONFIDENCE = 0.9
"""Where more is missed, more is seen: of 2,000 intervals 200 may miss, and 268 are too many; of 99 %, 20 and 45."""


def drawn(law, seed, size):
    rng = np.random.default_rng([seed, size])
    return [law.draw(rng, size) for _ in range(RUNS // len(SIZES))]


def missed(law, interval):
    found = [interval(values, 0.0, 1.0, CONFIDENCE) for size in SIZES for values in drawn(law, 0, size)]
    return misses(found, law.mean)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_bets_cover_the_mean_of_independent_draws_as_often_as_they_say(law):
    assert not too_many(missed(law, of_independent), RUNS, 1 - CONFIDENCE)


def test_controls_are_rejected_by_the_same_count():
    """The normal limit where draws are rare or few, an interval of a third, and draws that are counted eight times."""
    by_name = {law.name: law for law in LAWS}
    for name in ("one in fifty", "all but one in thirty", "skewed", "mostly one value"):
        assert too_many(missed(by_name[name], normal), RUNS, 1 - CONFIDENCE), name

    def a_third(*given):
        return narrowed(of_independent(*given), 1 / 3)

    def repeated(values, *given):
        return of_independent(np.repeat(values, 8), *given)

    for wrong in (a_third, repeated):
        assert too_many(missed(by_name["even coin"], wrong), RUNS, 1 - CONFIDENCE)


def test_the_limit_is_the_tail_of_the_binomial_law():
    assert stats.binom.sf(limit(RUNS, 0.1), RUNS, 0.1) <= 1e-6 < stats.binom.sf(limit(RUNS, 0.1) - 1, RUNS, 0.1)
    assert (limit(RUNS, 0.1), limit(RUNS, 0.01)) == (267, 44)


STRATA = tuple(law for law in LAWS if law.name != "never else")


@pytest.mark.parametrize("repeats", [2, 3, 8, 40])
def test_strata_cover_the_mean_of_their_means_as_often_as_they_say(repeats):
    """A stratum a law."""
    rng = np.random.default_rng(repeats)
    truth = float(np.mean([law.mean for law in STRATA]))
    tables = [np.stack([law.draw(rng, repeats) for law in STRATA], axis=1) for _ in range(RUNS)]
    found = [of_strata(table, 0.0, 1.0, CONFIDENCE) for table in tables]
    assert not too_many(misses(found, truth), RUNS, 1 - CONFIDENCE)


def test_strata_that_are_too_narrow_are_rejected():
    """The control: the same with an eighth of the width, and one draw a stratum written down eight times."""
    rng = np.random.default_rng(1)
    truth = float(np.mean([law.mean for law in STRATA]))
    tables = [np.stack([law.draw(rng, 8) for law in STRATA], axis=1) for _ in range(RUNS)]
    narrow = [narrowed(of_strata(table, 0.0, 1.0, CONFIDENCE), 1 / 8) for table in tables]
    copied = [of_strata(np.repeat(table[:1], 200, axis=0), 0.0, 1.0, CONFIDENCE) for table in tables]
    for found in (narrow, copied):
        assert too_many(misses(found, truth), RUNS, 1 - CONFIDENCE)


@pytest.mark.parametrize("shift", [0.0, -3.0, 1e6])
@pytest.mark.parametrize("width", [1.0, 7.0])
def test_intervals_move_and_stretch_with_the_draws(shift, width):
    values = np.random.default_rng(3).random(30)
    plain, moved = of_independent(values, 0, 1), of_independent(shift + width * values, shift, shift + width)
    # 26 halvings of the range, and the rounding of draws as large as the shift.
    slack = width * 2.0**-25 + 64 * 2.0**-53 * (abs(shift) + width)
    for one, other in zip(plain.interval, moved.interval, strict=True):
        assert abs(shift + width * one - other) <= slack
    table = values.reshape(6, 5)
    plain, moved = of_strata(table, 0, 1), of_strata(shift + width * table, shift, shift + width)
    for one, other in zip(plain.interval, moved.interval, strict=True):
        assert abs(shift + width * one - other) <= 256 * 2.0**-53 * (abs(shift) + width) * 2**10


def test_draws_that_are_all_equal_still_leave_room():
    for size in (2, 10, 100):
        found = of_independent(np.ones(size), 0, 1)
        assert (found.error, found.high) == (0.0, 1.0)
        # A mean of m or less gives so many ones with chance m^size: no interval of 99 % may leave out 0.005^(1/size).
        assert 0 < found.low < 0.005 ** (1 / size) if size > 2 else found.low < 0.005 ** (1 / size)
    assert of_strata(np.ones((2, 3)), 0, 1).low < 1


def test_the_wealth_of_the_true_mean_grows_on_average_for_no_stake():
    """The supermartingale itself, exactly: one more draw changes the wealth at the true mean by a factor of mean 1."""
    for law_mean in (0.02, 0.5, 0.97):
        for stake in (0.0, 0.1, 1.0, 100.0):
            bound = min(stake, 0.75 / law_mean)
            up, down = 1 + bound * (1 - law_mean), 1 - bound * law_mean
            assert down >= 0.25 - 2.0**-50
            assert abs(law_mean * up + (1 - law_mean) * down - 1) <= 8 * 2.0**-53 * (1 + bound)


def test_estimates_add_with_what_they_may_miss():
    one, other = Mean(1.0, 3.0, 10, 0.5, 2.0, 0.995), Mean(2.0, 4.0, 5, 1.0, 2.5, 0.995)
    total = one + other
    assert (total.value, total.interval, total.samples, total.error) == (3.0, (1.5, 4.5), 5, 5.0)
    assert total.confidence == pytest.approx(0.99, abs=2.0**-50)
    raised = known(1.0) + one
    assert (raised.value, raised.error, raised.samples, raised.interval) == (2.0, 3.0, 10, (1.5, 3.0))
    assert raised.confidence == pytest.approx(0.995, abs=2.0**-50)
    assert known(0.5) + known(1) == known(1.5) == Mean(1.5, 0.0, 0)
    # What promises nothing promises nothing in a sum.
    assert isnan((one + Mean(1.0, 3.0, 10)).interval[0])
    assert (one + Mean(1.0, 3.0, 10)).confidence == 0.0


def test_a_sentence_and_another_unit_keep_the_error_and_its_digits():
    mean = Mean(3.765, 0.25, 100, 3.33, 4.02, 0.99)
    assert str(mean) == "3.77 (3.33 to 4.02)"
    half = mean.scaled_to(1.8825)
    assert (half.value, half.error, half.interval, half.confidence) == (1.8825, 0.125, (1.665, 2.01), 0.99)
    # Ten times the unit is one digit less; the control: another error has other digits.
    assert mean.scaled_to(37.65).digits == 1
    assert Mean(3.765, 0.25, 100, 3.764, 3.766, 0.99).digits == 4
    assert str(Mean(0.5, nan, 1)) == "0.500"
    assert str(Mean(1.0, 1.8e-17, 40)) == "1.000"


def test_an_estimate_has_the_standard_error_of_the_mean():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    for found in (of_independent(values, 0, 9), of_positions(values), of_strata(values[:, None], 0, 9)):
        assert (found.value, found.samples) == (4.0, 4)
        assert found.error == pytest.approx(float(stats.sem(values)), rel=2.0**-48)


def test_positions_promise_nothing():
    found = of_positions([1.0, 2.0])
    assert (found.confidence, *map(isnan, found.interval)) == (0.0, True, True)
    assert found.bars == (0.5, 2.5)
    assert of_positions([1.0]).bars == (1.0, 1.0)
    assert isnan(of_positions([1.0]).error)


@pytest.mark.parametrize("make", [of_independent, of_strata])
def test_what_no_interval_can_rest_on_is_refused(make):
    one, two = np.ones((1, 1)), np.ones((2, 1))
    if make is of_independent:
        one, two = one[0], two[:, 0]
    with pytest.raises(ValueError, match="at least 2 samples; got 1"):
        make(one, 0, 1)
    with pytest.raises(ValueError, match=r"rests on draws between 0 and 0\.5; got 1 to 1"):
        make(two, 0, 0.5)
    with pytest.raises(ValueError, match="rests on draws"):
        make(two * np.nan, 0, 1)
    for confidence in (0, 1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1"):
            make(two, 0, 1, confidence)


def by_bets(x, bar):
    """The lower end by its definition: stakes that have seen what came before, and a mean that they rule out."""
    stakes = []
    for number in range(len(x)):
        means = [(0.5 + sum(x[: at + 1])) / (at + 2) for at in range(number)]
        spread = (0.25 + sum((x[at] - means[at]) ** 2 for at in range(number))) / (number + 1)
        stakes.append(sqrt(2 * bar / (len(x) * spread)))
    low, high = 0.0, 1.0
    for _ in range(26):
        middle = (low + high) / 2
        wealth = best = 0.0
        for stake, value in zip(stakes, x, strict=True):
            wealth += log1p(min(stake, 0.75 / middle) * (value - middle))
            best = max(best, wealth)
        low, high = (middle, high) if best >= bar else (low, middle)
    return low


@pytest.mark.parametrize("size", [2, 8, 60])
def test_ends_are_those_of_the_definition(size):
    for seed in range(20):
        x = np.random.default_rng(seed).beta(0.5, 1.5, size)
        found, bar = of_independent(x, 0.0, 1.0, 0.9), log(20)
        assert abs(found.low - min(by_bets(x, bar), x.mean())) < 2.0**-18
        assert abs(found.high - max(1 - by_bets(1 - x, bar), x.mean())) < 2.0**-18


def by_halves(x, bar):
    """The lower end as the halving of the range finds it, place after place, in the very floats of the library."""
    taken = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (taken + 1)
    spread = (0.25 + np.cumsum((x - means) ** 2)) / (taken + 1)
    stakes = np.sqrt(2 * bar / (len(x) * np.append(0.25, spread[:-1])))
    low, high = 0.0, 1.0
    for _ in range(26):
        middle = (low + high) / 2
        wealth = np.cumsum(np.log1p(np.minimum(stakes, STAKE / middle) * (x - middle)))
        low, high = (middle, high) if wealth.max() >= bar + 2.0**-20 else (low, middle)
    return low


@pytest.mark.parametrize("size", [2, 3, 8, 24, 60, 199, 500, 1100])
def test_several_halvings_at_once_end_where_one_after_another_do(size, monkeypatch):
    """To the last bit, eight at once of few draws and one of many. The control: one halving less."""
    laws = [np.random.default_rng(seed).choice([0.0, 0.25, 0.9, 1.0], size) for seed in range(20)]

    def ends():
        return [of_independent(x, 0.0, 1.0, 0.9).interval for x in laws]

    bar = log(2 / (1 - 0.9))
    wanted = [(min(by_halves(x, bar), x.mean()), max(1 - by_halves(1 - x, bar), x.mean())) for x in laws]
    assert ends() == wanted
    monkeypatch.setattr("spec_math.mean._HALVINGS", 25)
    # Of fewer draws the ends are places of fewer halvings.
    assert size < 8 or ends() != wanted


def test_an_interval_is_cut_by_what_is_known_and_stays_in_order():
    sampled = Mean(3.5, 1.2, 16, 0.5, 13.7, 0.99)
    assert sampled.between(1, 5) == Mean(3.5, 1.2, 16, 1, 5, 0.99)
    assert Mean(3.5, 1.2, 16, 2.0, 4.0, 0.99).between(1, 5).interval == (2.0, 4.0)
    assert Mean(5.5, 0.1, 16, 5.2, 5.8, 0.99).between(1, 5).interval == (5, 5)
    assert Mean(3.5, 1.2, 16).between(1, 5) == Mean(3.5, 1.2, 16)
