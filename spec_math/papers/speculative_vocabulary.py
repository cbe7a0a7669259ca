"""SpecVocab: the part of the vocabulary to draft from is guessed anew at each step, by a ranking of low rank.

Source: SpecVocab, Section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, asarray, count
from spec_math.arrays import as_law as checked
from spec_math.distribution import descending_rank, overlap, restricted
from spec_math.drafting import head_cost
from spec_math.drafting.correspondence import Mapped
from spec_math.language.model import Model
from spec_math.scheme import Tokens


@dataclass(frozen=True, eq=False)
class Ranking:
    """The ranking module: W_down [d', d] and W_vocab [V, d'], so that token scores are W_vocab (W_down h).

    >>> Ranking(np.eye(2), np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])).scores(np.array([1.0, 1.0])).tolist()
    [1.0, 2.0, 2.0]
    """

    down: Array
    vocabulary: Array

    def scores(self, hidden: Array) -> Array:
        """Return the approximate logits [..., V] of hidden states [..., d]. Source: SpecVocab, Section 3.3, step 1."""
        return (hidden @ self.down.T) @ self.vocabulary.T


def candidates(scores: Any, k: int) -> Array:
    """Say which tokens are among the k with the highest scores [..., V], lowest index first among equals.

    Raises:
        ValueError: k exceeds the vocabulary. TypeError: k is not a positive integer.

    Source: SpecVocab, Section 3.3, step 2.

    >>> candidates([1, 3, 2, 3], 2).tolist()
    [False, True, False, True]
    """
    s = asarray(scores)
    if count(k) > s.shape[-1]:
        raise ValueError(
            f"k candidates are taken of the vocabulary, so k must not exceed it; k = {k}, V = {s.shape[-1]}"
        )
    return descending_rank(s) < k


def draft_law(draft: Any, scores: Any, k: int) -> Array:
    """Return the draft law [..., V] on the k tokens with the highest scores [..., V]: d(x) / d(K), 0 elsewhere.

    It equals the softmax of the exact logits of K alone (`from_hidden`), as all other logits cancel.

    Raises:
        ValueError: as `candidates`; the draft has no mass on K.

    Source: SpecVocab, Section 3.3.

    >>> draft_law(["1/4", "1/4", "1/2"], [3, 1, 2], 2).tolist()
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    """
    return restricted(checked(draft, "draft"), candidates(scores, k))


def acceptance(target: Any, draft: Any, scores: Any, k: int) -> Any:
    """Return Σ_K min(t, d/d(K)) for the k tokens K with the highest scores, laws and scores [..., V].

    Raises:
        ValueError, TypeError: as `draft_law`, or a target that is not a probability distribution.

    >>> acceptance(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], [3, 1, 2], 2)
    Fraction(7, 12)
    """
    return overlap(target, draft_law(draft, scores, k))


def model(draft_model: Model, scores: Callable[[Tokens], Any], k: int) -> Model:
    """Return the draft model on the k tokens that the scores after each prefix rank highest; every verifier takes it.

    >>> model(lambda prefix: ["1/4", "1/4", "1/2"], lambda prefix: [3, 1, 2], 2)(()).tolist()
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    """
    return Mapped(draft_model, lambda law, prefix: draft_law(law, scores(prefix), k))


def from_hidden(hidden: Any, head: Any, ranking: Ranking, k: int) -> Array:
    """Return the draft laws [..., V] of hidden states [..., d]: rank, keep k, and take the exact logits of those alone.

    The law: softmax(U[K, :] h) on K, 0 elsewhere, for the output head U [V, d]. Floats.

    Raises:
        ValueError: as `candidates`.

    Source: SpecVocab, Section 3.3, step 3.

    >>> head = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> from_hidden(np.zeros(2), head, Ranking(np.eye(2), head), 2).tolist()
    [0.5, 0.5, 0.0]
    """
    h, rows = np.asarray(hidden, dtype=np.float64), np.asarray(head, dtype=np.float64)
    keep = candidates(ranking.scores(h), k)
    chosen = np.nonzero(keep)[-1].reshape(*keep.shape[:-1], k)
    logits = np.einsum("...kd,...d->...k", rows[chosen], h)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result = np.zeros(keep.shape)
    np.put_along_axis(result, chosen, weights / weights.sum(axis=-1, keepdims=True), axis=-1)
    return result


def factorised(log_probabilities: Any, dimension: int) -> tuple[Array, Array]:
    """Return hidden states [n, d] and a head [V, d] whose products are the best fit to log-probabilities [n, V].

    By singular values, after taking each row's mean off, which no softmax sees: head's columns are orthonormal, and the
    first d' of them, with the first d' coordinates of the hidden states, are the best fit of dimension d'.

    Raises:
        ValueError: a log-probability is not finite, or the dimension exceeds min(n, V). TypeError: it is not a positive
            integer.

    >>> hidden, head = factorised(np.log([[0.25, 0.75], [0.5, 0.5]]), 1)
    >>> weights = np.exp(hidden @ head.T)
    >>> (weights / weights.sum(axis=1, keepdims=True)).round(12).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    rows = np.asarray(log_probabilities, dtype=np.float64)
    if rows.ndim != 2 or not bool(np.isfinite(rows).all()):
        raise ValueError(f"log-probabilities must be finite, of shape [n, V]; got the shape {rows.shape}")
    if count(dimension, "dimension") > min(rows.shape):
        raise ValueError(f"the dimension must not exceed min(n, V) = {min(rows.shape)}; got {dimension}")
    left, values, right = np.linalg.svd(rows - rows.mean(axis=1, keepdims=True), full_matrices=False)
    return left[:, :dimension] * values[:dimension], right[:dimension].T


def truncated(head: Any, rank: int) -> Ranking:
    """Return the ranking that looks at the first `rank` coordinates of the hidden state alone.

    For a head from `factorised` no ranking of that rank comes closer to the logits, in the sum of squares.

    Raises:
        ValueError: the rank exceeds the head's dimension. TypeError: it is not a positive integer.

    >>> truncated(np.eye(3), 2).down.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    rows = np.asarray(head, dtype=np.float64)
    if count(rank, "rank") > rows.shape[1]:
        raise ValueError(f"the rank d' must not exceed the head's dimension d = {rows.shape[1]}; got {rank}")
    return Ranking(np.eye(rank, rows.shape[1]), rows[:, :rank])


@dataclass(frozen=True)
class Point:
    """The worth of k candidates ranked at rank d': mean acceptance, and multiplications a step against a full head.

    covered: the mean target mass of the candidates, which bounds the acceptance; share: d'/d.

    >>> Point(k=8, share=Fraction(1, 4), acceptance=0.5, covered=0.75, cost=Fraction(1, 3)).covered
    0.75
    """

    k: int
    share: Fraction
    acceptance: float
    covered: float
    cost: Fraction


def figure_4(targets: Any, hidden: Any, head: Any, ranks: Iterable[int], ks: Iterable[int]) -> list[Point]:
    """Compute the mean acceptance and the cost of SpecVocab for each rank and each k, at n positions.

    targets [n, V], hidden states [n, d], head [V, d]. The cost counts W_down and is relative to the full head's V·d.
    At d' = d and k = V the draft is the full one. Source: SpecVocab, Figure 4 and Table 4.

    Raises:
        ValueError, TypeError: a target is not a probability distribution, a rank or k is none or too large.

    >>> targets, head = np.array([[0.5, 0.5]]), np.eye(2)
    >>> figure_4(targets, np.array([[1.0, 0.0]]), head, [1], [1])[0].acceptance
    0.5
    """
    t = checked(targets, "targets")
    size, dimension = np.shape(head)
    points: list[Point] = []
    sizes = list(ks)
    for rank in ranks:
        ranking = truncated(head, rank)
        for k in sizes:
            laws = from_hidden(hidden, head, ranking, k)
            accepted = float(np.mean(overlap(t, laws)))
            covered = float(np.mean(np.where(laws > 0, t, 0.0).sum(axis=-1)))
            cost = Fraction(head_cost.speculative(size, dimension, rank, k), head_cost.full(size, dimension))
            points.append(Point(k, Fraction(rank, dimension), accepted, covered, cost))
    return points
