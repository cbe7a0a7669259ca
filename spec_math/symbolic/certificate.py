"""Certificates of symbolic proofs: the tree of signs, the coins of each region, and witnesses of the empty ones."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path as File
from typing import Any, NamedTuple

from spec_math.certificates import check_proof, write
from spec_math.certificates.check_proof import fact, key, known_of, with_value
from spec_math.certificates.tree import Claim, Noting
from spec_math.chance import Coin, Enumerating, Path, paths
from spec_math.masses import as_list
from spec_math.scheme import Tokens
from spec_math.symbolic.number import Number
from spec_math.symbolic.polynomial import NEGATIVE, POSITIVE, ZERO
from spec_math.symbolic.proof import Proof, prove
from spec_math.symbolic.region import SignNode
from spec_math.symbolic.theorem import AsFormulas, Theorem
from spec_math.symbolic.witness import Facts, Polynomial, Witness, alone, whole, witness
from spec_math.verdict_values import Lossless

_SETS = [frozenset(own) for many in range(4) for own in combinations((-1, 0, 1), many)]


class Held(NamedTuple):
    """The paths of a program on a region, and what its outcomes are to be.

    `formulas` as those of a verdict `AsFormulas`; `rows` are the names that the target's distribution after each text
    may have. Outside of the hypothesis there are no paths, and `excess` is positive.
    """

    walked: list[Path]
    formulas: Mapping[str, tuple[Any, Any]]
    rows: dict[Tokens, set[str]]
    excess: Any = None


def certified(theorem: Theorem, **options: Any) -> tuple[Proof, dict[str, Any] | None]:
    """Prove a theorem as `prove` does, `options` being those of `prove`; return the proof and its certificate.

    Only a proved theorem has a certificate of this kind.

    Raises:
        ValueError: the verdict of the theorem's statement names no program.
    """
    held: list[Held] = []
    tree, unknown = SignNode(lambda: held.pop() if held else None), list[Any]()

    def statement(*parameters: Any) -> Any:
        verdict = theorem.statement(*parameters)
        region = None if tree.space is None else tree.space.running
        # Paths are walked in a region's first run alone, in which a question may split it (`later`), and what they ask
        # is taken off the record: the second run asks what the statement does, and is compared with the first.
        if region is not None and region.later is not None and (verdict is None or verdict):
            if isinstance(verdict, AsFormulas | Lossless) or (verdict is None and theorem.hypothesis is not None):
                asked = len(region.asked)
                held[:] = [_held(theorem, verdict, parameters)]
                del region.asked[asked:]
            else:
                unknown.append(verdict)
        return verdict

    proof = prove(replace(theorem, statement=statement), tree=tree, **options)
    if proof and unknown:
        raise ValueError(f"the verdict {unknown[0]!r} of {theorem.name} names no program that a certificate could show")
    if not proof:
        return proof, None
    collects = gc.isenabled()
    gc.disable()  # what was walked is large and without cycles, and would be looked through again and again
    try:
        return proof, _Writer(theorem, tree).document
    finally:
        if collects:
            gc.enable()


def saved(theorem: Theorem, place: File, **options: Any) -> Proof:
    """Prove a theorem as `prove` does, and write its certificate; a refuted one has that of its counterexample.

    Raises:
        OSError: the file cannot be written. ValueError: the checker rejects the certificate; the file is not written.
    """
    proof, document = certified(theorem, **options)
    if document is not None:
        _ = check_proof.check(document)
        write(place, [json.dumps(document, ensure_ascii=False, separators=(",", ":"))])
        kinds = [node[0] for node in document["nodes"]]
        return replace(proof, witnesses=kinds.count("empty"), z3_alone=kinds.count("z3"))
    found = proof.counterexample
    if found is not None and getattr(found.verdict, "evidence", ()):
        found.verdict.certificate().save(place)
    return proof


def _held(theorem: Theorem, verdict: Any, parameters: Sequence[Any]) -> Held:
    if theorem.hypothesis is not None and verdict is None:
        return Held([], {}, {}, theorem.hypothesis(*parameters))
    if isinstance(verdict, AsFormulas):
        return Held(list(paths(verdict.program)), verdict.formulas, {})
    (claim,) = verdict.certificate().claims
    names: dict[Any, set[str]] = {}
    for name, masses in zip(theorem.laws, parameters, strict=False):
        if name.startswith("t"):
            names.setdefault(_functions(masses), set()).add(name)
    rows: dict[Tokens, set[str]] = {}
    texts: list[Tokens] = [()]
    for text in texts:
        if not claim.over(text):
            row = claim.target(text)
            rows[text] = names[_functions(row)]
            texts += [(*text, token) for token in range(len(row))]
    return Held(list(paths(lambda coin: _text(claim, coin))), {}, rows)


def _functions(row: Any) -> tuple[Any, ...]:
    return tuple(mass.value if isinstance(mass, Number) else mass for mass in as_list(row))


def _text(claim: Claim, coin: Coin) -> Tokens:
    """Emit the blocks of a claim, and go on with the target up to its horizon."""
    text: Tokens = ()
    if not isinstance(coin, Enumerating):
        raise TypeError("the paths of a proof are enumerated")
    for _ in range(claim.header["rounds"]):
        if not claim.over(text):
            block = claim.program(text)(Noting(coin))
            text = (*text, *(block if isinstance(block, tuple | list) else (block,)))[: claim.header["horizon"]]
    while not claim.over(text):
        text = (*text, coin.draw(claim.target(text)))
    return text


class _Reader(check_proof.Proof):
    """The checker of a certificate that is being written, which keeps what is so on every region."""

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document)
        self.kept: dict[int, Any] = {}

    def quotient(self, function: int, known: Any) -> Any:
        """Return what the checker does; what is so without facts is found once."""
        if function not in self.kept:
            top, divisors, _ = super().quotient(function, {})
            self.kept[function] = whole(top), divisors
        number, factors = self.document["functions"][function]
        values: Any = (check_proof.fraction(number),)
        for one, power in factors:
            values = check_proof.product(values, known.get(key(self.polynomials[one]), check_proof.ANY), power)
        return (*self.kept[function], check_proof.signs_of(values))


class _Writer:
    """A certificate that is being written, with the checker's own view of it."""

    def __init__(self, theorem: Theorem, tree: SignNode) -> None:
        leaves = [held for held in _leaves(tree) if held.walked]
        outcomes = dict.fromkeys(path.outcome for held in leaves for path in held.walked)
        # On some region all distributions differ, so that one name is left.
        rows = {text: min(set.intersection(*(held.rows[text] for held in leaves))) for text in leaves[0].rows}
        texts = [text for text in _texts(rows, dict(theorem.laws)) if text not in rows]
        self.document: dict[str, Any] = {
            "format": check_proof.FORMATS[0],
            "theorem": theorem.name,
            "scope": theorem.scope,
            "laws": [[name, size] for name, size in theorem.laws.items()],
            "scalars": list(theorem.scalars),
            "wanted": [[str(text), [[rows[text[:at]], text[at]] for at in range(len(text))]] for text in texts if rows],
            "formulas": [
                [what, [[str(outcome), str(int(number(outcome)))] for outcome in outcomes]]
                for what, (number, _) in leaves[0].formulas.items()
            ],
            **{table: [] for table in ("polynomials", "functions", "coins", "nodes")},
        }
        self.checker: Any = _Reader(self.document)
        self.places: dict[tuple[str, Any], int] = {}
        self.served: list[tuple[frozenset[Any], list[Any]]] = []
        self.vain: set[Any] = set()
        self.write(tree, self.checker.facts(), self.checker.variables)

    def write(self, tree: SignNode, facts: Facts, values: list[Polynomial]) -> None:
        """Write the nodes of a tree of signs, each before those below it."""
        nodes: list[Any] = self.document["nodes"]
        waiting: list[tuple[SignNode, Facts, list[Polynomial], list[Any]]] = [(tree, facts, values, [[], None, None])]
        while waiting:
            node, facts, values, branch = waiting.pop()
            branch[1] = len(nodes)
            if not node.parts:
                self.end(node.held, facts, values)
                continue
            own: Polynomial = dict(node.polynomial.terms) if node.polynomial is not None else {}
            nodes.append(["ask", self.polynomial(own), []])
            for wanted, part in node.parts.items():
                signs = [sign for sign, one in ((1, POSITIVE), (0, ZERO), (-1, NEGATIVE)) if one & wanted]
                more, put, solved = (*facts, fact(own, signs)), values, None
                if part.solved is not None:
                    value = alone(own, part.solved)
                    more = tuple(fact(with_value(one, part.solved, value), had) for one, had in more)
                    put = [with_value(one, part.solved, value) for one in values]
                    solved = [part.solved, self.polynomial(value)]
                nodes[branch[1]][2].append([signs, None, solved])
                waiting.append((part, more, put, nodes[branch[1]][2][-1]))

    def end(self, held: Held | None, facts: Facts, values: list[Polynomial]) -> None:
        """Write the nodes that a branch ends in."""
        nodes, known = self.document["nodes"], known_of(facts)
        if held is None:
            nodes.append(self.empty(self.witness(facts)))
        elif not held.walked:
            nodes.append(["outside", self.function(held.excess, known)])
        else:
            coin = self.coins(held.walked, known)
            formulas = [self.function(value, known) for _, value in held.formulas.values()]
            for _, terms in self.checker.claims(coin, formulas, values):
                top, _ = fact(self.checker.total(terms)[0], ())
                if top and set(known.get(key(top)) or ()) != {0}:
                    facts = self.narrowed(top, facts, {0})
                    known = known_of(facts)
            coins = [zip(*self.document["coins"][at][1:], strict=True) for at in sorted(self.checker.tree(coin)[1])]
            for function, ends in dict.fromkeys((function, child is None) for own in coins for function, child in own):
                signs = self.checker.quotient(function, known)[2]
                if not signs <= {0, 1} or (ends and signs != {0}):
                    for one, _ in self.document["functions"][function][1]:
                        facts = self.narrowed(self.checker.polynomials[one], facts, set())
                        known = known_of(facts)
            nodes.append(["leaf", coin, formulas])

    def narrowed(self, top: Polynomial, facts: Facts, left: set[int]) -> Facts:
        """Write the node that asks for a sign of a polynomial, and the witnesses of those that it cannot have.

        Without signs that are `left`, those are left of which no witness is found.
        """
        nodes, had = self.document["nodes"], known_of(facts).get(key(top), check_proof.ANY)
        longest = 100 if left else 2  # most signs are possible, and a long search for a witness is in vain
        found = {sign: self.witness((*facts, fact(top, (sign,))), longest) for sign in had - left}
        gone = {sign: terms for sign, terms in found.items() if left or terms is not None}
        ends = [[sign] for sign in gone] + [sorted(had - {*gone})]
        branches = [[signs, len(nodes) + at, None] for at, signs in enumerate(ends, 1)]
        nodes.append(["ask", self.polynomial(top), branches])
        nodes += [self.empty(terms) for terms in gone.values()]
        return (*facts, fact(top, ends[-1]))

    def empty(self, found: Witness | None) -> list[Any]:
        """Return the node of an empty region."""
        if found is None:
            return ["z3"]
        factors = [None if factor is None else self.polynomial(factor) for _, _, factor in found]
        terms = zip(found, factors, strict=True)
        return ["empty", [[str(number), list(places), factor] for (number, places, _), factor in terms]]

    def witness(self, facts: Facts, longest: int = 100) -> Witness | None:
        """Return a witness that a region is empty: one that served before for such facts, or a new one."""
        known, places = known_of(facts), {key(own): place for place, (own, _) in enumerate(facts)}
        if not all(known.values()):
            return []  # the facts contradict each other: no sum is needed
        atoms = {(own, more) for own, signs in known.items() for more in _SETS if signs <= more}
        for needed, terms in self.served:
            if needed <= atoms:
                return [(number, tuple(places[own] for own in owns), factor) for number, owns, factor in terms]
        searched = (frozenset(known.items()), longest)
        if searched in self.vain:
            return None
        found = witness(tuple((own, known[key(own)]) for own, _ in facts), self.checker.size, longest)
        if found is None:
            self.vain.add(searched)
        else:
            terms = [(number, tuple(key(facts[place][0]) for place in own), factor) for number, own, factor in found]
            self.served.append((frozenset((own, known[own]) for _, owns, _ in terms for own in owns), terms))
        return found

    def entry(self, table: str, value: list[Any], known: Any) -> int:
        """Return the place of an entry of a table, in which each stands once."""
        place = self.places.setdefault((table, known), len(self.document[table]))
        if place == len(self.document[table]):
            self.document[table].append(value)
        return place

    def polynomial(self, one: Polynomial) -> int:
        """Return the place of a polynomial."""
        terms = [[str(number), list(powers)] for powers, number in sorted(one.items())]
        place = self.entry("polynomials", terms, key(one))
        if place == len(self.checker.polynomials):
            self.checker.polynomials.append(dict(one))
        return place

    def function(self, value: Any, known: Mapping[Any, Any]) -> int:
        """Return the place of a number: a fraction times powers of its factors, or of a polynomial of the facts."""
        number, powers = Fraction(1), list[tuple[Any, int]]()
        if isinstance(value, Number):
            top, bottom = value.value.top.primitive(), value.value.bottom.factors()
            above = (top[0], ((top[1], 1),)) if key(top[1].terms) in known else value.value.top.factors()
            number, powers = Fraction(above[0], bottom[0]), [*above[1], *((one, -power) for one, power in bottom[1])]
        else:
            number = Fraction(value)
        factors = [[self.polynomial(dict(one.terms)), power] for one, power in powers]
        return self.entry("functions", [str(number), factors], (number, *map(tuple, factors)))

    def coins(self, walked: Sequence[Path], known: Mapping[Any, Any], depth: int = 0) -> int:
        """Return the place of the tree of coins of paths that share their first choices."""
        if depth == len(walked[0].taken):
            outcome = str(walked[0].outcome)
            return self.entry("coins", ["emit", outcome], outcome)
        kind, asked, options, _ = walked[0].taken[depth]
        groups: dict[Any, list[Path]] = {}
        for path in walked:
            groups.setdefault(options[path.taken[depth][3]][0], []).append(path)
        children = {answer: self.coins(own, known, depth + 1) for answer, own in groups.items()}
        masses, answers = (asked, range(len(asked))) if kind == "draw" else ([asked, 1 - asked], (True, False))
        functions = [self.function(mass, known) for mass in masses]
        below = [children.get(answer) for answer in answers]
        return self.entry("coins", [kind, functions, below], (kind, *functions, *below))


def _leaves(node: SignNode) -> Iterator[Held]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        waiting += node.parts.values()
        if node.held is not None:
            yield node.held


def _texts(rows: Mapping[Tokens, str], sizes: Mapping[str, int]) -> list[Tokens]:
    """Return all texts, each after those that it begins with; those without a row are over."""
    texts: list[Tokens] = [()]
    for text in texts:
        texts += [(*text, token) for token in range(sizes[rows[text]])] if text in rows else []
    return texts
