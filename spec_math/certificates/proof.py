"""Certificates of symbolic proofs: the tree of signs, the coins of each region, and witnesses of the empty ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from spec_math.certificates import check_proof
from spec_math.certificates.check_proof import Facts, Polynomial, fact, key, known_of, normal, over, plus, times, with_value
from spec_math.certificates.witness import Witness, witness
from spec_math.chance import paths
from spec_math.masses import Cumulative, as_list
from spec_math.symbolic.number import Number
from spec_math.symbolic.polynomial import NEGATIVE, POSITIVE, ZERO, Ring
from spec_math.symbolic.polynomial import Polynomial as Ours
from spec_math.symbolic.proof import Proof, prove
from spec_math.symbolic.region import SignNode
from spec_math.symbolic.theorem import Counterexample, Evidence, Theorem

WEAKER = {
    signs: [more for more in SETS if signs <= more]
    for SETS in [[frozenset(own) for many in range(4) for own in combinations((-1, 0, 1), many)]]
    for signs in SETS
}
"""The sets of signs that follow from each set."""

Taken = tuple[tuple[str, Any, list[tuple[Any, Any]], int], ...]


class Held(NamedTuple):
    """The evidence on a region, and the paths of its program; none where the region is outside of the hypothesis."""

    evidence: Evidence
    walked: list[tuple[Any, Taken]] | None


def certified(theorem: Theorem, **options: Any) -> tuple[Proof, dict[str, Any] | None]:
    """Prove a theorem as `prove` does; return the proof and its certificate, None where the theorem is left open.

    A refuted theorem has its counterexample for a certificate, where all paths of its program return there.

    Raises:
        ValueError: the theorem names no program.
    """
    evidence, held = theorem.evidence, list[Held]()
    if evidence is None:
        raise ValueError(f"{theorem.name} names no program, so no certificate of it can be written")
    tree = SignNode(held.pop)

    def statement(*parameters: Any) -> Any:
        verdict = theorem.statement(*parameters)
        if tree.space is not None and tree.space.running is not None and (verdict is None or verdict):
            found = evidence(*parameters)
            held[:] = [Held(found, None if verdict is None else _walked(found))]
        return verdict

    proof = prove(replace(theorem, statement=statement), tree=tree, **options)
    if proof and tree.space is not None:
        return proof, Writer(theorem, tree.space.field.ring).proved(tree)
    return proof, None


def _walked(evidence: Evidence) -> list[tuple[Any, Taken]]:
    return [(path.outcome, path.taken) for path in paths(evidence.program)]


class Writer:
    """A certificate that is being written, with the checker's own view of it."""

    def __init__(self, theorem: Theorem, ring: Ring) -> None:
        self.ring = ring
        self.document: dict[str, Any] = {
            "format": check_proof.FORMATS[0],
            "theorem": theorem.name,
            "scope": theorem.scope,
            "laws": [[name, size] for name, size in theorem.laws.items()],
            "scalars": list(theorem.scalars),
            "polynomials": [],
            "functions": [],
            "coins": [],
            "wanted": [],
            "formulas": [],
            "bounds": [],
        }
        self.checker = check_proof.Proof(self.document)
        self.places: dict[tuple[str, Any], int] = {}
        self.served: list[tuple[frozenset[Any], list[Any]]] = []

    def proved(self, tree: SignNode) -> dict[str, Any]:
        """Return the certificate of a proof with this tree of signs."""
        nodes: list[Any] = []
        self.document["nodes"] = nodes
        waiting: list[tuple[SignNode, Facts, list[Polynomial], list[Any] | None]] = [
            (tree, self.checker.everywhere(), self.checker.variables, None)
        ]
        while waiting:
            node, facts, values, branch = waiting.pop()
            if branch is not None:
                branch[1] = len(nodes)
            if not node.parts:
                nodes += self.ended(node, facts, values, len(nodes))
                continue
            assert node.polynomial is not None
            own: Polynomial = dict(node.polynomial.terms)
            branches: list[list[Any]] = []
            for wanted, part in node.parts.items():
                signs = [sign for sign, one in ((1, POSITIVE), (0, ZERO), (-1, NEGATIVE)) if one & wanted]
                more, put = (*facts, fact(own, signs)), values
                if part.solved is not None:
                    value = self.checker.solved(own, part.solved)
                    more = tuple(fact(with_value(one, part.solved, value), had) for one, had in more)
                    put = [with_value(one, part.solved, value) for one in values]
                branches.append([signs, None, part.solved])
                waiting.append((part, more, put, branches[-1]))
            nodes.append(["ask", self.polynomial(own), branches])
        return self.document

    def ended(self, node: SignNode, facts: Facts, values: list[Polynomial], at: int) -> list[Any]:
        """Return the nodes that a branch ends in."""
        if node.held is None:
            return [self.empty(facts, self.witness(facts))]
        evidence, walked = node.held
        known = known_of(facts)
        if walked is None:
            return [["outside", self.function(evidence.hypothesis, known)]]
        coin = self.coins(walked, known)
        labels = dict.fromkeys(outcome for outcome, _ in walked)
        if not self.document["wanted"] and not self.document["formulas"] and not self.document["bounds"]:
            self.document["wanted"] = [[str(o), [list(one) for one in own]] for o, own in evidence.wanted.items()]
            self.document["formulas"] = [[what, []] for what in evidence.formulas]
            self.document["bounds"] = list(evidence.bounds)
        for entry, (number, _) in zip(self.document["formulas"], evidence.formulas.values(), strict=True):
            entry[1] += [[str(o), str(number(o))] for o in labels if str(o) not in dict(entry[1])]
        formulas = [self.function(value, known) for _, value in evidence.formulas.values()]
        bounds = [self.function(value, known) for value in evidence.bounds.values()]
        found: list[Any] = []
        for top in self.left(coin, formulas, known, values):
            # A difference that is 0 by equalities: its two signs are shown to be impossible.
            below = at + len(found)
            here = len(facts)
            found.append(["ask", self.polynomial(top), [[[1], below + 1, None], [[-1], below + 2, None], [[0], below + 3, None]]])
            found += [self.empty((*facts, fact(top, (sign,))), self.vanishing(top, facts, here, sign)) for sign in (1, -1)]
            facts = (*facts, fact(top, (0,)))
        return [*found, ["leaf", coin, formulas, bounds]]

    def empty(self, facts: Facts, found: Witness | None) -> list[Any]:
        """Return the node of an empty region."""
        if found is None:
            return ["z3"]
        terms = [
            [str(number), list(places), None if factor is None else self.polynomial(factor)]
            for number, places, factor in found
        ]
        return ["empty", terms]

    def left(self, coin: int, formulas: list[int], known: Any, values: list[Polynomial]) -> Iterator[Polynomial]:
        """Yield the polynomials that must be 0 on a region, and are not said to be by a fact."""
        sums = [terms for _, terms in self.checker.claims(coin, formulas, values)]
        found: dict[Any, None] = {}
        for terms in (*sums, *self.sums(coin, set())):
            top = normal(self.checker.total(terms)[0])[1]
            if top and known.get(key(top)) != {0} and key(top) not in found:
                found[key(top)] = None
                yield top

    def sums(self, at: int, seen: set[int]) -> Iterator[Any]:
        """Yield the sum of the masses minus 1 of each coin of a tree."""
        kind, *rest = self.document["coins"][at]
        if kind != "emit" and at not in seen:
            seen.add(at)
            yield [*((1, self.checker.quotient(function)) for function in rest[0]), (-1, (self.checker.one, {}))]
            for below in rest[1]:
                if below is not None:
                    yield from self.sums(below, seen)

    def vanishing(self, top: Polynomial, facts: Facts, here: int, sign: int) -> Witness | None:
        """Return a witness that a polynomial is not of a sign: it is a multiple of an equality."""
        known = known_of(facts)
        for place, (own, _) in enumerate(facts):
            if own and known[key(own)] == {0}:
                quotient = over(top, own)
                if quotient is not None:
                    return [(Fraction(sign), (here,), None), (Fraction(1), (place,), plus({}, quotient, -sign))]
        return self.witness((*facts, fact(top, (sign,))))

    def witness(self, facts: Facts) -> Witness | None:
        """Return a witness that a region is empty: one that served before for the same facts, or a new one."""
        known, places = known_of(facts), {key(own): place for place, (own, _) in enumerate(facts)}
        if not all(known.values()):
            return []  # the facts contradict each other: no sum is needed
        atoms = {(own, more) for own, signs in known.items() for more in WEAKER[signs]}
        for needed, terms in self.served:
            if needed <= atoms:
                return [(number, tuple(places[own] for own in owns), factor) for number, owns, factor in terms]
        found = witness(tuple((own, known[key(own)]) for own, _ in facts), self.checker.size)
        if found is not None:
            used = {key(facts[place][0]) for _, own, _ in found for place in own}
            terms = [(number, tuple(key(facts[place][0]) for place in own), factor) for number, own, factor in found]
            self.served.append((frozenset((own, known[own]) for own in used), terms))
        return found

    # The tables: each polynomial, each product of powers and each coin stands there once

    def entry(self, table: str, known: Any, value: Any) -> int:
        """Return the place of an entry of a table."""
        place = self.places.setdefault((table, known), len(self.document[table]))
        if place == len(self.document[table]):
            self.document[table].append(value)
        return place

    def polynomial(self, one: Polynomial) -> int:
        """Return the place of a polynomial."""
        place = self.entry("polynomials", key(one), [[str(n), list(powers)] for powers, n in sorted(one.items())])
        if place == len(self.checker.polynomials):
            self.checker.polynomials.append(dict(one))
            self.checker.keys.append(key(one))
        return place

    def function(self, value: Any, known: Mapping[Any, Any]) -> int:
        """Return the place of a number: a fraction times powers of polynomials, of factors or of those of the facts."""
        if not isinstance(value, Number):
            return self.entry("functions", (Fraction(value), ()), [str(value), []])
        content, top = value.value.top.primitive()
        above, below = value.value.top.factors(), value.value.bottom.factors()
        above = (content, ((top, 1),)) if key(dict(top.terms)) in known else above
        powers = [(one, power) for one, power in above[1]] + [(one, -power) for one, power in below[1]]
        number = Fraction(above[0], below[0])
        factors = [[self.polynomial(dict(one.terms)), power] for one, power in powers]
        return self.entry("functions", (number, tuple(map(tuple, factors))), [str(number), factors])

    def coins(self, walked: Sequence[tuple[Any, Taken]], known: Mapping[Any, Any], depth: int = 0) -> int:
        """Return the place of the tree of coins of paths that share their first choices."""
        outcome, taken = walked[0]
        if depth == len(taken):
            return self.entry("coins", ("emit", str(outcome)), ["emit", str(outcome)])
        kind, question, options, _ = taken[depth]
        if kind == "flip":
            masses = [question, 1 - question]
        else:
            masses = question.masses if isinstance(question, Cumulative) else as_list(question)
        groups: dict[int, list[tuple[Any, Taken]]] = {}
        for path in walked:
            groups.setdefault(path[1][depth][3], []).append(path)
        followed = {int(options[place][0]): self.coins(own, known, depth + 1) for place, own in groups.items()}
        order = (1, 0) if kind == "flip" else range(len(masses))
        below = [followed.get(answer) for answer in order]
        own = [kind, [self.function(mass, known) for mass in masses], below]
        return self.entry("coins", (kind, tuple(own[1]), tuple(below)), own)
