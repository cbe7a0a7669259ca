"""Claims of a certificate of a proof, evaluated at points: an oracle that shares no code with the checker.

At a rational point each polynomial has a sign. The signs lead through the tree to one node, and the coins there are a
program with fractions for masses.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any


def value(terms: list[Any], point: tuple[Fraction, ...]) -> Fraction:
    """Return the value of a polynomial."""
    return sum(
        (Fraction(number) * prod(x**power for x, power in zip(point, powers, strict=True)) for number, powers in terms),
        Fraction(0),
    )


def grid(document: dict[str, Any], parts: int = 4) -> list[tuple[Fraction, ...]]:
    """Return all points whose masses are multiples of 1/parts, with scalars from 1 to 2."""
    axes: list[Any] = []
    for _, size in document["laws"]:
        cuts = product(range(parts + 1), repeat=size - 1)
        axes.append([tuple(Fraction(cut, parts) for cut in own) for own in cuts if sum(own) <= parts])
    axes += [[(Fraction(one, 2),) for one in (2, 3, 4)] for _ in document["scalars"]]
    return [tuple(x for own in chosen for x in own) for chosen in product(*axes)]


def holds_at(document: dict[str, Any], point: tuple[Fraction, ...]) -> bool:
    """Say whether all that the certificate says of one point is so."""
    values = [value(terms, point) for terms in document["polynomials"]]
    at = 0
    while document["nodes"][at][0] == "ask":
        _, asked, branches = document["nodes"][at]
        sign = (values[asked] > 0) - (values[asked] < 0)
        at = next((below for signs, below, _ in branches if sign in signs), -1)
        if at < 0:
            return False
    kind, *rest = document["nodes"][at]
    functions = document["functions"]

    def mass(place: int) -> Fraction:
        number, factors = functions[place]
        return Fraction(number) * prod((values[one] ** power for one, power in factors), start=Fraction(1))

    if kind == "outside":
        return mass(rest[0]) > 0
    if kind != "leaf":
        return False  # the point is there, and nothing should be
    law: dict[str, Fraction] = {}
    if not _add(document, rest[0], Fraction(1), mass, law):
        return False
    laws, left = dict[str, list[Fraction]](), list(point)
    for name, size in document["laws"]:
        own, left = left[: size - 1], left[size - 1 :]
        laws[name] = [*own, 1 - sum(own)]
    wanted = {outcome: prod((laws[name][token] for name, token in own)) for outcome, own in document["wanted"]}
    if wanted and any(law.get(one, 0) != wanted.get(one, 0) for one in {**law, **wanted}):
        return False
    means = [
        sum((Fraction(dict(numbers)[one]) * chance for one, chance in law.items()), Fraction(0))
        for _, numbers in document["formulas"]
    ]
    return means == [mass(place) for place in rest[1]]


def _add(document: dict[str, Any], coin: int, chance: Fraction, mass: Any, law: dict[str, Fraction]) -> bool:
    """Add up the outcomes below a coin; say whether its masses are a probability distribution."""
    if chance == 0:
        return True
    kind, *rest = document["coins"][coin]
    if kind == "emit":
        law[rest[0]] = law.get(rest[0], Fraction(0)) + chance
        return True
    masses = [mass(place) for place in rest[0]]
    if min(masses) < 0 or sum(masses) != 1:
        return False
    return all(
        _add(document, child, chance * own, mass, law) if child is not None else own == 0
        for own, child in zip(masses, rest[1], strict=True)
    )


def holds(document: dict[str, Any], parts: int = 4) -> bool:
    """Say whether all that the certificate says is so at each point of the grid."""
    try:
        return all(holds_at(document, point) for point in grid(document, parts))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return False
