"""Sequential test of draws that each have their own target and draft: a text, a batch of requests, a recorded trace.

Source: betting on bounded features, e-processes as in Ville 1939 and Shafer and Vovk 2019; the features are worked out
here.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, as_laws, count, is_exact
from spec_math.kernels import kernel
from spec_math.scheme import is_index
from spec_math.sequential import bets
from spec_math.sequential.bank import in_words
from spec_math.sequential.bets import CONTEXT_BUGS, FEATURES, IMPOSSIBLE, NO_MASS, NOT_FINITE, features_at, play
from spec_math.sequential.dirichlet import drawn_law
from spec_math.sequential.evidence import Guarantee, RunningTest, log_mean
from spec_math.sequential.sample_size import gap_detected
from spec_math.verdict import Lossy

BLIND = (
    "an error that keeps the means of its features: it learns no distribution, and has only its features and its bank "
    "where contexts differ",
)


def contexts_test(alpha: Any, tolerance: Any = 0.0) -> ContextsTest:
    """Return a test of the claim that every draw has the law of its own target, given all that was before.

    The law: each draw multiplies a bettor's wealth by `bets.bet` on one of `features.FEATURES`, or by the likelihood
    ratio of one of `features.CONTEXT_BUGS`; under the claim the mean wealth is a non-negative martingale from 1, and
    reaches 1/alpha with probability alpha at most. Targets and drafts may depend on all earlier draws. With a tolerance
    τ the claim is that every draw's law is within total variation τ of its target (`tolerant`).

    Raises:
        ValueError: alpha outside (0, 1), or the tolerance outside [0, 1).

    >>> test = contexts_test(0.01)
    >>> for _ in range(40):
    ...     test.update(0, ["1/4", "3/4"], ["1/2", "1/2"])
    >>> bool(test.verdict), test.samples
    (False, 40)
    """
    return ContextsTest(alpha, tolerance)


class ContextsTest(RunningTest):
    """A running test of draws in changing contexts; made by `contexts_test`.

    `log_wealths` [N] holds the log of each bettor's wealth. They add up over draws, whoever saw them: two workers'
    tests are merged by adding theirs.
    """

    def __init__(self, alpha: Any, tolerance: Any = 0.0) -> None:
        super().__init__(alpha)
        self.tolerance = float(tolerance)
        if not 0 <= self.tolerance < 1:
            raise ValueError(f"a tolerance in total variation lies in [0, 1); got {tolerance}")
        # A likelihood ratio is not bounded, so a law within τ may give it any mean: the bank bets at τ = 0 only.
        self.names = tuple(bets.names(self.tolerance == 0))
        self.log_wealths = np.zeros(len(self.names))
        self.impossible = 0
        self.weights = bets.log_weights(self.tolerance == 0)
        self.stakes = np.array(bets.STAKES) / (1 + self.tolerance)

    def update(self, token: Any, target: Any, draft: Any = None) -> None:
        """Take in one draw with its laws [V], and look; without a draft (a bonus token) the target stands for it.

        Raises:
            TypeError, ValueError: a law is not a probability distribution, or the token no index of it.
        """
        if not is_index(token):
            raise TypeError(f"a token is an index; got {token!r} of type {type(token).__name__}")
        rows = [np.asarray(law)[None] for law in as_laws(target, target if draft is None else draft)]
        self.update_many([token], *rows)

    def update_many(self, tokens: Any, targets: Any, drafts: Any) -> None:
        """Take in draws [n] with their laws [n, V] in the order they were made, and look after each.

        Raises:
            TypeError, ValueError: a law is not a probability distribution, or a token no index of it.
        """
        t, d = as_laws(targets, drafts)
        if is_exact(t):
            t, d = t.astype(float), d.astype(float)
        self.take(tokens, np.asarray(t), np.asarray(d))

    def take(self, tokens: Any, targets: Any, drafts: Any) -> None:
        """Take in draws [n] with rows of masses [n, V], float32 or float64, not yet divided by their sums.

        For streams: a row's law is its masses over their float64 sum. Nothing is taken in where a row is refused.

        Raises:
            ValueError: shapes differ, a row has a mass that is negative, NaN or infinite, or none at all; a token is
                out of range.
        """
        drawn = np.asarray(tokens)
        if targets.shape != drafts.shape or targets.shape[:1] != drawn.shape or targets.ndim != 2:
            raise ValueError(
                f"draws [n] need targets and drafts [n, V]; got {drawn.shape}, {targets.shape} and {drafts.shape}"
            )
        if drawn.size and (int(drawn.min()) < 0 or int(drawn.max()) >= targets.shape[1]):
            raise ValueError(f"tokens must lie in 0..{targets.shape[1] - 1}; got {drawn.min()}..{drawn.max()}")
        gaps, ratios = np.zeros((len(drawn), len(FEATURES))), np.ones((len(drawn), len(CONTEXT_BUGS)))
        impossible = np.zeros(len(drawn), dtype=bool)
        for i, token in enumerate(drawn):
            state = features_at(targets[i], drafts[i], int(token), gaps[i], ratios[i])
            if state in (NOT_FINITE, NO_MASS):
                reason = "no mass at all" if state == NO_MASS else "a mass that is negative, NaN or infinite"
                raise ValueError(f"row {i} of {len(drawn)} has {reason}; masses must be finite, >= 0 and not all 0")
            # Under a tolerance a token of mass 0 may come up: it refutes only the claim of the target itself. Its gaps
            # stay at 0, as if its features had their means: features with values in [0, 1] and the same mean as before.
            impossible[i] = state == IMPOSSIBLE and self.tolerance == 0
        self._play(gaps, ratios if self.tolerance == 0 else ratios[:, :0], impossible)

    def _play(self, gaps: Array, ratios: Array, impossible: Array) -> None:
        never = len(gaps) if not impossible.any() else int(np.argmax(impossible))
        peak, first = bets.play(
            gaps, ratios, self.stakes, self.tolerance, self.weights, self.log_wealths, self.threshold, False
        )
        self.impossible += int(impossible.sum())
        if never < len(gaps):
            peak, first = math.inf, never if first < 0 else min(first, never)
        self.looked(len(gaps), peak, first)

    def merge(self, other: ContextsTest) -> None:
        """Take in another worker's draws as one batch, and look once: the logs of the bettors' wealth add up.

        What the other saw on its way stays out: two tests looked at side by side have two chances of a false alarm. Its
        batch is valid if it was not chosen, nor put before or after others, by what it holds.

        Raises:
            ValueError: the other tests another claim.
        """
        if self.tolerance != other.tolerance or self.names != other.names:
            raise ValueError("only tests of the same tolerance and bettors can be merged")
        self.log_wealths = self.log_wealths + other.log_wealths
        self.impossible += other.impossible
        self.look_once(other.samples)

    @property
    def log_evidence(self) -> float:
        """The log of the mean wealth now; +inf once a token came up that its target has no mass on."""
        return math.inf if self.impossible else log_mean(self.log_wealths, self.weights)

    def refuted(self) -> Lossy:
        """Return the verdict of an alarm: the bet that won most, or how many tokens came up that cannot."""
        if self.impossible:
            return Lossy(f"{self.impossible:,} tokens were drawn that their targets have no mass on")
        name, wealth = self.suspects()[0]
        within = f" to within a total variation of {self.tolerance:g}" if self.tolerance else ""
        return Lossy(
            f"the evidence against the targets{within} reached e^{self.log_peak:.2f} after {self.alarm:,} draws, past "
            f"the alarm at 1/{self.alpha:g}; most of it comes from the bet on {in_words(name)!r}, e^{wealth:.2f}"
        )

    def suspects(self) -> list[tuple[str, float]]:
        """Return each bet by its name with the log of its wealth, the largest first."""
        return sorted(zip(self.names, self.log_wealths.tolist(), strict=True), key=lambda pair: -pair[1])

    def promise(self, samples: int | None = None, power: float = 0.99) -> Guarantee:
        """Return what the test promises for that many draws, by default those so far.

        What is `detectable` here is a feature's gap: how far its mean is off on average, beyond the tolerance, which is
        at most the total variation. `sample_size.gap_detected` has the proof.
        """
        n = self.samples if samples is None else samples
        # With a bank the features share half of the start.
        bettors = len(self.weights) if self.tolerance else 2 * (len(self.weights) - len(CONTEXT_BUGS))
        found = gap_detected(n, self.alpha, power, bettors, self.tolerance) if n else None
        beyond = " beyond the tolerance" if self.tolerance else ""
        return Guarantee(self.alpha, found, n, power, BLIND, f"a gap in a feature's mean at every draw{beyond}")

    def __str__(self) -> str:
        return f"test of draws that have their own distributions: {self.promise()}"


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

    >>> from spec_math.sequential.contexts import contexts_test
    >>> t, d = [[0.25, 0.75]], [[0.5, 0.5]]
    >>> (context_stopping_times(contexts_test(0.01), (t, d), d, 10, 2_000, np.random.default_rng(0)) > 0).all().item()
    True
    """
    gaps, ratios = every_bet(*contexts)
    law = drawn_law(as_laws(contexts[0], emitted)[1])
    sums = np.cumsum(np.asarray(law, dtype=float), axis=-1)
    times = np.zeros(count(runs, "runs"), dtype=np.int64)
    bank = ratios if test.tolerance == 0 else ratios[:, :, :0]
    game = Game(gaps, bank, test.stakes, test.tolerance, test.weights)
    play_many(rng, sums / sums[:, -1:], game, -math.log(test.alpha), count(most, "most"), times)
    return times


class Game(NamedTuple):
    """The worth of each token of each context to the bettors: gaps [C, V, F], ratios [C, V, B], weights [N]."""

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
