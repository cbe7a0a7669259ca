"""Random single changes of a certificate, any JSON object: a number, a branch, a token, a name, an entry left out."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")

Place = tuple[Any, ...]
"""The keys and indices that lead to a value."""


def forged(document: dict[str, Any], seed: int, kept: tuple[str, ...] = ("format",)) -> Iterator[tuple[str, Any]]:
    """Yield (words on the change, changed document) without end; entries `kept` at the top are not changed.

    Each differs from the document in one place: a number, a branch that is left out, doubled, exchanged or replaced by
    another, a word, a key.
    """
    rng = random.Random(seed)
    places = [(place, value) for place, value in _places(document) if place and place[0] not in kept]
    stock = [value for _, value in places]
    while True:
        place, value = rng.choice(places)
        done, changed = _changed(value, rng, stock)
        forgery = _with(document, place, changed, gone=done == "left out")
        if forgery != document or type(changed) is not type(value):
            yield f"{'.'.join(map(str, place))}: {value!r:.60} {done}", forgery


def _places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    yield place, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from _places(one, (*place, key))


def _changed(value: Any, rng: random.Random, stock: list[Any]) -> tuple[str, Any]:
    """Return words on a change, and the changed value."""
    if rng.random() < 0.1:
        return "left out", None
    if rng.random() < 0.15:
        other = deepcopy(rng.choice(stock))
        return f"replaced by {other!r:.60}", other
    if isinstance(value, bool) or value is None:
        other = rng.choice([one for one in (None, True, False, 0) if one is not value])
        return f"is {other}", other
    if isinstance(value, int):
        other = value + rng.choice((-1, 1, -2, 2, 7))
        return f"becomes {other}", other
    if isinstance(value, str):
        return _other_word(value, rng, stock)
    if isinstance(value, list) and value:
        return _other_list(value, rng)
    return "is emptied", type(value)() if value else [0]


def _other_word(value: str, rng: random.Random, stock: list[Any]) -> tuple[str, Any]:
    if NUMBER.fullmatch(value) and not value.endswith("/0"):
        number = Fraction(value)
        tiny = Fraction(1, rng.choice((2, 3, 7, 100, 2**53, 2**80)))
        similar = [one for one in stock if isinstance(one, str) and NUMBER.fullmatch(one)]
        other = rng.choice((number + tiny, number - tiny, -number, 1 - number, Fraction(0), number * 2, None))
        word = rng.choice(similar) if other is None else str(other)
        return f"becomes {word}", word
    cut = rng.randrange(len(value) + 1)
    word = rng.choice((value + "x", value[:cut], value[:cut] + "1" + value[cut:], value.upper()))
    return f"becomes {word!r}", word


def _other_list(value: list[Any], rng: random.Random) -> tuple[str, Any]:
    other, at, beside = list(value), rng.randrange(len(value)), rng.randrange(len(value))
    kind = rng.choice(("loses", "doubles", "exchanges", "repeats"))
    if kind == "loses":
        del other[at]
    elif kind == "doubles":
        other.insert(at, deepcopy(other[at]))
    elif kind == "exchanges":
        other[at], other[beside] = other[beside], other[at]
    else:
        other[at] = deepcopy(other[beside])
    return f"{kind} {at}, {beside}", other


def _with(value: Any, place: Place, changed: Any, gone: bool = False) -> Any:
    """Return a copy with another value at a place; what is not on the way is shared."""
    if not place:
        return changed
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if len(place) == 1 and gone:
        del copy[place[0]]
    else:
        copy[place[0]] = _with(value[place[0]], place[1:], changed, gone)
    return copy
