"""Witnesses that a region is empty: products of facts, none of them negative and one positive, with the sum 0.

Source: Krivine 1964 and Handelman 1988 for sums of products. A linear program in floats finds the products, and their
numbers are solved for in fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

from spec_math.certificates.check_proof import Facts, Polynomial, over, plus, times, with_value

HIGHEST = 4
"""The degree up to which products are tried, where no fact has a higher one."""
MOST = 4000
"""The most products of one linear program."""

Witness = list[tuple[Fraction, tuple[int, ...], Polynomial | None]]
"""Terms: a number, the places of the facts that are multiplied, and a polynomial that multiplies an equality."""


class Product(NamedTuple):
    """A product of facts by their places, with the sign that makes it nonnegative; `positive` says that it is not 0."""

    sign: int
    places: tuple[int, ...]
    value: Polynomial
    positive: bool


def witness(facts: Facts, size: int) -> Witness | None:
    """Return a witness that no point has these signs; None where none is found. `size` is the number of variables."""
    for at, (own, signs) in enumerate(facts):
        alone = next((powers for powers in own if sum(powers) == 1 and _occurs_once(own, powers)), None)
        if signs == {0} and alone is not None:
            return _lifted(at, alone, facts, size)
    one = Product(1, (), {(0,) * size: 1}, True)
    known = [found for at in range(len(facts)) if (found := _nonnegative(at, *facts[at])) is not None]
    zeros = [(at, own) for at, (own, signs) in enumerate(facts) if signs == {0} and own]
    found = _sum_to_zero([one, *known], [(at, (0,) * size, own) for at, own in zeros])
    highest = max(_degree(own) for own, _ in facts)
    for degree in range(max(2, highest), max(HIGHEST, highest + 1) + 1) if found is None else ():
        multiples = [
            (at, powers, times(own, {powers: 1}))
            for at, own in zeros
            for powers in _monomials(size, degree - _degree(own))
        ]
        products, longest = [one], [(one, 0)]
        for _ in range(degree):
            longest = [
                (_times(product, more), at)
                for product, start in longest
                for at, more in enumerate(known[start:], start)
                if _degree(product.value) + _degree(more.value) <= degree
            ]
            products += [product for product, _ in longest]
            if len(products) + len(multiples) > MOST or not longest:
                break
            found = _sum_to_zero(products, multiples)
            if found is not None:
                return found
    return found


def _occurs_once(own: Polynomial, alone: tuple[int, ...]) -> bool:
    return sum(bool(powers[alone.index(1)]) for powers in own) == 1


def _lifted(at: int, alone: tuple[int, ...], facts: Facts, size: int) -> Witness | None:
    """Return a witness by one for the facts with an equality put in; the sum of the terms is a multiple of it."""
    equality = facts[at][0]
    rest = {powers: number for powers, number in equality.items() if powers != alone}
    value = plus({}, rest, Fraction(-1, equality[alone]))
    found = witness(tuple((with_value(own, alone.index(1), value), signs) for own, signs in facts), size)
    total: Polynomial = {}
    for number, places, factor in found or ():
        term: Polynomial = {(0,) * size: number} if factor is None else plus({}, factor, number)
        for place in places:
            term = times(term, facts[place][0])
        total = plus(total, term)
    multiple = over(total, equality) or {}
    return found if found is None or not multiple else [*found, (Fraction(-1), (at,), multiple)]


def _nonnegative(at: int, own: Polynomial, signs: frozenset[int]) -> Product | None:
    """Return a fact as a product that is not negative: the polynomial, its negative or its square."""
    if signs <= {0, 1} and 1 in signs:
        return Product(1, (at,), own, 0 not in signs)
    if signs <= {0, -1} and -1 in signs:
        return Product(-1, (at,), plus({}, own, -1), 0 not in signs)
    return Product(1, (at, at), times(own, own), True) if signs == {-1, 1} else None


def _times(first: Product, second: Product) -> Product:
    value, places = times(first.value, second.value), first.places + second.places
    return Product(first.sign * second.sign, places, value, first.positive and second.positive)


def _degree(one: Polynomial) -> int:
    return max(map(sum, one), default=0)


def _monomials(size: int, degree: int) -> list[tuple[int, ...]]:
    """Return the exponents of all monomials up to a degree."""
    chosen = (
        choice for many in range(degree + 1) for choice in combinations_with_replacement(range(size), many)
    )
    return [tuple(map(choice.count, range(size))) for choice in chosen]


def _sum_to_zero(
    products: Sequence[Product], multiples: Sequence[tuple[int, tuple[int, ...], Polynomial]]
) -> Witness | None:
    """Return numbers, at least 0 for products and any for multiples of equalities, with the sum 0 and one positive."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    columns = [product.value for product in products]
    columns += [value for _, _, value in multiples] + [plus({}, value, -1) for _, _, value in multiples]
    rows: dict[Any, int] = {}
    entries = [(rows.setdefault(k, len(rows) + 1), at, float(v)) for at, one in enumerate(columns) for k, v in one.items()]
    entries += [(0, at, 1.0) for at, product in enumerate(products) if product.positive]
    where, at, numbers = zip(*entries, strict=True)
    matrix = csr_matrix((numbers, (where, at)), shape=(len(rows) + 1, len(columns)))
    wanted = np.zeros(len(rows) + 1)
    wanted[0] = 1.0
    solved = linprog(np.ones(len(columns)), A_eq=matrix, b_eq=wanted, method="highs-ds")
    if solved.status != 0:
        return None
    used = [int(at) for at in np.flatnonzero(solved.x > 1e-10)]
    exact = _in_fractions([({**columns[at], None: int(at < len(products) and products[at].positive)}) for at in used])
    if exact is None or min(exact) < 0:
        return None
    found: Witness = []
    factors: dict[int, Polynomial] = {}
    for at, number in zip(used, exact, strict=True):
        if at < len(products):
            found.append((number * products[at].sign, products[at].places, None))
        else:
            place, powers, _ = multiples[(at - len(products)) % len(multiples)]
            sign = 1 if at < len(products) + len(multiples) else -1
            factors[place] = plus(factors.get(place, {}), {powers: number * sign})
    found += [
        (next(iter(own.values())), (at,), None) if not any(map(any, own)) else (Fraction(1), (at,), own)
        for at, own in factors.items()
        if own
    ]
    return [term for term in found if term[0]]


def _in_fractions(columns: Sequence[dict[Any, Any]]) -> list[Fraction] | None:
    """Return numbers with which columns sum to 0, and to 1 in the row None; None where there are none."""
    rows = [[Fraction(column.get(None, 0)) for column in columns] + [Fraction(1)]] + [
        [*(Fraction(column.get(row, 0)) for column in columns), Fraction(0)]
        for row in dict.fromkeys(row for column in columns for row in column if row is not None)
    ]
    pivots: list[int] = []
    for at in range(len(columns)):
        place = next((place for place in range(len(pivots), len(rows)) if rows[place][at]), None)
        if place is None:
            continue
        rows[len(pivots)], rows[place] = rows[place], rows[len(pivots)]
        own = rows[len(pivots)]
        own[:] = [number / own[at] for number in own] if own[at] != 1 else own
        for place, row in enumerate(rows):
            if place != len(pivots) and row[at]:
                rows[place] = [number - row[at] * less for number, less in zip(row, own, strict=True)]
        pivots.append(at)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    found = [Fraction(0)] * len(columns)
    for place, at in enumerate(pivots):
        found[at] = rows[place][-1]
    return found
