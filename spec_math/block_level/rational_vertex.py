"""From a linear program's vertex in floats to the same vertex in Fractions: solve the equations that hold there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Row = dict[int, Fraction]
"""A sparse row {column: coefficient}."""


def solved(equations: Sequence[tuple[Row, Fraction]], unknowns: Sequence[int]) -> dict[int, Fraction] | None:
    """Solve linear equations over the unknowns, all other columns 0: the solution, or None unless there is exactly one.

    The problem: Σ_j a_j x_j = b for every (a, b); sparse elimination in Fractions, the shortest row first.

    >>> one = Fraction(1)
    >>> solved([({0: one, 1: one}, one), ({0: one, 1: -one}, 0 * one)], [0, 1])
    {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> solved([({0: one, 1: one}, one)], [0, 1]) is None
    True
    """
    wanted = set(unknowns)
    rows = [({j: a for j, a in row.items() if j in wanted and a != 0}, b) for row, b in equations]
    pivots: list[tuple[int, Row, Fraction]] = []
    while rows:
        rows.sort(key=lambda entry: len(entry[0]), reverse=True)
        row, b = rows.pop()
        if not row:
            if b != 0:
                return None
            continue
        pivot = min(row, key=lambda j: sum(j in other for other, _ in rows))
        lead = row[pivot]
        row, b = {j: a / lead for j, a in row.items() if j != pivot}, b / lead
        pivots.append((pivot, row, b))
        rows = [_without(entry, pivot, row, b) for entry in rows]
    if len(pivots) < len(wanted):
        return None
    solution: dict[int, Fraction] = {}
    for pivot, row, b in reversed(pivots):
        solution[pivot] = b - sum((a * solution[j] for j, a in row.items()), Fraction(0))
    return {j: solution[j] for j in unknowns}


def _without(entry: tuple[Row, Fraction], pivot: int, row: Row, b: Fraction) -> tuple[Row, Fraction]:
    """Take pivot = b − row out of an equation."""
    other, right = entry
    factor = other.get(pivot)
    if factor is None:
        return entry
    result = {j: a for j, a in other.items() if j != pivot}
    for j, a in row.items():
        value = result.get(j, Fraction(0)) - factor * a
        if value == 0:
            result.pop(j, None)
        else:
            result[j] = value
    return result, right - factor * b
