"""Sample sizes: how many draws find which total variation, for a test of fixed size and for the sequential one.

In the direction that is hardest to see, a law at total variation δ has χ² distance 4δ² from the target: by Cauchy's
inequality (Σ|a − t|)² ≤ Σ (a − t)²/t · Σ t, with equality where |a − t| is proportional to t.

Source: the power of a chi-square test, Cohen 1988; the direction that is hardest to see is worked out here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.sequential.bets import STAKES
from spec_math.sequential.dirichlet import KAPPAS
from spec_math.sequential.evidence import level, log_mean, log_shares


def sample_size(total_variation: Any, alpha: Any, power: Any, size: int) -> int:
    """Return the draws with which a chi-square test of one look, on `size` tokens, finds a total variation.

    The law: the least n with P(χ'²_{size−1}(4nδ²) > c) ≥ power, P(χ²_{size−1} > c) = alpha: the planning figure by the
    limit of chi-square, for the direction that is hardest to see. A test that is looked at on the way needs its own.

    Raises:
        TypeError, ValueError: size is not an integer of at least 2, the others do not lie in (0, 1).

    >>> sample_size(0.01, 1e-6, 0.99, 32)
    244705
    """
    return math.ceil(noncentrality(alpha, power, size) / (4 * _distance(total_variation) ** 2))


def detectable_tv(samples: int, alpha: Any, power: Any, size: int) -> float:
    """Return the total variation that `sample_size` would ask just these samples for: its inverse; over 1, nothing is.

    Raises:
        TypeError, ValueError: as `sample_size`; or samples is not a positive integer.

    >>> sample_size(detectable_tv(244705, 1e-6, 0.99, 32), 1e-6, 0.99, 32)
    244705
    """
    found = math.sqrt(noncentrality(alpha, power, size) / (4 * count(samples, "samples")))
    # Rounded upwards by more than the roundings of going there and back, which then never ask for one draw more.
    return found * (1 + 2.0**-50)


def noncentrality(alpha: Any, power: Any, size: int) -> float:
    """Return the noncentrality nχ² at which a chi-square test of level alpha has the power, with size − 1 degrees.

    Raises:
        TypeError, ValueError: as `sample_size`.

    >>> round(noncentrality(1e-6, 0.99, 32) / 4, 2)
    24.47
    """
    from scipy.special import chdtri

    wanted, freedom = level(power, "power"), _tokens(size) - 1
    if wanted <= level(alpha):
        raise ValueError(f"power must exceed alpha, which a test has without looking; got {power} and {alpha}")
    return _shift(float(chdtri(freedom, level(alpha))), freedom, wanted)


def sequential_sample_size(total_variation: Any, alpha: Any, power: Any, size: int, bank: bool = False) -> int:
    """Return the draws within which the identity test alarms with a given power, in the hardest direction.

    The law: the evidence of one prior κ after n draws is about exp((T·n/(n + κ) − (size − 1)·log(1 + n/κ))/2), T the
    chi-square statistic: the test has alarmed by then if T brings their mean to 1/alpha, and T is noncentral
    chi-square. `bank` tells that half of the weight lies on alternatives, which are not counted on here. A planning
    figure, from the same limit as `sample_size`.

    Raises:
        TypeError, ValueError: as `sample_size`.

    >>> round(sequential_sample_size(0.01, 1e-6, 0.99, 32), -3)
    302000
    """
    shift, wanted = 4 * _distance(total_variation) ** 2, level(power, "power")
    freedom, goal = _tokens(size) - 1, _goal(alpha, bank)
    return math.ceil(_root(lambda n: _beyond(_critical(n, freedom, goal), freedom, n * shift) - wanted))


def sequential_detectable_tv(samples: int, alpha: Any, power: Any, size: int, bank: bool = False) -> float | None:
    """Return the total variation that the identity test finds within so many draws: the inverse; None where none is.

    Raises:
        TypeError, ValueError: as `sequential_sample_size`.

    >>> round(sequential_detectable_tv(300_000, 1e-6, 0.99, 32), 4)
    0.01
    """
    n, freedom, wanted = count(samples, "samples"), _tokens(size) - 1, level(power, "power")
    critical = _critical(n, freedom, _goal(alpha, bank))
    found = math.sqrt(_shift(critical, freedom, wanted) / (4 * n))
    return found if found <= 1 else None


def _critical(n: float, freedom: int, goal: float) -> float:
    """Return the chi-square statistic at which the mean evidence of the priors is e^goal."""
    kappas = np.array(KAPPAS, dtype=float)
    weight, cost = n / (n + kappas), freedom * np.log1p(n / kappas)
    return _root(lambda statistic: log_mean((statistic * weight - cost) / 2, log_shares(len(kappas))) - goal)


def _shift(critical: float, freedom: int, power: float) -> float:
    """Return the noncentrality at which chi-square passes a critical value with a given power."""
    return _root(lambda shift: _beyond(critical, freedom, shift) - power)


def _beyond(critical: float, freedom: int, shift: float) -> float:
    """Return P(χ'²(shift) > critical): a power, so that nothing is lost in the difference to 1."""
    from scipy.special import chndtr

    return float(1 - chndtr(critical, freedom, shift))


def _goal(alpha: Any, bank: bool) -> float:
    return -math.log(level(alpha)) + (math.log(2) if bank else 0.0)


def _root(rising: Callable[[float], float]) -> float:
    """Return where a function that rises through 0 does so, above 0."""
    high = 1.0
    while rising(high) < 0:
        high *= 2
    return _zero(rising, high / 2 if high > 1 else 0.0, high)


def _zero(rising: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # slow to load, and most of what imports this asks for no sample size

    found: Any = brentq(rising, low, high, xtol=1e-14)
    return float(found)


def _distance(total_variation: Any) -> float:
    value = float(total_variation)
    if not 0 < value <= 1:
        raise ValueError(f"a total variation to be found lies in (0, 1]; got {total_variation}")
    return value


def _tokens(size: Any) -> int:
    if count(size, "size") < 2:
        raise ValueError(f"a distribution to be tested has at least 2 tokens; got size = {size}")
    return int(size)


def gap_detected(samples: int, alpha: Any, power: Any, bettors: int, tolerance: float = 0.0) -> float | None:
    """Return a gap in a feature's mean that linear bets find within so many draws: a bound, and no plan; None over 1.

    The law: at every draw, whatever came before, let the mean m of y = ±(f − E_t f) − τ be at least g. A bettor with
    λ ≤ 1/2 multiplies its wealth by 1 + uy, u = λ/(1 + τ), |uy| ≤ 1/2, and log(1 + z) ≥ z − z² there. The mean of
    z − z² is at least um − u²(1/4 + m²) ≥ ug − u²(1/4 + g²), as f has variance 1/4 at most and u²m² grows slower than
    um. It spans u(1 + 2u) at most, f having a range of 1. By Azuma and Hoeffding the log of the wealth after n draws
    is, with the power wanted, at least n times that mean less u(1 + 2u)·√(n·log(1/(1 − power))/2); the mean wealth of
    all bettors is at least this one's over their number. The least g for which some stake reaches 1/alpha is returned.

    Raises:
        TypeError, ValueError: as `sample_size`; or samples is not a positive integer.

    >>> gap_detected(10, 1e-6, 0.99, 100) is None
    True
    >>> round(gap_detected(10_000, 1e-6, 0.99, 100), 3)
    0.062
    """
    n, goal = count(samples, "samples"), math.log(count(bettors, "bettors") / level(alpha))
    stray = math.sqrt(n * -math.log1p(-level(power, "power")) / 2)
    stakes = np.array([stake for stake in STAKES if stake <= 1 / 2]) / (1 + tolerance)

    def spare(gap: float) -> float:
        means = stakes * gap - stakes**2 * (0.25 + gap**2)
        return float((n * means - stakes * (1 + 2 * stakes) * stray).max()) - goal

    return _zero(spare, 0.0, 1.0) if spare(1.0) >= 0 else None
