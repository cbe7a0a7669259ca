"""A second reading of certificates with paths: every path by itself, no subtree shared, no sum over levels."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Text = tuple[int, ...]


def confirms(document: dict[str, Any], said: str) -> bool:
    """Say whether the sentences on an accepted certificate are true of its trees and its target."""
    sentences = said.splitlines()[:-1]
    if len(sentences) != len(document["claims"]):
        return False
    return all(_holds(claim, sentence) for claim, sentence in zip(document["claims"], sentences, strict=True))


def _holds(claim: dict[str, Any], sentence: str) -> bool:
    emitted, shown, fails = _emitted(claim)
    wanted: dict[Text, Fraction] = {}
    _continue(claim, (), Fraction(1), wanted)
    words = sentence[len(str(claim["of"])) :]
    distance = sum((abs(emitted.get(text, 0) - wanted.get(text, 0)) for text in {**emitted, **wanted}), Fraction(0))
    if ": lossless" in words:
        missing = 1 - shown
        exact = claim["numbers"] == "fractions" and missing == 0
        return (
            not fails
            and missing <= Fraction(1, 10**6)
            and (distance == 0 if exact else distance / 2 <= Fraction(1, 100))
        )
    if claim["verdict"][1] is None:
        return fails
    texts, side = {tuple(text) for text in claim["verdict"][1]}, claim["verdict"][2]
    ours = sum((emitted.get(text, Fraction(0)) for text in texts), Fraction(0))
    theirs = sum((wanted.get(text, Fraction(0)) for text in texts), Fraction(0))
    if side == "more":
        return ours > theirs
    # Whatever is not shown may still be one of the texts, but for the paths that fail.
    others = sum((mass for text, mass in emitted.items() if text not in texts), Fraction(0)) + _failing(claim)
    return 1 - others < theirs


def _emitted(claim: dict[str, Any]) -> tuple[dict[Text, Fraction], Fraction, bool]:
    found: dict[Text, Fraction] = {}
    shown, fails = Fraction(0), False
    for text, mass, fault in _all(claim):
        shown += mass
        fails |= fault
        if not fault:
            _continue(claim, text, mass, found)
    return found, shown, fails


def _failing(claim: dict[str, Any]) -> Fraction:
    return sum((mass for _, mass, fault in _all(claim) if fault), Fraction(0))


def _all(claim: dict[str, Any]) -> Iterator[tuple[Text, Fraction, bool]]:
    """Yield the paths over all blocks: text, mass, and whether it ends in a fault."""
    trees = {tuple(text): place for text, place in claim["trees"]}

    def after(text: Text, mass: Fraction, rounds: int) -> Iterator[tuple[Text, Fraction, bool]]:
        if rounds == 0 or _over(claim, text):
            yield text, mass, False
        elif text in trees:
            for block, chance, fault in _paths(claim, trees[text]):
                if fault:
                    yield text, mass * chance, True
                else:
                    yield from after((text + block)[: claim["horizon"]], mass * chance, rounds - 1)

    return after((), Fraction(1), claim["rounds"])


def _paths(claim: dict[str, Any], place: int) -> Iterator[tuple[Text, Fraction, bool]]:
    kind, asked, *rest = claim["nodes"][place]
    if kind == "emit":
        size = len(next(row for text, row in claim["target"] if text == []))
        outside = not asked or any(not 0 <= token < size for token in asked) or claim["end"] in asked[:-1]
        yield tuple(asked), Fraction(1), outside
        return
    if kind == "fault":
        yield (), Fraction(1), True
        return
    if kind == "drafts":
        masses, children = [Fraction(1)], rest
    elif kind == "flip":
        p = _number(asked)
        masses, children = [p, 1 - p], rest
    else:
        masses, children = [_number(mass) for mass in asked], rest[0]
    off = 0 if claim["numbers"] == "fractions" else Fraction(1, 2**7)
    if not masses or min(masses) < 0 or abs(sum(masses) - 1) > off:
        yield (), Fraction(1), True
        return
    for mass, child in zip(masses, children, strict=True):
        if mass and child is not None:
            for block, chance, fault in _paths(claim, child):
                yield block, chance * mass / sum(masses), fault


def _number(text: str) -> Fraction:
    return Fraction(text) if text[-1].isdigit() else Fraction(-1)


def _over(claim: dict[str, Any], text: Text) -> bool:
    return len(text) >= claim["horizon"] or (bool(text) and text[-1] == claim["end"])


def _continue(claim: dict[str, Any], text: Text, mass: Fraction, found: dict[Text, Fraction]) -> None:
    if _over(claim, text):
        found[text] = found.get(text, Fraction(0)) + mass
        return
    row = [_number(one) for one in {tuple(one): row for one, row in claim["target"]}[text]]
    for token, chance in enumerate(row):
        if chance:
            _continue(claim, (*text, token), mass * chance / sum(row), found)
