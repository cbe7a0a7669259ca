# pyright: basic
"""Checker of certificates of proofs for all distributions, in one file: python check_proof.py FILE

A theorem is about some distributions, `laws`, on a few tokens each, and perhaps about numbers of at least 1, `scalars`.
Its variables are all masses but the last of each distribution, and those numbers. Polynomials in them are added and
multiplied here, with fractions. `polynomials` are lists of [coefficient, exponents], and `functions` are products
[number, [[polynomial, power], ...]], whose negative powers are divisors.

`nodes` is a tree of signs. The signs of polynomials on the way to a node are its facts. A node is one of these:

    ["ask", polynomial, [[signs, node, solved], ...]]   The branches cover each sign that the polynomial can have. Where
                it is 0 it may be solved for a variable, [variable, value], which is then put into all facts.
    ["empty", [[number, facts, factor], ...]]   No distribution is here. By the facts each term, a number times a
                product of facts, is at least 0, and one is positive; yet they sum to the zero polynomial. A product
                that is 0 may have any factor.
    ["z3"]      No distribution is here, as a solver said. There is no witness, and the last sentence counts these.
    ["outside", function]   The hypothesis of the theorem does not hold: by the facts the function is positive.
    ["leaf", coin, values]   The program of the theorem takes the same path for all distributions here: it flips
                and draws by this tree of coins. By the facts the masses are at least 0, sum to 1 and divide by no 0.
                The probability of each outcome is as `wanted` says, a product of masses. The mean of the numbers that
                a formula of `formulas` gives to the outcomes is its value. That is: each difference is the zero
                polynomial, or 0 by a fact.

`coins` are ["flip", [p, 1 - p], [yes, no]], ["draw", masses, children] and ["emit", outcome], children before parents.
A child is null where its mass is 0. The program itself is not run here: that these are its coins is assumed.
"""

import gzip
import json
import sys
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from pathlib import Path

FORMATS = ("spec_math proof certificate, version 1",)
ANY = frozenset((-1, 0, 1))


def demand(condition, reason):
    """Raise an error with the reason unless the condition holds."""
    if not condition:
        raise ValueError(reason)


def plus(first, second, factor=1):
    """Return first + factor · second, polynomials {exponents: coefficient} without coefficients of 0."""
    found = dict(first)
    for powers, number in second.items():
        found[powers] = found.get(powers, 0) + factor * number
    return {powers: number for powers, number in found.items() if number}


def times(first, second, power=1):
    """Return first · second^power."""
    for _ in range(power):
        found = {}
        for one, number in first.items():
            for two, factor in second.items():
                powers = tuple(map(int.__add__, one, two))
                found[powers] = found.get(powers, 0) + number * factor
        first = {powers: number for powers, number in found.items() if number}
    return first


def with_value(one, variable, value):
    """Return a polynomial with a value put in for a variable."""
    found = {}
    for powers, number in one.items():
        rest = {(*powers[:variable], 0, *powers[variable + 1 :]): number}
        found = plus(found, times(rest, value, powers[variable]))
    return found


def fact(one, signs):
    """Return the multiple of a polynomial that is whole, without common divisor, with a leading term > 0; its signs."""
    numbers = one.values()
    size = Fraction(gcd(*(n.numerator for n in numbers)), lcm(*(n.denominator for n in numbers))) or 1
    sign = -1 if one and one[max(one)] < 0 else 1
    return {powers: int(sign * number / size) for powers, number in one.items()}, frozenset(sign * own for own in signs)


def key(one):
    """Return the terms of a polynomial, by which it is found."""
    return frozenset(one.items())


def known_of(facts):
    """Return the signs that each polynomial can have by all facts about it, {key: signs}."""
    known = {}
    for one, signs in facts:
        known[key(one)] = known.get(key(one), ANY) & signs
    return known


def product(signs, more, power=1):
    """Return the signs of x · y^power from those of x and y."""
    return frozenset(one * other ** abs(power) for one in signs for other in more)


def sign_of(number):
    """Return the sign of a number, as a set."""
    return frozenset(((number > 0) - (number < 0),))


class Proof:
    """A certificate that is being checked, and counts of its nodes by kind."""

    def __init__(self, document):
        self.document, self.emitted, self.counts = document, {}, {}
        self.size = sum(size - 1 for _, size in document["laws"]) + len(document["scalars"])
        self.one, self.polynomials = {(0,) * self.size: Fraction(1)}, []
        self.variables = [{tuple(int(at == own) for own in range(self.size)): Fraction(1)} for at in range(self.size)]
        for terms in document["polynomials"]:
            self.polynomials.append({tuple(map(int, powers)): Fraction(number) for number, powers in terms})
            demand(len(self.polynomials[-1]) == len(terms), "a polynomial has two terms with the same exponents")
        right = all(len(powers) == self.size and min(powers) >= 0 for one in self.polynomials for powers in one)
        demand(right, "a polynomial has not one exponent for each variable")

    def masses(self, values):
        """Return the masses of each distribution, the last of which is 1 minus the others; and the numbers."""
        found, left = {}, list(values)
        for law, size in self.document["laws"]:
            own, left = left[: size - 1], left[size - 1 :]
            found[law] = [*own, reduce(lambda rest, mass: plus(rest, mass, -1), own, self.one)]
        return found, left

    def walk(self):
        """Check each node of the tree of signs, from the facts about all distributions on."""
        laws, scalars = self.masses(self.variables)
        first = [mass for masses in laws.values() for mass in masses] + [plus(one, self.one, -1) for one in scalars]
        waiting = [(0, tuple(fact(one, (0, 1)) for one in first), self.variables)]
        while waiting:
            at, facts, values = waiting.pop()
            kind, *rest = self.document["nodes"][at]
            known, where = known_of(facts), f"at node {at}"
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if kind == "ask":
                place, branches = rest
                asked = self.polynomials[place]
                covered = {sign for signs, _, _ in branches for sign in signs}
                demand(known.get(key(asked), ANY) <= covered, f"a sign is left out {where}")
                for signs, below, solved in branches:
                    demand(below > at, f"the tree leads back {where}")
                    more, put = (*facts, fact(asked, signs)), values
                    if solved is not None:
                        variable, value = solved[0], self.polynomials[solved[1]]
                        same = fact(asked, ())[0] == fact(plus(self.variables[variable], value, -1), ())[0]
                        alone = not any(powers[variable] for powers in value)
                        demand(same and alone and signs == [0], f"an equality is not solved {where}")
                        more = tuple(fact(with_value(one, variable, value), own) for one, own in more)
                        put = [with_value(one, variable, value) for one in values]
                    waiting.append((below, more, put))
            elif kind == "empty":
                self.empty(where, rest[0], facts, known)
            elif kind == "outside":
                demand(self.signs(rest[0], known) == {1}, f"the hypothesis may hold {where}")
            elif kind == "leaf":
                self.leaf(where, rest, known, values)
            else:
                demand(kind == "z3", f"a node is of no kind {where}")

    def empty(self, where, terms, facts, known):
        """Check that terms, none negative by the facts and one positive, sum to 0; facts may contradict each other."""
        total, positive = {}, not all(known.values())
        for number, places, factor in terms:
            term, signs = times({(0,) * self.size: Fraction(number)}, self.one), sign_of(Fraction(number))
            for place in {*places}:
                power = places.count(place)
                term, signs = times(term, facts[place][0], power), product(signs, known[key(facts[place][0])], power)
            if factor is not None:
                demand(signs == {0}, f"the witness multiplies more than equalities {where}")
                term = times(term, self.polynomials[factor])
            demand(signs <= {0, 1}, f"the witness has a term that may be negative {where}")
            total, positive = plus(total, term), positive or signs == {1}
        demand(positive and not total, f"the witness has no positive term, or does not sum to 0, {where}")

    def signs(self, function, known):
        """Return the signs that a function can have by the facts."""
        number, factors = self.document["functions"][function]
        found = sign_of(Fraction(number))
        for one, power in factors:
            found = product(found, known.get(key(self.polynomials[one]), ANY), power)
        return found

    def quotient(self, function):
        """Return a function as a polynomial and its divisors {polynomial: power}."""
        number, factors = self.document["functions"][function]
        demand(len(dict(factors)) == len(factors), "a function has the same polynomial twice")
        top = {(0,) * self.size: Fraction(number)} if Fraction(number) else {}
        for one, power in factors:
            top = times(top, self.polynomials[one], power)
        return top, {one: -power for one, power in factors if power < 0}

    def total(self, terms):
        """Return the sum of quotients, each times a number, over the least divisors that all have in common."""
        common, found = {}, {}
        for _, (_, own) in terms:
            common.update({one: max(power, common.get(one, 0)) for one, power in own.items()})
        for number, (top, own) in terms:
            for one, power in common.items():
                top = times(top, self.polynomials[one], power - own.get(one, 0))
            found = plus(found, top, number)
        return found, common

    def law(self, at):
        """Return the probability of each outcome of a tree of coins, as quotients."""
        kind, *rest = self.document["coins"][at]
        if kind == "emit":
            return {rest[0]: (self.one, {})}
        if at not in self.emitted:
            parts = {}
            for function, below in zip(*rest, strict=True):
                demand(below is None or 0 <= below < at, f"coin {at} leads back")
                top, divisors = self.quotient(function)
                for outcome, (own, more) in self.law(below).items() if below is not None else ():
                    both = {one: divisors.get(one, 0) + more.get(one, 0) for one in (*divisors, *more)}
                    parts.setdefault(outcome, []).append((1, (times(top, own), both)))
            self.emitted[at] = {outcome: self.total(terms) for outcome, terms in parts.items()}
        return self.emitted[at]

    def claims(self, at, formulas, values):
        """Yield sums of quotients that are to be 0, each with its words."""
        emitted, masses = self.law(at), self.masses(values)[0]
        wanted = {outcome: [masses[law][token] for law, token in own] for outcome, own in self.document["wanted"]}
        for outcome in {**emitted, **wanted} if wanted else ():
            own = reduce(times, wanted[outcome], self.one)
            yield f"P({outcome})", [(1, emitted.get(outcome, ({}, {}))), (-1, (own, {}))]
        for (what, numbers), function in zip(self.document["formulas"], formulas, strict=True):
            terms = [(Fraction(dict(numbers)[outcome]), own) for outcome, own in emitted.items()]
            yield what, [*terms, (-1, self.quotient(function))]
        for coin in self.below(at, set()):
            masses = [(1, self.quotient(function)) for function in self.document["coins"][coin][1]]
            yield "a sum of masses minus 1", [*masses, (-1, (self.one, {}))]

    def below(self, at, seen):
        """Yield the coins of a tree, each once."""
        if at not in seen and self.document["coins"][at][0] != "emit":
            seen.add(at)
            yield at
            for child in self.document["coins"][at][2]:
                yield from self.below(child, seen) if child is not None else ()

    def leaf(self, where, rest, known, values):
        """Check the coins of a region, and that each claim holds on it."""
        coin, formulas = rest
        for what, terms in self.claims(coin, formulas, values):
            top, divisors = self.total(terms)
            top, _ = fact(top, ())
            possible = any(0 in known.get(key(self.polynomials[one]), ANY) for one in divisors)
            demand(not possible, f"a divisor may be 0 {where}")
            demand(not top or known.get(key(top)) == {0}, f"{what} is not as it should be {where}")
        for at in self.below(coin, set()):
            for function, child in zip(*self.document["coins"][at][1:], strict=True):
                signs = self.signs(function, known)
                demand(signs <= {0, 1}, f"a mass may be negative {where}")
                demand(child is not None or signs == {0}, f"a branch of the coins is left out {where}")

    def said(self):
        """Return what was checked, and what is assumed and was not."""
        document, count = self.document, self.counts.get
        claims = [f"P({outcome})" for outcome, _ in document["wanted"]] + [what for what, _ in document["formulas"]]
        laws = [f"{law} on {size} tokens" for law, size in document["laws"]] + document["scalars"]
        but = f" but for {count('z3')} regions that z3 alone found empty" if count("z3") else ""
        return (
            f"{document['theorem']} ({document['scope']}) is proved{but}. Checked: for all {', '.join(laws)}, on each "
            f"of {count('leaf', 0)} regions, {', '.join(claims)}; {count('outside', 0)} regions outside of the "
            f"hypothesis; witnesses of {count('empty', 0)} empty regions. Assumed: that the coins of each region are "
            "the program's, and that the values of formulas and hypotheses are those of the theorem."
        )


def check(document, function=None):
    """Return the sentence on what was checked and what is assumed; raise ValueError where the certificate fails."""
    demand(function is None, "a proof has coins with polynomials for masses: no function can be replayed on them")
    try:
        proof = Proof(document)
        proof.walk()
        return proof.said()
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(f"it cannot be read: {type(error).__name__}: {error}") from error


def main(argv):
    """Check a file: exit code 0 where the certificate holds, 1 where it does not, 2 where it is none."""
    code = 2
    try:
        content = Path(argv[0]).read_bytes()
        document = json.loads(gzip.decompress(content) if argv[0].endswith(".gz") else content)
        demand(document["format"] in FORMATS, "its format is another")
        code = 1
        print(check(document))
        return 0
    except (EOFError, LookupError, OSError, TypeError, ValueError) as error:
        print(f"{'Rejected' if code == 1 else 'No certificate of a proof'}: {error}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
