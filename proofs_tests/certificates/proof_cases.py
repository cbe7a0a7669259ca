"""Changes of a right certificate of a proof by hand, each of which the checker rejects."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

Change = Callable[[dict[str, Any]], None]

K_SEQ = "K-SEQ: lossless", "all distributions on 2 tokens, 3 drafts, every γ with f(γ) ≤ 0"
"""Its certificate has regions outside of the hypothesis, equalities of higher degree and products as witnesses."""


def nodes(document: dict[str, Any], kind: str) -> list[list[Any]]:
    return [node for node in document["nodes"] if node[0] == kind]


def polynomial(document: dict[str, Any], terms: list[Any]) -> int:
    document["polynomials"].append(terms)
    return len(document["polynomials"]) - 1


def function(document: dict[str, Any], number: str, factors: list[Any]) -> int:
    document["functions"].append([number, factors])
    return len(document["functions"]) - 1


def solved(document: dict[str, Any]) -> list[Any]:
    return next(one for node in nodes(document, "ask") for one in node[2] if one[2] is not None)


def first_term(document: dict[str, Any], **wanted: int) -> list[Any]:
    return next(term for node in nodes(document, "empty") for term in node[1] if len(term[1]) >= wanted.get("facts", 1))


def with_terms(document: dict[str, Any]) -> list[Any]:
    return next(node[1] for node in nodes(document, "empty") if node[1])


def change(path: str, value: Any) -> Change:
    """Return the change of an entry, by its keys and indices."""

    def made(document: dict[str, Any]) -> None:
        *keys, last = [int(one) if one.lstrip("-").isdigit() else one for one in path.split(".")]
        place: Any = document
        for one in keys:
            place = place[one]
        place[last] = value

    return made


def coin(document: dict[str, Any]) -> list[Any]:
    return document["coins"][max(node[1] for node in nodes(document, "leaf"))]


BY_HAND: dict[str, Change] = {
    "a sign is left out": lambda one: one["nodes"][0][2].pop(),
    "a branch leads to its own node": change("nodes.0.2.0.1", 0),
    "a branch leads to the first node": lambda one: nodes(one, "ask")[-1][2][0].__setitem__(1, 0),
    "a branch leads nowhere": change("nodes.0.2.0.1", 10_000),
    "a node of no kind": change("nodes.-1", ["sure"]),
    "an entry too many": lambda one: one["nodes"][0].append([]),
    "an inequality is solved": lambda one: solved(one).__setitem__(0, [1, 0]),
    "solved for another value": lambda one: solved(one)[2].__setitem__(
        1, polynomial(one, [["1", [0] * len(one["polynomials"][0][0][1])]])
    ),
    "solved for another variable": lambda one: solved(one)[2].__setitem__(0, 1 - solved(one)[2][0]),
    "a witness without terms": lambda one: with_terms(one).clear(),
    "a witness loses a term": lambda one: with_terms(one).pop(),
    "a term with another sign": lambda one: first_term(one).__setitem__(0, str(-Fraction(first_term(one)[0]))),
    "a term of 0": lambda one: first_term(one).__setitem__(0, "0"),
    "a fact that is not there": lambda one: first_term(one)[1].__setitem__(0, 1000),
    "another fact": lambda one: first_term(one)[1].__setitem__(0, (first_term(one)[1][0] + 1) % 4),
    "a factor of an inequality": lambda one: first_term(one).__setitem__(
        2, polynomial(one, [["-1", [0] * len(one["polynomials"][0][0][1])]])
    ),
    "a leaf is called empty": lambda one: nodes(one, "leaf")[0].__setitem__(slice(None), ["empty", []]),
    "a leaf is called outside": lambda one: nodes(one, "leaf")[0].__setitem__(
        slice(None), ["outside", function(one, "0", [])]
    ),
    "a leaf without a value": lambda one: nodes(one, "leaf")[0].pop(),
    "another value": lambda one: nodes(one, "leaf")[0].__setitem__(2, [function(one, "7", [])]),
    "the coins of another region": lambda one: nodes(one, "leaf")[0].__setitem__(1, nodes(one, "leaf")[-1][1]),
    "a mass becomes 2": lambda one: coin(one)[1].__setitem__(0, function(one, "2", [])),
    "a mass becomes -1": lambda one: coin(one)[1].__setitem__(
        slice(None), [function(one, "-1", []), function(one, "2", [])]
    ),
    "a branch of the coins is left out": lambda one: coin(one)[2].__setitem__(0, None),
    "a branch of the coins leads back": lambda one: coin(one)[2].__setitem__(0, len(one["coins"]) - 1),
    "a branch of the coins is negative": lambda one: coin(one)[2].__setitem__(0, -1),
    "the branches are exchanged": lambda one: coin(one)[2].reverse(),
    "an outcome is renamed": lambda one: next(own for own in one["coins"] if own[0] == "emit").__setitem__(1, "other"),
    "another mass is wanted": change("wanted.0.1.0.1", 1),
    "a mass of the draft is wanted": change("wanted.0.1.0.0", "d"),
    "an outcome is not wanted": lambda one: one["wanted"].pop(),
    "a distribution on more tokens": change("laws.0.1", 3),
    "an exponent is missing": lambda one: one["polynomials"][0][0][1].pop(),
    "an exponent is negative": change("polynomials.0.0.1.0", -1),
    "a term stands twice": lambda one: one["polynomials"][0].append(one["polynomials"][0][0]),
    "a factor stands twice": lambda one: next(own for own in one["functions"] if own[1])[1].extend([[0, 1], [0, 1]]),
    "a table is missing": lambda one: one.pop("coins"),
}
