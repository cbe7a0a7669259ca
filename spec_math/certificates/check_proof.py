"""Check a proof for all distributions by adding and multiplying polynomials; nothing of spec_math is imported.

A theorem is about some distributions on a few tokens each, and perhaps about numbers of at least 1. Its variables are
all masses but the last of each distribution, and those numbers. The certificate is a tree of signs. A node asks for the
sign of a polynomial and has a branch for each sign, so the branches cover all distributions. The signs on the way to a
node are its facts. Each branch ends in one of these:

    leaf     A tree of coins: the coin draws from masses, the program goes on, and it emits an outcome. By the facts the
             masses are nonnegative and sum to 1. The probability of each outcome is what the theorem says: the
             difference is the zero polynomial, or it is 0 by a fact.
    outside  The hypothesis of the theorem does not hold: by the facts its function is positive.
    empty    No distribution is here. The witness is a sum of products of facts: by the facts no term is negative and
             one is positive, and yet the sum is the zero polynomial.
    z3       No distribution is here, as a solver said. There is no witness, and the last sentence counts these.

Run `python check_proof.py FILE`. With `--function FILE.py:NAME`, the verifier NAME(coin, tokens, target, draft) is run
on symbols along each path of each tree of coins, and must ask for the very masses of the tree.
"""

from __future__ import annotations

import gzip
import json
import runpy
import sys
from fractions import Fraction
from math import gcd, lcm
from typing import Any

FORMATS = ("spec_math proof certificate, version 1",)
Polynomial = dict[tuple[int, ...], Any]
"""{exponents of the variables: coefficient}; no coefficient is 0."""
Quotient = tuple[Polynomial, dict[int, int]]
"""A polynomial divided by polynomials of the certificate, {number: power}."""
Facts = tuple[tuple[Polynomial, frozenset[int]], ...]
"""Polynomials, each with the set of signs (-1, 0, 1) that it may have."""
ANY = frozenset((-1, 0, 1))


def need(true: Any, reason: str) -> None:
    """Reject the certificate for a reason."""
    if not true:
        raise ValueError(reason)


def plus(first: Polynomial, second: Polynomial, factor: Any = 1) -> Polynomial:
    """Return first + factor · second."""
    found = dict(first)
    for powers, number in second.items():
        found[powers] = found.get(powers, 0) + factor * number
    return {powers: number for powers, number in found.items() if number}


def times(first: Polynomial, second: Polynomial) -> Polynomial:
    """Return first · second."""
    found: Polynomial = {}
    for one, number in first.items():
        for two, factor in second.items():
            powers = tuple(map(int.__add__, one, two))
            found[powers] = found.get(powers, 0) + number * factor
    return {powers: number for powers, number in found.items() if number}


def over(first: Polynomial, second: Polynomial) -> Polynomial | None:
    """Return first / second, or None where the second does not divide the first."""
    lead, found = max(second), dict[Any, Any]()
    while first:
        powers = tuple(map(int.__sub__, max(first), lead))
        if min(powers) < 0:
            return None
        found[powers] = Fraction(first[max(first)]) / second[lead]
        first = plus(first, times(second, {powers: found[powers]}), -1)
    return found


def normal(one: Polynomial) -> tuple[int, Polynomial]:
    """Return the sign of the leading coefficient, and the multiple that is whole, without common divisor and leads > 0."""
    if not one:
        return 0, one
    numbers = [Fraction(number) for number in one.values()]
    size = Fraction(gcd(*(number.numerator for number in numbers)), lcm(*(number.denominator for number in numbers)))
    sign = 1 if one[max(one)] > 0 else -1
    return sign, {powers: int(number / size) * sign for powers, number in one.items()}


def fact(one: Polynomial, signs: Any) -> tuple[Polynomial, frozenset[int]]:
    """Return the fact about the normal form of a polynomial."""
    sign, own = normal(one)
    return own, frozenset((sign or 1) * other for other in signs)


def with_value(one: Polynomial, variable: int, value: Polynomial) -> Polynomial:
    """Return a polynomial with a value put in for a variable."""
    found: Polynomial = {}
    for powers, number in one.items():
        term: Polynomial = {(*powers[:variable], 0, *powers[variable + 1 :]): number}
        for _ in range(powers[variable]):
            term = times(term, value)
        found = plus(found, term)
    return found


def product(signs: frozenset[int], more: frozenset[int], power: int = 1) -> frozenset[int]:
    """Return the signs of x · y^power from those of x and y."""
    return frozenset(one * other ** abs(power) for one in signs for other in more)


def known_of(facts: Facts) -> dict[Any, frozenset[int]]:
    """Return the signs of each polynomial by the facts, {key: signs}."""
    known: dict[Any, frozenset[int]] = {}
    for one, signs in facts:
        known[key(one)] = known.get(key(one), ANY) & signs
    return known


def key(one: Polynomial) -> frozenset[Any]:
    """Return the terms of a polynomial."""
    return frozenset(one.items())


class Proof:
    """A certificate that is being checked: its polynomials, its masses, and counts of what was checked."""

    def __init__(self, document: dict[str, Any], verify: Any = None) -> None:
        self.document, self.verify, self.laws = document, verify, dict(document["laws"])
        self.size = sum(self.laws.values()) - len(self.laws) + len(document["scalars"])
        self.one: Polynomial = {(0,) * self.size: 1}
        self.variables = [{tuple(int(at == other) for other in range(self.size)): 1} for at in range(self.size)]
        self.polynomials: list[Polynomial] = []
        for terms in document["polynomials"]:
            need(all(len(powers) == self.size and min(powers) >= 0 for _, powers in terms), "an exponent is missing")
            numbers = ((tuple(powers), Fraction(number)) for number, powers in terms)
            self.polynomials.append({p: int(n) if n.denominator == 1 else n for p, n in numbers if n})
        self.keys = [key(one) for one in self.polynomials]
        self.emitted: dict[int, dict[str, Quotient]] = {}
        self.counts = dict.fromkeys(("leaf", "outside", "linear", "products", "z3", "paths"), 0)

    def mass(self, law: str, token: int, values: list[Polynomial]) -> Polynomial:
        """Return a mass of a distribution; the last is 1 minus the others."""
        names = list(self.laws)
        first = sum(self.laws[name] - 1 for name in names[: names.index(law)])
        own, left = values[first : first + self.laws[law] - 1], self.one
        need(0 <= token <= len(own), f"{law} has no token {token}")
        for value in own:
            left = plus(left, value, -1)
        return [*own, left][token]

    def everywhere(self) -> Facts:
        """Return the facts about all distributions: masses are at least 0, and numbers at least 1."""
        masses = [self.mass(law, token, self.variables) for law, size in self.laws.items() for token in range(size)]
        numbers = [plus(one, self.one, -1) for one in self.variables[self.size - len(self.document["scalars"]) :]]
        return tuple(fact(one, (0, 1)) for one in (*masses, *numbers))

    def walk(self) -> None:
        """Check each node of the tree of signs; a branch adds a fact, and may solve an equality for a variable."""
        waiting: list[tuple[int, Facts, list[Polynomial]]] = [(0, self.everywhere(), self.variables)]
        while waiting:
            at, facts, values = waiting.pop()
            kind, *rest = self.document["nodes"][at]
            if kind == "ask":
                asked, branches = rest
                covered = {sign for signs, _, _ in branches for sign in signs}
                need(known_of(facts).get(self.keys[asked], ANY) <= covered, f"node {at} leaves out a sign")
                for signs, below, solved in branches:
                    need(below > at, f"node {at} leads back")
                    more, put = (*facts, fact(self.polynomials[asked], signs)), values
                    if solved is not None:
                        need(signs == [0], f"node {at} solves what is no equality")
                        value = self.solved(self.polynomials[asked], solved)
                        more = tuple(fact(with_value(one, solved, value), own) for one, own in more)
                        put = [with_value(one, solved, value) for one in values]
                    waiting.append((below, more, put))
            elif kind == "empty":
                self.empty(f"the witness of node {at}", rest[0], facts)
            elif kind == "outside":
                need(self.signs(rest[0], known_of(facts)) == {1}, f"node {at} is within the hypothesis")
            elif kind == "leaf":
                self.leaf(f"at node {at}", rest, known_of(facts), values)
            else:
                need(kind == "z3", f"node {at} is of no kind")
            self.counts[kind] = self.counts.get(kind, 0) + 1

    def solved(self, one: Polynomial, variable: int) -> Polynomial:
        """Return the value of a variable that occurs once in an equality, times a number."""
        alone = next(iter(self.variables[variable]))
        rest = {powers: number for powers, number in one.items() if not powers[variable]}
        need({*one} - {*rest} == {alone}, f"an equality is not solved for variable {variable}")
        return plus({}, rest, Fraction(-1, one[alone]))

    def empty(self, where: str, terms: list[Any], facts: Facts) -> None:
        """Check that terms, by the facts none negative and one positive, sum to 0."""
        known = known_of(facts)
        total, positive, degree = dict[Any, Any](), not all(known.values()), 1
        for number, places, factor in terms:
            number = Fraction(number)
            term, signs = plus({}, self.one, number), frozenset(((number > 0) - (number < 0),))
            for place in {*places}:
                power = places.count(place)
                signs, degree = product(signs, known[key(facts[place][0])], power), max(degree, len(places))
                for _ in range(power):
                    term = times(term, facts[place][0])
            if factor is not None:
                need(signs == {0}, f"{where} multiplies more than equalities")
                term, degree = times(term, self.polynomials[factor]), 2
            need(signs <= {0, 1}, f"{where} has a term that may be negative")
            total, positive = plus(total, term), positive or signs == {1}
        need(positive, f"{where} has no positive term")
        need(not total, f"{where} does not sum to 0")
        self.counts["linear" if degree == 1 else "products"] += 1

    def signs(self, function: int, known: dict[Any, frozenset[int]]) -> frozenset[int]:
        """Return the signs of a product of powers by the facts; what is divided by is not 0."""
        number, factors = self.document["functions"][function]
        number = Fraction(number)
        found = frozenset(((number > 0) - (number < 0),))
        for one, power in factors:
            signs = known.get(self.keys[one], ANY)
            need(power > 0 or 0 not in signs, "a divisor may be 0")
            found = product(found, signs, power)
        return found

    def quotient(self, function: int) -> Quotient:
        """Return a product of powers as a polynomial over a product."""
        number, factors = self.document["functions"][function]
        top = plus({}, self.one, Fraction(number))
        for one, power in factors:
            for _ in range(power):
                top = times(top, self.polynomials[one])
        return top, {one: -power for one, power in factors if power < 0}

    def total(self, terms: list[tuple[Any, Quotient]]) -> Quotient:
        """Return the sum of quotients, each times a number."""
        below: dict[int, int] = {}
        for _, (_, own) in terms:
            below = {one: max(below.get(one, 0), own.get(one, 0)) for one in (*below, *own)}
        found: Polynomial = {}
        for number, (top, own) in terms:
            for one, power in below.items():
                for _ in range(power - own.get(one, 0)):
                    top = times(top, self.polynomials[one])
            found = plus(found, top, number)
        return found, below

    def law(self, at: int) -> dict[str, Quotient]:
        """Return the probability of each outcome of a tree of coins."""
        kind, *rest = self.document["coins"][at]
        if kind == "emit":
            return {rest[0]: (self.one, {})}
        if at not in self.emitted:
            parts: dict[str, list[tuple[int, Quotient]]] = {}
            for function, below in zip(*rest, strict=True):
                top, divisor = self.quotient(function)
                for outcome, (own, divisors) in self.law(below).items() if below is not None else ():
                    both = {one: divisor.get(one, 0) + divisors.get(one, 0) for one in (*divisor, *divisors)}
                    parts.setdefault(outcome, []).append((1, (times(top, own), both)))
            self.emitted[at] = {outcome: self.total(terms) for outcome, terms in parts.items()}
        return self.emitted[at]

    def coin(self, where: str, at: int, known: dict[Any, frozenset[int]], seen: set[int]) -> None:
        """Check the masses of a tree of coins: by the facts nonnegative, with sum 1, and 0 where nothing follows."""
        kind, *rest = self.document["coins"][at]
        if kind == "emit" or at in seen:
            return
        seen.add(at)
        for function, below in zip(*rest, strict=True):
            signs = self.signs(function, known)
            need(signs <= {0, 1}, f"a mass may be negative {where}")
            need(below is not None or signs == {0}, f"a branch of the coins is left out {where}")
            if below is not None:
                need(0 <= below < at, f"the coins lead back {where}")
                self.coin(where, below, known, seen)
        masses = [(1, self.quotient(function)) for function in rest[0]]
        self.vanishes(f"masses do not sum to 1 {where}", [*masses, (-1, (self.one, {}))], known)

    def vanishes(self, reason: str, terms: list[tuple[Any, Quotient]], known: dict[Any, frozenset[int]]) -> None:
        """Check that a sum is 0: its numerator is the zero polynomial, or 0 by a fact."""
        top = normal(self.total(terms)[0])[1]
        need(not top or known.get(key(top)) == {0}, reason)

    def claims(self, coin: int, formulas: list[int], values: list[Polynomial]) -> Any:
        """Yield each claim in words, with the terms whose sum is to be 0."""
        emitted = self.law(coin)
        for outcome, masses in self.document["wanted"]:
            wanted = self.one
            for law, token in masses:
                wanted = times(wanted, self.mass(law, token, values))
            yield f"P({outcome})", [(1, emitted.get(outcome, ({}, {}))), (-1, (wanted, {}))]
        for (what, weights), function in zip(self.document["formulas"], formulas, strict=True):
            terms = [(Fraction(dict(weights)[outcome]), own) for outcome, own in emitted.items()]
            yield what, [*terms, (-1, self.quotient(function))]

    def leaf(self, where: str, rest: list[Any], known: dict[Any, frozenset[int]], values: list[Polynomial]) -> None:
        """Check the coins of a region, and that each claim holds on it."""
        coin, formulas, bounds = rest
        self.coin(where, coin, known, set())
        for function in formulas:
            need(self.signs(function, known), "")
        for what, terms in self.claims(coin, formulas, values):
            self.vanishes(f"{what} is not what the theorem says {where}", terms, known)
        for what, function in zip(self.document["bounds"], bounds, strict=True):
            need(self.signs(function, known) <= {0, 1}, f"{what} is not so {where}")

    def refuted(self, point: list[str], coin: int, formulas: list[int]) -> None:
        """Check that at one point, which lies among the distributions, a claim is false."""
        values = [plus({}, self.one, Fraction(number)) for number in point]
        need(len(point) == self.size, "a coordinate is missing")
        facts = [fact(self.at(one, values), signs) for one, signs in self.everywhere()]
        need(all(not one or 1 in signs for one, signs in facts), "the point is none of these distributions")
        self.coin("at the point", coin, {}, set())
        claims = [self.total(terms)[0] for _, terms in self.claims(coin, formulas, values)]
        need(any(claims), "each claim holds at the point")

    def at(self, one: Polynomial, values: list[Polynomial]) -> Polynomial:
        """Return a polynomial with values of all variables."""
        for variable, value in enumerate(values):
            one = with_value(one, variable, value)
        return one

    def said(self) -> str:
        """Return what was checked, and what is assumed and was not."""
        document, counts = self.document, self.counts
        laws = ", ".join([f"{law} on {size} tokens" for law, size in self.laws.items()] + document["scalars"])
        about = f"{document['theorem']} ({document['scope']})"
        claims = [f"P({outcome})" for outcome, _ in document["wanted"]] + [what for what, _ in document["formulas"]]
        shown = ", ".join([*claims, *document["bounds"]][:6]) + ", ..." * (len(claims) > 6)
        coins = "the coins of each region are those of the program"
        if "point" in document:
            return f"{about} is refuted: at the point given, the claims on {shown} are not all so; assumed: {coins}"
        left = f" but for {counts['z3']} regions that z3 alone found empty" * bool(counts["z3"])
        outside = f", {counts['outside']} more are outside of the hypothesis" * bool(counts["outside"])
        witness = f"{counts['linear'] + counts['products']} empty ones have a witness ({counts['linear']} linear)"
        return (
            f"{about} is proved{left}: for all {laws}, the claims on {shown} hold on each of {counts['leaf']} regions"
            f"{outside}, {witness}; assumed: {coins}"
        )


def check(document: dict[str, Any], function: str | None = None) -> str:
    """Return the sentence that says what was checked; raise ValueError where the certificate does not hold."""
    try:
        proof = Proof(document)
        if "point" in document:
            proof.refuted(document["point"], document["coin"], document["values"])
        else:
            wanted: Polynomial = {}
            for _, masses in document["wanted"]:
                term = proof.one
                for law, token in masses:
                    term = times(term, proof.mass(law, token, proof.variables))
                wanted = plus(wanted, term)
            need(wanted in ({}, proof.one), "what is wanted does not sum to 1")
            proof.walk()
        return proof.said()
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(f"it is not of this form: {type(error).__name__}: {error}") from error


def main(argv: list[str]) -> int:
    """Check a file; return 0 where it holds, 1 where it does not, 2 where it is no certificate."""
    try:
        content = open(argv[0], "rb").read()
        document = json.loads(gzip.decompress(content) if argv[0].endswith(".gz") else content)
        if document["format"] not in FORMATS:
            raise ValueError(f"its format is {document['format']}")
    except (EOFError, LookupError, OSError, TypeError, ValueError) as error:
        print(f"no certificate of a proof: {error}", file=sys.stderr)
        return 2
    try:
        print(check(document, argv[2] if argv[1:2] == ["--function"] else None))
    except ValueError as error:
        print(f"rejected: {error}", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
