# pyright: basic, reportArgumentType=false, reportCallIssue=false, reportOptionalMemberAccess=false
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
    ["outside", function]   The hypothesis of the theorem does not hold, as the function is positive by the facts. That
                it is the function of the hypothesis is assumed.
    ["leaf", coin, values]   The program of the theorem takes the same path for all distributions here: it flips
                and draws by this tree of coins. By the facts the masses are at least 0, sum to 1 and divide by no 0.
                The probability of each outcome is as `wanted` says, a product of masses. The mean of the numbers that
                a formula of `formulas` gives to the outcomes is its value, a function of `values`. That is: each
                difference is the zero polynomial, or 0 by a fact.

`coins` are ["flip", [p, 1 - p], [yes, no]], ["draw", masses, children] and ["emit", outcome], children before parents.
A child is null where its mass is 0. The program itself is not run here: that these are its coins is assumed.
"""

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from functools import reduce
from itertools import product as pairs
from math import gcd, lcm
from pathlib import Path

FORMATS = ("spec_math proof certificate, version 1",)
ANY = frozenset((-1, 0, 1))


def demand(condition, reason):
    """Raise an error with the reason unless the condition holds."""
    if not condition:
        raise ValueError(reason)


def plain(value):
    """Check that a value is made of lists, words that can be printed, whole numbers and null: without 1.0 and true."""
    demand(type(value) in (list, str, int, type(None)) and str(value).isprintable(), f"{value!r:.40} is not plain")
    for part in value if type(value) is list else ():
        plain(part)


def once(pairs):
    """Return pairs as a table, in which each key stands once."""
    found = dict(pairs)
    demand(len(found) == len(pairs), "an entry stands twice")
    return found


def fraction(text):
    """Return a number that is written as 2, -2 or 1/2."""
    demand(re.fullmatch("-?[0-9]+(/[1-9][0-9]*)?", text), f"no fraction: {text}")
    return Fraction(text)


def plus(first, second, factor=1):
    """Return first + factor · second, polynomials {exponents: coefficient} without coefficients of 0."""
    found = dict(first)
    for powers, number in second.items():
        found[powers] = found.get(powers, 0) + factor * number
    return {powers: number for powers, number in found.items() if number}


def times(first, second, power=1):
    """Return first · second^power."""
    for _ in range(power):
        found = defaultdict(int)
        for (one, number), (two, factor) in pairs(first.items(), second.items()):
            found[tuple(map(int.__add__, one, two))] += number * factor
        first = plus({}, found)
    return first


def with_value(one, variable, value):
    """Return a polynomial with a value put in for a variable."""
    rests = (({(*own[:variable], 0, *own[variable + 1 :]): number}, own[variable]) for own, number in one.items())
    return reduce(plus, (times(rest, value, power) for rest, power in rests), {})


def fact(one, signs):
    """Return the multiple of a polynomial that is whole, without common divisor, with a leading term > 0; its signs."""
    size = Fraction(gcd(*(n.numerator for n in one.values())), lcm(*(n.denominator for n in one.values())))
    sign = -1 if one and one[max(one)] < 0 else 1
    return {powers: int(sign * number / size) for powers, number in one.items()}, frozenset(sign * own for own in signs)


def key(one):
    """Return the terms of a polynomial, by which it is found."""
    return frozenset(one.items())


def known_of(facts):
    """Return the signs that each polynomial can have by all facts about it, {key: signs}."""
    known = {frozenset(): frozenset((0,))}
    for one, signs in facts:
        known[key(one)] = known.get(key(one), ANY) & signs
    return known


def product(numbers, signs, power):
    """Return what x · y^power can be, but for the size of y, from the numbers that x can be and the signs of y."""
    return {one * other ** abs(power) for one in numbers for other in signs}


def signs_of(numbers):
    """Return the signs of numbers."""
    return {(one > 0) - (one < 0) for one in numbers}


class Proof:
    """A certificate that is being checked, and counts of its nodes by kind."""

    def __init__(self, document):
        self.document, self.trees, self.counts = document, {}, Counter()
        demand(len(document) == 11, "an entry is one too many")
        plain([*document.values()])
        demand(all(size > 0 for size in once(document["laws"]).values()), "a distribution has no tokens")
        self.size = sum(size - 1 for _, size in document["laws"]) + len(document["scalars"])
        self.one = {(0,) * self.size: 1}
        self.variables = [{tuple(int(at == own) for own in range(self.size)): 1} for at in range(self.size)]
        self.polynomials = [once([(tuple(own), fraction(n)) for n, own in one]) for one in document["polynomials"]]
        demand(all(len(own) == self.size and min(own) >= 0 for one in self.polynomials for own in one), "an exponent")

    def masses(self, values):
        """Return the masses {(distribution, token): mass}, where the last is 1 minus the others; and the numbers."""
        found, left = {}, list(values)
        for law, size in self.document["laws"]:
            own, left = left[: size - 1], left[size - 1 :]
            rest = reduce(lambda rest, mass: plus(rest, mass, -1), own, self.one)
            found.update({(law, token): mass for token, mass in enumerate([*own, rest])})
        return found, left

    def facts(self):
        """Return the facts about all distributions: no mass is negative, and numbers are at least 1."""
        masses, numbers = self.masses(self.variables)
        return tuple(fact(one, (0, 1)) for one in (*masses.values(), *(plus(one, self.one, -1) for one in numbers)))

    def walk(self):
        """Check each node of the tree of signs, from the facts about all distributions on; return what was checked."""
        waiting = [(0, self.facts(), self.variables)]
        while waiting:
            at, facts, values = waiting.pop()
            kind, *rest = self.document["nodes"][at]
            known, where = known_of(facts), f"at node {at}"
            self.counts[kind] += 1
            if kind == "ask":
                waiting += self.branches(at, facts, known, values, *rest)
            elif kind == "empty":
                self.empty(where, facts, known, *rest)
            elif kind == "outside":
                demand(self.quotient(*rest, known)[2] == {1}, f"the hypothesis may hold {where}")
            elif kind == "leaf":
                self.leaf(where, known, values, *rest)
            else:
                demand([kind, *rest] == ["z3"], f"a node is of no kind {where}")
        return self.said()

    def branches(self, at, facts, known, values, place, below):
        """Yield the nodes below one that asks for a sign, with their facts and the values of all variables."""
        asked = self.polynomials[place]
        demand(known.get(key(asked), ANY) <= {one for own, _, _ in below for one in own}, f"node {at} lacks a sign")
        for signs, node, solved in below:
            demand(node > at, f"node {at} leads back")
            more, put = (*facts, fact(asked, signs)), values
            if solved is not None:
                variable, value = solved[0], self.polynomials[solved[1]]
                same = fact(asked, ())[0] == fact(plus(self.variables[variable], value, -1), ())[0]
                demand(same and signs == [0] and variable >= 0, f"node {at} does not solve an equality")
                more = tuple(fact(with_value(one, variable, value), own) for one, own in more)
                put = [with_value(one, variable, value) for one in values]
            yield node, more, put

    def empty(self, where, facts, known, terms):
        """Check that terms, none negative by the facts and one positive, sum to 0; facts may contradict each other."""
        total, positive = {}, not all(known.values())
        for number, places, factor in terms:
            term, values = plus({}, self.one, fraction(number)), (fraction(number),)
            for place, power in Counter(places).items():
                term, values = times(term, facts[place][0], power), product(values, known[key(facts[place][0])], power)
            demand(signs_of(values) <= ({0, 1} if factor is None else {0}), f"a term of a witness may be < 0 {where}")
            total = plus(total, times(term, self.one if factor is None else self.polynomials[factor]))
            positive = positive or signs_of(values) == {1}
        demand(positive and not total, f"the witness has no positive term, or does not sum to 0, {where}")

    def quotient(self, function, known):
        """Return a function as a polynomial, its divisors {polynomial: power}, and the signs that it can have."""
        number, factors = self.document["functions"][function]
        top, values = plus({}, self.one, fraction(number)), (fraction(number),)
        for one, power in once(factors).items():
            top = times(top, self.polynomials[one], power)
            values = product(values, known.get(key(self.polynomials[one]), ANY), power)
        return top, -Counter(dict(factors)), signs_of(values)

    def total(self, terms):
        """Return the sum of quotients, each times a number, over the least divisors that all have in common."""
        common, found = reduce(Counter.__or__, (own for _, (_, own, *_) in terms), Counter()), {}
        for number, (top, own, *_) in terms:
            for one, power in (common - own).items():
                top = times(top, self.polynomials[one], power)
            found = plus(found, top, number)
        return found, common

    def tree(self, at):
        """Return the probability of each outcome of a tree of coins, as quotients; and the coins."""
        kind, *rest = self.document["coins"][at]
        if kind == "emit":
            return {rest[0]: (self.one, Counter())}, set()
        if at not in self.trees:
            parts, coins = defaultdict(list), {at}
            for function, below in zip(*rest, strict=True):
                demand(below is None or 0 <= below < at, f"coin {at} leads back")
                top, divisors, _ = self.quotient(function, {})
                law, own = self.tree(below) if below is not None else ({}, set())
                coins |= own
                for outcome, (mass, more) in law.items():
                    parts[outcome].append((1, (times(top, mass), divisors + more)))
            self.trees[at] = {outcome: self.total(terms) for outcome, terms in parts.items()}, coins
        return self.trees[at]

    def claims(self, at, formulas, values):
        """Yield sums of quotients that are to be 0, each with its words."""
        (emitted, coins), masses = self.tree(at), self.masses(values)[0]
        wanted = once(self.document["wanted"])
        for outcome in {**emitted, **wanted} if wanted else ():
            own = reduce(times, (masses[law, token] for law, token in wanted[outcome]), self.one)
            yield f"P({outcome})", [(1, emitted.get(outcome, ({}, Counter()))), (-1, (own, Counter()))]
        for (what, numbers), function in zip(self.document["formulas"], formulas, strict=True):
            terms = [(fraction(once(numbers)[outcome]), own) for outcome, own in emitted.items()]
            yield what, [*terms, (-1, self.quotient(function, {}))]
        for coin in coins:
            terms = [(1, self.quotient(function, {})) for function in self.document["coins"][coin][1]]
            yield "a sum of masses minus 1", [*terms, (-1, (self.one, Counter()))]

    def leaf(self, where, known, values, coin, formulas):
        """Check the coins of a region, and that each claim holds on it."""
        for what, terms in self.claims(coin, formulas, values):
            top, divisors = self.total(terms)
            zeros = [one for one in divisors if 0 in known.get(key(self.polynomials[one]), ANY)]
            demand(not zeros, f"a divisor may be 0 {where}")
            demand(known.get(key(fact(top, ())[0])) == {0}, f"{what} is not as it should be {where}")
        for at in self.tree(coin)[1]:
            for function, child in zip(*self.document["coins"][at][1:], strict=False):
                signs = self.quotient(function, known)[2]
                demand(signs <= ({0} if child is None else {0, 1}), f"a mass is negative, or has no branch, {where}")

    def said(self):
        """Return what was checked, and what is assumed and was not."""
        own, count, means = self.document, self.counts, [what for what, _ in self.document["formulas"]]
        claims = [f"P({to}) = " + "·".join(f"{law}({at})" for law, at in row) for to, row in own["wanted"]]
        demand(claims + means and count["leaf"], "nothing is claimed, or no region is judged")
        laws = [f"{law} on {size} tokens" for law, size in own["laws"]] + own["scalars"]
        but = f" but for {count['z3']} region{'s' * (count['z3'] > 1)} that z3 alone found empty" if count["z3"] else ""
        return (
            f"{own['theorem']} ({own['scope']}) is proved{but}. Checked: for all {', '.join(laws)}, "
            f"{', '.join(claims + means)}; {count['leaf']} regions judged, {count['empty']} empty by a witness, "
            f"{count['z3']} by z3 alone, {count['outside']} outside of the hypothesis. It is assumed that the theorem "
            f"claims this, and that the coins and the values of {', '.join([*means, 'hypothesis'])} are its own."
        )


def check(document, function=None):
    """Return the sentence on what was checked and what is assumed; raise ValueError where the certificate fails."""
    demand(function is None, "a proof has coins with polynomials for masses: no function can be replayed on them")
    try:
        demand(document["format"] in FORMATS, "its format is another")
        return Proof(document).walk()
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(f"it cannot be read: {type(error).__name__}: {error}") from error


def main(argv):
    """Check a file: exit code 0 where the certificate holds, 1 where it does not, 2 where it is no certificate."""
    code = 2
    try:
        content = Path(argv[0]).read_bytes()
        document = json.loads(gzip.decompress(content) if argv[0].endswith(".gz") else content, object_pairs_hook=once)
        code = 1 if document["format"] in FORMATS else 2
        print(check(document))
        return 0
    except Exception as error:  # whatever a file may hold
        print(f"{'Rejected' if code == 1 else 'No certificate of a proof'}: {error}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
