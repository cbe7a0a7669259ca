"""Output heads of low rank: head and hidden states from log-probabilities, and what a ranking of rank d' is worth.

Acceptance and cost against k and d'/d, as in SpecVocab's Figure 4, on any positions at hand.

Source: SpecVocab, Section 3.3 and Figure 4; the head by singular values is Eckart and Young 1936.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.arrays import as_law as checked
from spec_math.distribution import overlap
from spec_math.drafting import head_cost
from spec_math.drafting.speculative import Ranking, from_hidden


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
    """What k candidates ranked at rank d' are worth: mean acceptance, and multiplications a step against a full head.

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
            cost = Fraction(head_cost.speculative(size, dimension, rank, k), head_cost.full(size, dimension))
            points.append(
                Point(
                    k,
                    Fraction(rank, dimension),
                    float(np.mean(overlap(t, laws))),
                    float(np.mean(np.where(laws > 0, t, 0.0).sum(axis=-1))),
                    cost,
                )
            )
    return points
