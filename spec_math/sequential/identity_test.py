"""Sequential identity test: do a sampler's draws have this law? It may be looked at after every draw.

Source: e-processes as in Ville 1939 and Shafer and Vovk 2019; the mixture is worked out here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, count
from spec_math.kernels import kernel
from spec_math.sequential.bank import bank
from spec_math.sequential.bets import play
from spec_math.sequential.dirichlet import KAPPAS, log_evidences, shares_like, shares_of
from spec_math.sequential.dirichlet import step as _formula
from spec_math.sequential.evidence import Guarantee, OneLawTest, drawn_tokens, log_mean, log_shares
from spec_math.sequential.sample_size import sequential_detectable_tv
from spec_math.verdict import Lossy

BLIND = (
    "dependence between draws: it uses only counts, so a stream that repeats itself may pass",
    "a sampler that is right only under test: one distribution in one context is tested",
)


def identity_test(
    target: Any, alpha: Any, draft: Any = None, alternatives: Mapping[str, Any] | None = None, pools: Any = None
) -> IdentityTest:
    """Return a test of the claim that tokens are drawn independently from a target law [V].

    The law: under the claim the evidence has mean 1 at every time and is a non-negative martingale, so that it ever
    reaches 1/alpha with probability alpha at most (Ville). It is half the Dirichlet mixture of `dirichlet.evidence` and
    half the mean likelihood ratio of the bug bank: the bugs of `bank.bank(target, draft)`, and `alternatives`, laws [V]
    by name. All of it is fixed here, before the first draw.

    Args:
        target: the law [V]; floats are tested as what drawing from them gives, masses over their sum.
        alpha: the rate of false alarms.
        draft: the draft law [V], from which the laws of verifiers' known bugs are computed; None leaves those out.
        alternatives: further laws [V] to look for, by name.
        pools: a pool [V] for each token, 0, 1, …, from what is known before the draws (`pooling.pools`): the mixture
            then learns the law of pools alone. Tokens of mass 0 are never pooled with others.

    Raises:
        TypeError, ValueError: a law is not a probability distribution, shapes differ, alpha lies outside (0, 1).

    >>> test = identity_test(["1/4", "3/4"], 0.01, ["3/4", "1/4"])
    >>> for token in [0, 1, 0, 0] * 10:
    ...     test.update(token)
    >>> test.verdict.token, test.suspects()[0][0], test.evidence > 100
    (0, 'M7', True)
    """
    return IdentityTest(target, alpha, {**bank(target, draft), **(alternatives or {})}, pools)


class IdentityTest(OneLawTest):
    """A running test of one law; made by `identity_test`.

    The counts [V] are all that its evidence depends on. Tests of the same claim may be merged: the counts add up.
    """

    def __init__(self, target: Any, alpha: Any, alternatives: Mapping[str, Any], pools: Any = None) -> None:
        super().__init__(shares_of(target), alpha)
        size = len(self.target)
        self.names = tuple(alternatives)
        labels, self._shares = _pooled(self.target, pools)
        inverse = np.where(self._shares > 0, 1.0 / np.maximum(self._shares, _LEAST), 0.0)
        others = [shares_like(law, name, self.target) for name, law in alternatives.items()]
        seen = self.target > 0
        ratios = np.ones((size, len(others)))
        for column, other in enumerate(others):
            ratios[seen, column] = other[seen] / np.maximum(self.target[seen], _LEAST)
        kappas = np.array(KAPPAS, dtype=float)
        self.setting = Setting(labels, inverse, kappas, ratios, log_shares(len(KAPPAS), len(others)))
        self._running = nothing_seen(self.setting)

    def update_many(self, tokens: Any) -> None:
        """Take in draws [n] in the order they were made, and look after each one.

        Raises:
            TypeError, ValueError: a token is not an index of the law.
        """
        drawn = drawn_tokens(tokens, len(self.target))
        peak, first = advance(drawn, self.setting, self._running, self.samples, self.threshold, False)
        self.looked(len(drawn), peak, first)

    def update_counts(self, counts: Any) -> None:
        """Take in a batch of draws by its counts [V], and look once, after it.

        Valid under continuous looking as long as what a batch holds is settled before its draws are seen: the draws in
        the order of their batches are then draws in a row. A batch ended because of what it showed is not.

        Raises:
            ValueError: counts of another shape, or negative ones.
        """
        given = np.asarray(counts)
        if given.shape != self.counts.shape or given.dtype.kind not in "iu" or (given < 0).any():
            raise ValueError(
                f"counts must be whole numbers >= 0 of shape {self.counts.shape}; got {given.dtype} of {given.shape}"
            )
        counts = self.counts + given
        pooled = np.bincount(self.setting.labels, counts, len(self._shares)).astype(np.int64)
        self._running = Running(counts, pooled, np.zeros(0))
        self._running = Running(counts, pooled, self._from_counts())
        self.look_once(int(given.sum()))

    def merge(self, other: IdentityTest) -> None:
        """Take in another worker's draws, its counts as one batch.

        What the other saw on its way stays out: two tests looked at side by side have two chances of a false alarm. Its
        batch is valid if it was not chosen, nor put before or after others, by what it holds.

        Raises:
            ValueError: the other tests another claim.
        """
        mine, theirs = ((one.target, one.setting.labels, one.setting.ratios) for one in (self, other))
        if self.names != other.names or not all(map(np.array_equal, mine, theirs)):
            raise ValueError("only tests of the same target, alternatives and pools can be merged")
        self.update_counts(other.counts)

    @property
    def counts(self) -> Array:
        """The number of draws of each token [V]."""
        return self._running.counts

    @property
    def log_evidence(self) -> float:
        """The log of the evidence now, from the counts alone: the same however the draws came in, and interrupted."""
        return log_mean(self._from_counts(), self.setting.weights)

    def refuted(self) -> Lossy:
        """Return the token whose share is furthest off, or one that the target has no mass on."""
        impossible = np.flatnonzero((self.counts > 0) & (self.target == 0))
        token, share = self.furthest_off()
        if impossible.size:
            token, share = int(impossible[0]), float(self.counts[impossible[0]]) / self.samples
            reason = f"token {token} was drawn {self.counts[token]:,} times, and the target has no mass on it"
        else:
            reason = (
                f"the evidence against the target reached e^{self.log_peak:.2f} after {self.alarm:,} draws, past the "
                f"alarm at 1/{self.alpha:g}; token {token} has a share of {share:.6g} where the target has "
                f"{self.target[token]:.6g}"
            )
        return Lossy(reason, token=token, emitted=share, target=float(self.target[token]))

    def suspects(self) -> list[tuple[str, float]]:
        """Return the alternatives with the log of their likelihood ratio against the target, the likeliest first."""
        found = self._from_counts()[len(KAPPAS) :]
        return sorted(zip(self.names, found.tolist(), strict=True), key=lambda pair: -pair[1])

    def promise(self, samples: int | None = None, power: float = 0.99) -> Guarantee:
        """Return what the test promises for that many draws, by default those so far."""
        n = self.samples if samples is None else samples
        size = int((self._shares > 0).sum())
        found = sequential_detectable_tv(n, self.alpha, power, size, bool(self.names)) if n and size > 1 else None
        unseen = BLIND if len(self._shares) == len(self.target) else (*BLIND, _POOLED.format(size))
        return Guarantee(self.alpha, found, n, power, unseen)

    def __str__(self) -> str:
        return f"identity test of a distribution on {len(self.target):,} tokens: {self.promise()}"

    def _from_counts(self) -> Array:
        mixture = log_evidences(self._shares, self._running.pooled, self.setting.kappas)
        met = np.flatnonzero(self.counts)
        ratios = self.setting.ratios[met]
        with np.errstate(divide="ignore"):
            logs = np.log(ratios)
        return np.concatenate([mixture, self.counts[met] @ logs])


_LEAST = 2.0**-900
"""A mass below it counts as it where it divides, so that no ratio overflows. That can only lessen the evidence, by what
tokens that come up once in 2^900 draws would add."""

_POOLED = "what moves mass within its {} pools, unless an alternative of its bank does so too"


def _pooled(target: Array, pools: Any) -> tuple[Array, Array]:
    """Return each token's pool and each pool's mass; the tokens of mass 0 get one of their own, of mass exactly 0."""
    if pools is None:
        return np.arange(len(target)), target
    labels = np.asarray(pools)
    if labels.shape != target.shape or labels.dtype.kind not in "iu" or (labels < 0).any():
        raise ValueError(f"pools must be whole numbers >= 0, one a token, shape {target.shape}; got {labels.shape}")
    _, labels = np.unique(np.where(target > 0, labels, -1), return_inverse=True)
    masses = np.bincount(labels, target)
    return labels.astype(np.int64), masses / masses.sum()


class Setting(NamedTuple):
    """The choices of a test before the first draw: its pools, its priors, its alternatives, and their weights.

    labels [V]: each token's pool; inverse [P]: 1/t of each pool, 0 where t = 0; kappas [K]; ratios [V, B]: a/t of the
    alternatives; weights [K + B]: the logs of the mixture's weights.
    """

    labels: Any
    inverse: Any
    kappas: Any
    ratios: Any
    weights: Any


class Running(NamedTuple):
    """The state of a test: counts of tokens [V] and of pools [P], and the log of each part of the mixture [K + B]."""

    counts: Any
    pooled: Any
    logs: Any


def nothing_seen(setting: Setting) -> Running:
    """Return the state before the first draw.

    >>> one = np.ones(1)
    >>> nothing_seen(Setting(np.arange(2), np.ones(2), one, np.ones((2, 0)), 0 * one)).counts.tolist()
    [0, 0]
    """
    whole = np.zeros(len(setting.labels), dtype=np.int64), np.zeros(len(setting.inverse), dtype=np.int64)
    return Running(*whole, np.zeros(len(setting.weights)))


_step = kernel(_formula)


CHUNK = 4096
"""Draws whose factors are held at once."""


@kernel(error_model="numpy")
def advance(tokens: Any, setting: Any, running: Any, samples: int, threshold: float, stop: bool) -> tuple[float, int]:
    """Take in tokens [n] one by one, and return the largest log evidence met and the first draw at the threshold or -1.

    The state is brought up to date; `samples` draws came before. With `stop` the loop ends at the threshold. A token of
    mass 0 is evidence without bound.

    >>> setting = Setting(np.arange(2), np.array([2.0, 2.0]), np.array([2.0]), np.ones((2, 0)), np.zeros(1))
    >>> peak, _ = advance(np.array([0, 0]), setting, nothing_seen(setting), 0, 9.0, False)
    >>> round(np.exp(peak).item(), 12)
    1.333333333333
    """
    peak, first = -math.inf, -1
    for start in range(0, tokens.shape[0], CHUNK):
        part = tokens[start : start + CHUNK]
        factors, impossible = np.ones((part.shape[0], setting.weights.shape[0])), -1
        for i in range(part.shape[0]):
            x = part[i]
            pool = setting.labels[x]
            turned, seen, drawn = setting.inverse[pool], float(running.pooled[pool]), float(samples + start + i)
            running.counts[x] += 1
            running.pooled[pool] += 1
            if turned == 0.0:
                impossible = i if impossible < 0 else impossible
                continue
            for k in range(setting.kappas.shape[0]):
                factors[i, k] = _step(setting.kappas[k], turned, seen, drawn)
            factors[i, setting.kappas.shape[0] :] = setting.ratios[x]
        no_bets = np.empty((part.shape[0], 0))
        met, at = play(no_bets, factors, np.empty(0), 0.0, setting.weights, running.logs, threshold, stop)
        if impossible >= 0:
            met, at = math.inf, impossible if at < 0 else min(at, impossible)
        peak = max(peak, met)
        if at >= 0 and first < 0:
            first = start + at
            if stop:
                break
    return peak, first


def stopping_times(test: IdentityTest, law: Any, runs: int, most: int, rng: Any) -> Array:
    """Return the draw at which each of many runs of a test alarms [runs], 0 where `most` draws bring none.

    The law: each run draws independently from a law [V] and looks after each draw; the test itself is left as it is.
    With the target's own law the share of alarms is the rate of false ones. rng is a NumPy Generator.

    Raises:
        TypeError, ValueError: runs or most is not a positive integer, law is not a probability distribution, or has
            another shape than the target.

    >>> from spec_math.sequential.identity_test import identity_test
    >>> test = identity_test(["1/2", "1/2"], 0.01)
    >>> (stopping_times(test, ["1/10", "9/10"], 100, 1_000, np.random.default_rng(0)) > 0).all().item()
    True
    """
    masses = shares_like(law, "the distribution", test.target)
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
    generator: Any, table: Any, setting: Any, running: Any, threshold: float, most: int, times: Any
) -> None:
    """Write the stopping time of each run [runs].

    >>> from spec_math.sequential.identity_test import identity_test
    >>> setting = identity_test(["1/2", "1/2"], 0.01).setting
    >>> times, rng = np.zeros(3, dtype=np.int64), np.random.default_rng(0)
    >>> simulate(rng, alias_table(np.array([0.0, 1.0])), setting, nothing_seen(setting), 4.6, 1_000, times)
    >>> bool((times > 0).all())
    True
    """
    shares, alias = table
    chunk = np.empty(CHUNK, dtype=np.int64)
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
