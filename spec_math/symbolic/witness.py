"""Witnesses that a region is empty: products of facts, none of them negative and one positive, with the sum 0.

Source: Krivine 1964 and Handelman 1988 for sums of products. A linear program in floats finds the products, and their
numbers are solved for in fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from math import comb, prod
from typing import Any, NamedTuple

from spec_math.certificates import check_proof
from spec_math.certificates.check_proof import times, with_value

plus: Any = check_proof.plus
"""The checker's sum, whose numbers are of any type."""

Polynomial = dict[tuple[int, ...], Any]
"""{exponents: coefficient}, without coefficients of 0."""

Facts = tuple[tuple[Polynomial, frozenset[int]], ...]
"""Polynomials, each with the signs that it can have."""

Witness = list[tuple[Fraction, tuple[int, ...], Polynomial | None]]
"""Terms: a number, the places of the facts that are multiplied, and a polynomial that multiplies an equality."""

HIGHEST, MOST = 4, 2000
"""The degree up to which products are tried where no fact has a higher one, and the most in one linear program."""

UP, DOWN = frozenset({1}), frozenset({-1})
"""The signs of a fact that is positive, and of one that is negative."""


class Product(NamedTuple):
    """A product of facts by their places, with the sign that makes it nonnegative; `positive` says that it is not 0."""

    sign: int
    places: tuple[int, ...]
    value: Polynomial
    positive: bool

    def times(self, other: Product) -> Product:
        """Return the product of two products."""
        value, places = times(self.value, other.value), self.places + other.places
        return Product(self.sign * other.sign, places, value, self.positive and other.positive)


def whole(one: Polynomial) -> Polynomial:
    """Return a polynomial with whole numbers in place of fractions that are whole, which are slow."""
    return {powers: _whole(number) for powers, number in one.items()}


def _whole(number: Any) -> Any:
    return int(number) if number == int(number) else number


def witness(facts: Facts, size: int, longest_product: int = 100) -> Witness | None:
    """Return a witness that no point has these signs; None where none is found. `size` is the number of variables."""
    zeros = [(at, own) for at, (own, signs) in enumerate(facts) if signs == frozenset({0}) and own]
    if (found := multiple(facts)) is not None:
        return found
    for at, own in zeros:
        for variable in range(size):
            if [sum(powers) for powers in own if powers[variable]] == [1]:
                return _lifted(at, variable, facts, size)
    one = Product(1, (), {(0,) * size: 1}, True)
    known = [found for at, own in enumerate(facts) if (found := _nonnegative(at, *own)) is not None]
    found = _sum_to_zero([one, *known], [(at, (0,) * size, own) for at, own in zeros])
    highest = max(_degree(own) for own, _ in facts)
    degrees, made = [_degree(product.value) for product in known], dict[tuple[int, ...], Product]({(): one})
    for degree in range(max(2, highest), max(HIGHEST, highest + 1) + 1) if found is None else ():
        if sum(comb(size + degree - _degree(own), size) for _, own in zeros if _degree(own) <= degree) >= MOST:
            break
        monomials = [
            tuple(map(chosen.count, range(size)))
            for many in range(degree)
            for chosen in combinations_with_replacement(range(size), many)
        ]
        multiples = [
            (at, powers, times(own, {powers: 1}))
            for at, own in zeros
            for powers in monomials
            if _degree(own) + sum(powers) <= degree
        ]
        products, longest = [one], [()]
        while found is None and longest and len(longest[0]) < longest_product:
            longer = (
                (*places, at)
                for places in longest
                for at in range(places[-1] if places else 0, len(known))
                if sum(degrees[place] for place in places) + degrees[at] <= degree
            )
            longest = list(islice(longer, MOST))
            if len(products) + len(longest) + len(multiples) > MOST:
                break
            for places in longest:
                if places not in made:
                    made[places] = made[places[:-1]].times(known[places[-1]])
            products += [made[places] for places in longest]
            found = _sum_to_zero(products, multiples)
        if found is not None:
            break
    return found


def alone(equality: Polynomial, variable: int) -> Polynomial:
    """Return the value of a variable that occurs once in an equality, times a number."""
    number = next(number for powers, number in equality.items() if powers[variable])
    rest = {powers: other for powers, other in equality.items() if not powers[variable]}
    return plus({}, rest, Fraction(-1) / number)


def over(first: Polynomial, second: Polynomial) -> Polynomial | None:
    """Return first / second, or None where the second does not divide the first."""
    lead, left, found = max(second), dict(first), dict[tuple[int, ...], Any]()
    while left:
        powers = tuple(map(int.__sub__, max(left), lead))
        # The last terms of a product are the product of the last terms, so that most trials end here.
        if min(powers) < 0 or min(map(int.__sub__, min(left), min(second))) < 0:
            return None
        found[powers] = number = _whole(Fraction(left[max(left)]) / second[lead])
        for own, factor in second.items():
            place = tuple(map(int.__add__, own, powers))
            left[place] = left.get(place, 0) - number * factor
            if not left[place]:
                del left[place]
    return found


def multiple(facts: Facts) -> Witness | None:
    """Return a witness that the last fact, of one sign, is impossible: a multiple of it is 0 by the equalities.

    What is left of it is divided by one equality after the other, in a variable whose highest power has a product of
    facts as its coefficient; the last fact is multiplied by these.
    """
    *known, (left, signs) = facts
    if signs not in (UP, DOWN):
        return None
    scale, parts = [len(known)], dict[int, Polynomial]()
    for place, (own, zero) in enumerate(known):
        if not left or not own or zero != frozenset({0}):
            continue
        if (quotient := over(left, own)) is not None:
            parts[place], left = quotient, {}
            continue
        for variable in range(len(next(iter(own)))):
            highest = max(powers[variable] for powers in own)
            lead = _coefficient(own, variable, highest)
            factors, number = _as_facts(lead, known) if highest else ([], None)
            if number is None:
                continue
            lead = plus({}, lead, 1 / number)
            while left and (power := max(powers[variable] for powers in left)) >= highest:
                step = plus({}, _coefficient(left, variable, power, power - highest), 1 / number)
                left = plus(times(left, lead), times(step, own), Fraction(-1))
                parts = {at: times(part, lead) for at, part in parts.items()}
                parts[place] = plus(parts.get(place, {}), step)
                scale += factors
            break
    if left:
        return None
    sign = Fraction(prod(min(facts[place][1]) for place in scale))
    return [(sign, tuple(scale), None), *((Fraction(1), (at,), plus({}, part, -sign)) for at, part in parts.items())]


def _coefficient(one: Polynomial, variable: int, power: int, left: int = 0) -> Polynomial:
    """Return what a power of a variable is multiplied by in a polynomial, times another power of it."""
    return {(*own[:variable], left, *own[variable + 1 :]): n for own, n in one.items() if own[variable] == power}


def _as_facts(one: Polynomial, known: Sequence[tuple[Polynomial, frozenset[int]]]) -> tuple[list[int], Any]:
    """Return the places of facts of one sign whose product times a number is a polynomial, and the number, if any."""
    places: list[int] = []
    for place, (own, signs) in enumerate(known):
        while signs in (UP, DOWN) and _degree(own) and (quotient := over(one, own)) is not None:
            places, one = [*places, place], quotient
    return places, None if _degree(one) else Fraction(one[max(one)])


def _lifted(at: int, variable: int, facts: Facts, size: int) -> Witness | None:
    """Return a witness by one for the facts with an equality put in; the sum of its terms is a multiple of it."""
    value, total = alone(facts[at][0], variable), dict[tuple[int, ...], Any]()
    found = witness(tuple((whole(with_value(own, variable, value)), signs) for own, signs in facts), size)
    for number, places, factor in found or ():
        term: Polynomial = plus({}, factor or {(0,) * size: 1}, number)
        for place in places:
            term = times(term, facts[place][0])
        total = plus(total, term)
    return found if not total or found is None else [*found, (Fraction(-1), (at,), over(total, facts[at][0]))]


def _nonnegative(at: int, own: Polynomial, signs: frozenset[int]) -> Product | None:
    """Return a fact as a product that is not negative: the polynomial, its negative or its square."""
    if signs == UP | DOWN:
        return Product(1, (at, at), times(own, own), True)
    sign = 1 if signs <= {0, 1} else -1
    value = {powers: sign * number for powers, number in own.items()}
    return Product(sign, (at,), value, 0 not in signs) if signs in _ONE_SIDED else None


_ONE_SIDED = [frozenset(signs) for signs in ({1}, {0, 1}, {-1}, {-1, 0})]


def _degree(one: Polynomial) -> int:
    return max(map(sum, one), default=0)


def _sum_to_zero(
    products: Sequence[Product], multiples: Sequence[tuple[int, tuple[int, ...], Polynomial]]
) -> Witness | None:
    """Return numbers, at least 0 for products and any for multiples of equalities, with the sum 0 and one positive."""
    import numpy as np
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csr_matrix

    values = [product.value for product in products] + [value for _, _, value in multiples]
    rows: dict[Any, int] = {}
    entries = [(rows.setdefault(k, len(rows) + 1), at, v) for at, value in enumerate(values) for k, v in value.items()]
    entries += [(0, at, 1) for at, product in enumerate(products) if product.positive]
    where, which, numbers = zip(*entries, strict=True)
    matrix = csr_matrix((list(map(float, numbers)), (where, which)), shape=(len(rows) + 1, len(values)))
    free: Any = ([0.0] * len(products) + [-np.inf] * len(multiples), np.inf)
    wanted = np.eye(1, len(rows) + 1)[0]
    # Without whole numbers this is a linear program, and it is handed to HiGHS in half the time of `linprog`.
    solved = milp(np.zeros(len(values)), constraints=LinearConstraint(matrix, wanted, wanted), bounds=free)
    if solved.status != 0:
        return None
    used = [int(at) for at in np.flatnonzero(abs(solved.x) > 1e-10)]
    exact = _in_fractions([entry for entry in entries if entry[1] in used], used, len(rows) + 1)
    if exact is None or any(exact[at] < 0 for at in used if at < len(products)):
        return None
    factors: dict[int, Polynomial] = {}
    for at in used:
        if at >= len(products) and exact[at]:
            place, powers, _ = multiples[at - len(products)]
            factors.setdefault(place, {})[powers] = exact[at]
    own = [
        (exact[at] * products[at].sign, products[at].places, None) for at in used if at < len(products) and exact[at]
    ]
    return [*own, *((Fraction(1), (at,), factor) for at, factor in factors.items())]


def _in_fractions(
    entries: Sequence[tuple[int, int, Any]], used: Sequence[int], rows: int
) -> dict[int, Fraction] | None:
    """Return the numbers of columns whose sum is 1 in row 0, and 0 in the others; None where there are none."""
    from sympy.polys.domains import QQ
    from sympy.polys.matrices import DomainMatrix

    filled: dict[int, dict[int, Any]] = {0: {len(used): QQ(1)}}
    for row, at, number in entries:
        filled.setdefault(row, {})[used.index(at)] = QQ(number.numerator, number.denominator)
    reduced, pivots = DomainMatrix(filled, (rows, len(used) + 1), QQ).rref()
    if len(used) in pivots:
        return None
    last = [reduced[place, len(used)].element for place in range(len(pivots))]
    return dict.fromkeys(used, Fraction(0)) | {
        used[at]: Fraction(int(number.numerator), int(number.denominator))
        for at, number in zip(pivots, last, strict=True)
    }
