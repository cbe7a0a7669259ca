"""Stopping times of the test with changing contexts, simulated on contexts drawn from those given.

Source: worked out here.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, as_laws, count
from spec_math.audit.sequential import bets
from spec_math.audit.sequential.bets import play
from spec_math.audit.sequential.contexts import ContextsTest
from spec_math.audit.sequential.dirichlet import drawn_law
from spec_math.audit.sequential.features import CONTEXT_BUGS, FEATURES
from spec_math.audit.sequential.row_features import features_at
from spec_math.kernels import kernel


def context_stopping_times(
    test: ContextsTest, contexts: tuple[Any, Any], emitted: Any, runs: int, most: int, rng: Any
) -> Array:
    """Return the draw at which each of many runs of a test alarms [runs], 0 where `most` draws bring none.

    The law: each draw takes one of the contexts evenly, a token from the law that is emitted there, and a look.
    `contexts` are targets and drafts, [C, V] each, as emitted is. With the targets for emitted laws the share of alarms
    is the rate of false ones. Draws come in chunks of 64: `most` is rounded up to a multiple of it. rng is a NumPy
    Generator.

    Raises:
        TypeError, ValueError: a row is not a probability distribution, shapes differ, runs or most is not a positive
            integer.

    >>> from spec_math.audit.sequential.contexts import contexts_test
    >>> t, d = [[0.25, 0.75]], [[0.5, 0.5]]
    >>> (context_stopping_times(contexts_test(0.01), (t, d), d, 10, 2_000, np.random.default_rng(0)) > 0).all().item()
    True
    """
    gaps, ratios = every_bet(*contexts)
    law = drawn_law(as_laws(contexts[0], emitted)[1])
    sums = np.cumsum(np.asarray(law, dtype=float), axis=-1)
    times = np.zeros(count(runs, "runs"), dtype=np.int64)
    game = Game(
        gaps,
        ratios if test.tolerance == 0 else ratios[:, :, :0],
        np.array(bets.STAKES) / (1 + test.tolerance),
        test.tolerance,
        bets.log_weights(test.tolerance == 0),
    )
    play_many(rng, sums / sums[:, -1:], game, -math.log(test.alpha), count(most, "most"), times)
    return times


class Game(NamedTuple):
    """What each token of each context is worth to the bettors: gaps [C, V, F], ratios [C, V, B], weights [N]."""

    gaps: Any
    ratios: Any
    stakes: Any
    tolerance: float
    weights: Any


def every_bet(targets: Any, drafts: Any) -> tuple[Array, Array]:
    """Return the centred features [C, V, F] and the likelihood ratios [C, V, B] of every token in every context.

    Where the target has no mass on a token they are 0 and 1: no draw of the target meets it.

    Raises:
        TypeError, ValueError: a row is not a probability distribution, or shapes differ.

    >>> every_bet([[0.25, 0.75]], [[0.5, 0.5]])[0][0, :, 0].tolist()
    [-0.75, 0.25]
    """
    t, d = (np.asarray(drawn_law(rows), dtype=float) for rows in as_laws(targets, drafts))
    gaps = np.zeros((*t.shape, len(FEATURES)))
    ratios = np.ones((*t.shape, len(CONTEXT_BUGS)))
    for place in zip(*np.nonzero(t), strict=True):
        context, token = int(place[0]), int(place[1])
        if features_at(t[context], d[context], token, gaps[context, token], ratios[context, token]):
            raise ValueError(f"row {context} is not a probability distribution")
    return gaps, ratios


@kernel
def play_many(generator: Any, sums: Any, game: Any, threshold: float, most: int, times: Any) -> None:
    """Write the stopping time of each run [runs]; sums [C, V] are running sums of what is emitted in each context.

    >>> game = Game(*every_bet([[0.25, 0.75]], [[0.5, 0.5]]), np.array(bets.STAKES), 0.0, bets.log_weights(True))
    >>> times = np.zeros(2, dtype=np.int64)
    >>> play_many(np.random.default_rng(0), np.array([[1.0, 1.0]]), game, 4.6, 640, times)
    >>> bool((times > 0).all())
    True
    """
    gaps, ratios, weights = game.gaps, game.ratios, game.weights
    drawn_gaps, drawn_ratios = np.empty((64, gaps.shape[2])), np.empty((64, ratios.shape[2]))
    for run in range(times.shape[0]):
        logs, samples = np.zeros(weights.shape[0]), 0
        while samples < most:
            for i in range(64):
                c = int(generator.random() * gaps.shape[0])
                x = np.searchsorted(sums[c], generator.random(), side="right")
                drawn_gaps[i], drawn_ratios[i] = gaps[c, x], ratios[c, x]
            _, first = play(drawn_gaps, drawn_ratios, game.stakes, game.tolerance, weights, logs, threshold, True)
            if first >= 0:
                times[run] = samples + first + 1
                break
            samples += 64
