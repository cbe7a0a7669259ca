"""Sequential test with a tolerance: is a sampler's law within a stated total variation of the target's?

Source: e-processes as in Ville 1939 and Shafer and Vovk 2019; the bets are worked out here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.sequential import bets
from spec_math.sequential.bank import bank
from spec_math.sequential.dirichlet import shares_like, shares_of
from spec_math.sequential.evidence import Guarantee, OneLawTest, drawn_tokens, level, log_mean, log_shares
from spec_math.sequential.sample_size import gap_detected
from spec_math.verdict import Lossy

BLIND = (
    "a distribution beyond the tolerance with at most the tolerance of excess on each of its sets of tokens, until the "
    "learnt set is near the best one",
    "dependence between draws",
)

LEARNT = "learnt"
"""The name of the set that is drawn up anew, at 16, 32, 64, … draws, from the tokens met more often than the target has
them: of the past alone, so that the bets on it are as fair as any."""


def tolerant_test(
    target: Any, alpha: Any, tolerance: Any, draft: Any = None, alternatives: Mapping[str, Any] | None = None
) -> TolerantTest:
    """Return a test of the claim that draws have a law within total variation `tolerance` of a target law [V].

    The law: for a set A of tokens fixed before a draw, 1 + λ(1_A(x) − t(A) − τ), λ ≤ 1/(1 + τ), has mean at most 1
    under every law within τ of the target, and so has the bet on the set's complement. The sets are those on which a
    bug of the bank, or an alternative, has more mass than the target: the sets that show their total variation; the
    target's likeliest token and four likeliest; and one that is learnt from the draws before. The mean wealth over sets
    and stakes reaches 1/alpha with probability alpha at most, even where the law changes within the tolerance.

    Raises:
        TypeError, ValueError: a law is not a probability distribution, shapes differ, alpha or the tolerance lies
            outside (0, 1).

    >>> test = tolerant_test(["1/4", "3/4"], 0.01, 0.1)
    >>> test.update_many([0, 1, 1] * 300)
    >>> bool(test.verdict)
    True
    >>> test.update_many([0, 1] * 300)
    >>> bool(test.verdict), test.suspects()[0][0]
    (False, 'M19')
    """
    masses = shares_of(target)
    laws = {**bank(target, draft), **(alternatives or {})}
    sets = {name: shares_like(law, name, masses) > masses for name, law in laws.items()}
    return TolerantTest(masses, level(alpha), level(tolerance, "the tolerance, a total variation,"), sets)


class TolerantTest(OneLawTest):
    """A running test of one law with a tolerance; made by `tolerant_test`. The order of the draws matters to it."""

    def __init__(self, target: Array, alpha: float, tolerance: float, sets: Mapping[str, Array]) -> None:
        super().__init__(target, alpha)
        self.tolerance = tolerance
        order = np.argsort(-target, kind="stable")
        likeliest = {name: np.isin(np.arange(len(target)), order[:k]) for name, k in (("top 1", 1), ("top 4", 4))}
        chosen = {name: np.asarray(tokens, dtype=bool) for name, tokens in {**sets, **likeliest}.items()}
        self.names = (*chosen, LEARNT)
        # Each set [V, F] less its mass, the learnt one last: empty until there are draws to learn from.
        members = np.array([*chosen.values(), np.zeros(len(target), dtype=bool)], dtype=float).T
        self._gaps = np.ascontiguousarray(members - target @ members)
        self._stakes = np.array(bets.STAKES) / (1 + tolerance)
        self._weights = log_shares(2 * len(self.names) * len(bets.STAKES))
        self.log_wealths = np.zeros(len(self._weights))
        self._counts = np.zeros(len(target), dtype=np.int64)

    def update_many(self, tokens: Any) -> None:
        """Take in draws [n] in the order they were made, and look after each.

        Raises:
            TypeError, ValueError: a token is not an index of the law.
        """
        drawn = drawn_tokens(tokens, len(self.target))
        while drawn.size:
            # Up to where the learnt set is next drawn up: at powers of two, from 16.
            until = max(16, 1 << (self.samples + 1).bit_length() - 1)
            until = until if until > self.samples else 2 * until
            now, drawn = drawn[: until - self.samples], drawn[until - self.samples :]
            self._play(now.astype(np.int64))
            if self.samples == until:
                self._learn()

    def merge(self, other: TolerantTest) -> None:
        """Take in another worker's draws as one batch, and look once: the logs of the bettors' wealth add up.

        The other's learnt sets came of its own earlier draws, so its bets stay fair. What it saw on its way stays out,
        and its batch must not have been chosen or placed by what it holds, as with `identity_test.merge`.

        Raises:
            ValueError: the other tests another claim.
        """
        same = self.names == other.names and self.tolerance == other.tolerance
        if not same or not np.array_equal(self._gaps[:, :-1], other._gaps[:, :-1]):
            raise ValueError("only tests of the same target, tolerance and sets can be merged")
        self.log_wealths = self.log_wealths + other.log_wealths
        self._counts = self._counts + other.counts
        self.look_once(other.samples)
        self._learn()

    def _learn(self) -> None:
        more = (self.counts > self.samples * self.target).astype(float)
        self._gaps[:, -1] = more - self.target @ more

    def _play(self, tokens: Array) -> None:
        gaps, no_ratios = self._gaps[tokens], np.ones((len(tokens), 0))
        peak, first = bets.play(
            gaps, no_ratios, self._stakes, self.tolerance, self._weights, self.log_wealths, self.threshold, False
        )
        self.looked(len(tokens), peak, first)
        self._counts += np.bincount(tokens, minlength=len(self.target))

    @property
    def counts(self) -> Array:
        """The number of draws of each token [V]."""
        return self._counts

    @property
    def log_evidence(self) -> float:
        """The log of the mean wealth now."""
        return log_mean(self.log_wealths, self._weights)

    def refuted(self) -> Lossy:
        """Return the verdict of an alarm: the set whose bet won most, and the token whose share is furthest off."""
        token, share = self.furthest_off()
        return Lossy(
            f"the evidence against every distribution within {self.tolerance:g} of the target reached "
            f"e^{self.log_peak:.2f} after {self.alarm:,} draws, past the alarm at 1/{self.alpha:g}; the bets that won "
            f"most are on the set {self.suspects()[0][0]!r}",
            token=token,
            emitted=share,
            target=float(self.target[token]),
        )

    def suspects(self) -> list[tuple[str, float]]:
        """Return the sets of tokens with the log of the largest wealth made on each, the largest first."""
        best = self.log_wealths.reshape(len(self.names), -1).max(axis=1)
        return sorted(zip(self.names, best.tolist(), strict=True), key=lambda pair: -pair[1])

    def promise(self, samples: int | None = None, power: float = 0.99) -> Guarantee:
        """Return what the test promises for that many draws, by default those so far."""
        n = self.samples if samples is None else samples
        found = gap_detected(n, self.alpha, power, len(self._weights), self.tolerance) if n else None
        of = "an excess over the tolerance on one of its fixed sets"
        return Guarantee(self.alpha, found, n, power, BLIND, of)

    def __str__(self) -> str:
        return f"test of a distribution on {len(self.target):,} tokens to within {self.tolerance:g}: {self.promise()}"
