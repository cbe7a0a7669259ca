"""Stopping times of the identity test, by simulation of many runs on draws from a law.

Source: worked out here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.audit.sequential.dirichlet import shares_of
from spec_math.audit.sequential.identity_test import IdentityTest
from spec_math.audit.sequential.looking import advance, nothing_seen
from spec_math.kernels import kernel


def stopping_times(test: IdentityTest, law: Any, runs: int, most: int, rng: Any) -> Array:
    """Return the draw at which each of many runs of a test alarms [runs], 0 where `most` draws bring none.

    The law: each run draws independently from a law [V] and looks after each draw; the test itself is left as it is.
    With the target's own law the share of alarms is the rate of false ones. rng is a NumPy Generator.

    Raises:
        TypeError, ValueError: runs or most is not a positive integer, law is not a probability distribution, or has
            another shape than the target.

    >>> from spec_math.audit.sequential.identity_test import identity_test
    >>> test = identity_test(["1/2", "1/2"], 0.01)
    >>> (stopping_times(test, ["1/10", "9/10"], 100, 1_000, np.random.default_rng(0)) > 0).all().item()
    True
    """
    masses = shares_of(law, "law")
    if masses.shape != test.target.shape:
        raise ValueError(f"the law must have the target's shape {test.target.shape}; got {masses.shape}")
    times = np.zeros(count(runs, "runs"), dtype=np.int64)
    table, state = alias_table(masses), nothing_seen(test.setting)
    simulate(rng, table, test.setting, state, -math.log(test.alpha), count(most, "most"), times)
    return times


def alias_table(masses: Any) -> tuple[Array, Array]:
    """Return, for a law [V] in float64, each cell's share for itself and the token that has the rest (Walker, Vose).

    The law: cell j is chosen evenly, and gives j with probability share_j, else alias_j. To a rounding of each mass.

    >>> alias_table(np.array([0.25, 0.75]))[0].tolist(), alias_table(np.array([0.25, 0.75]))[1].tolist()
    ([0.5, 1.0], [1, 1])
    """
    shares, alias = masses * len(masses), np.arange(len(masses))
    short, long = np.flatnonzero(shares < 1).tolist(), np.flatnonzero(shares > 1).tolist()
    while short and long:
        poor, rich = short.pop(), long[-1]
        alias[poor] = rich
        shares[rich] -= 1 - shares[poor]
        if shares[rich] <= 1:
            short.append(long.pop())
    # What is left over is within rounding of a full cell; one without mass gives itself to the likeliest token.
    left = np.array(short + long, dtype=int)
    shares[left[masses[left] > 0]] = 1.0
    alias[left[masses[left] == 0]] = int(np.argmax(masses))
    return shares, alias


@kernel
def simulate(  # noqa: PLR0913 - numba kernels take their arrays one by one
    generator: Any,
    table: Any,
    setting: Any,
    running: Any,
    threshold: float,
    most: int,
    times: Any,
) -> None:
    """Write the stopping time of each run [runs].

    >>> from spec_math.audit.sequential.identity_test import identity_test
    >>> setting = identity_test(["1/2", "1/2"], 0.01).setting
    >>> times, rng = np.zeros(3, dtype=np.int64), np.random.default_rng(0)
    >>> simulate(rng, alias_table(np.array([0.0, 1.0])), setting, nothing_seen(setting), 4.6, 1_000, times)
    >>> bool((times > 0).all())
    True
    """
    shares, alias = table
    chunk = np.empty(4096, dtype=np.int64)
    for run in range(times.shape[0]):
        running.counts[:] = 0
        running.pooled[:] = 0
        running.logs[:] = 0.0
        samples, length = 0, 64
        while samples < most:
            length = min(length, most - samples)
            for i in range(length):
                # The rounding of uniform · V cannot reach V, as V is below 2^53.
                place = generator.random() * shares.shape[0]
                cell = int(place)
                chunk[i] = cell if place - cell < shares[cell] else alias[cell]
            _, first = advance(chunk[:length], setting, running, samples, threshold, True)
            if first >= 0:
                times[run] = samples + first + 1
                break
            samples += length
            length = min(2 * length, chunk.shape[0])
