"""ψ for a drafter with context: every sequence of draft tokens that leaves the first target token undetermined."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_law, is_exact
from spec_math.language.model import Model
from spec_math.language.trie import Integers, Trie, child, compiled
from spec_math.language.vocabulary import Vocabulary


def first_tokens(target: Trie, vocabulary: Vocabulary, model: Model, depth: int | None) -> tuple[Array, int, Any]:
    """Return the masses of the first target tokens, those of no token last, the laws asked for and the expected draws.

    One law is asked for after each sequence of draft tokens that has mass and leaves the first token undetermined.

    Raises:
        ValueError, TypeError: as `checked`; an `end` that is no draft token; laws of two number types.

    >>> from spec_math.language.trie import build
    >>> turn = {(): [1, 0], (0,): ["1/4", "3/4"]}
    >>> found, calls, draws = first_tokens(build([b"a", b"ab"]), Vocabulary(["a", "b"]), turn.__getitem__, None)
    >>> found.tolist(), calls, draws
    ([Fraction(1, 4), Fraction(3, 4), Fraction(0, 1)], 2, Fraction(2, 1))
    """
    end = getattr(model, "end", None)
    if end is not None and end not in range(len(vocabulary)):
        raise ValueError(f"the drafter's end must be one of its {len(vocabulary)} tokens; got {end!r}")
    data, offset = vocabulary.packed
    waiting: list[tuple[tuple[int, ...], int, Any]] = [((), 0, None)]
    result: Any = None
    calls = 0
    draws: Any = None
    while waiting:
        prefix, node, mass = waiting.pop()
        row = checked(model(prefix), vocabulary, end, f"draft after {prefix}")
        if result is None:
            result = (row[:1] * 0).repeat(len(target.node) + 1)
            mass, draws = Fraction(1) if is_exact(row) else 1.0, row[0] * 0
        elif is_exact(row) != is_exact(result):
            raise TypeError(f"all distributions of a drafter must be of one number type; after {prefix} it changes")
        calls, draws = calls + 1, draws + mass
        row = row * mass
        place = _land((target.start, target.byte, target.longest), node, data, offset)
        last = np.full(len(row), depth is not None and len(prefix) + 1 == depth)
        if end is not None:
            last[end] = True
        stays = (place >= 0) & ~last
        # A text that waits on an open node and may not go on is read as it stands.
        np.add.at(result, np.where(place >= 0, target.longest[np.maximum(place, 0)], -2 - place)[~stays], row[~stays])
        for token in np.flatnonzero(stays & (row != 0))[::-1]:
            waiting.append(((*prefix, int(token)), int(place[token]), row[token]))
    return result, calls, draws


def checked(masses: Any, vocabulary: Vocabulary, end: int | None, name: str) -> Array:
    """Check one law of the drafter: a law on its vocabulary, with no mass on tokens that add no text, `end` apart.

    Raises:
        ValueError: the masses are not a probability distribution, of another length, or a special token other than
            `end` has mass.
        TypeError: the masses are a torch tensor.

    >>> checked(["1/2", "1/2"], Vocabulary(["a", "b"]), None, "draft").tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    row = as_law(masses, name)
    if not isinstance(row, np.ndarray):
        raise TypeError(
            f"{name}: ψ walks byte tries on the CPU; pass a NumPy array or a list, not {type(row).__name__}"
        )
    if row.shape != (len(vocabulary),):
        raise ValueError(f"{name}: the draft vocabulary has {len(vocabulary)} tokens; got shape {row.shape}")
    silent = [index for index in vocabulary.special if index != end and row[index] != 0]
    if silent:
        index = silent[0]
        raise ValueError(
            f"{name}: special token {index} ({vocabulary.special[index]!r}) has mass {row[index]} and adds no text "
            f"({len(silent)} such tokens); exclude them (mass 0, then proportional_to), or let it be the model's end"
        )
    return row


def landing(target: Trie, vocabulary: Vocabulary) -> Integers:
    """Return where a text that spells a node is after each draft token, [nodes, D]: an open node, or −2 − the token.

    For a text that begins with no target token that is −1.

    >>> from spec_math.language.trie import build
    >>> landing(build([b"a", b"ab"]), Vocabulary(["a", "b"])).tolist()
    [[1, -1], [-2, -3], [-3, -3]]
    """
    place = np.empty((len(target), len(vocabulary)), np.int32)
    _land_all((target.start, target.byte, target.longest), *vocabulary.packed, place)
    return place


@compiled
def _land(target: Any, node: int, data: Integers, offset: Integers) -> Any:
    """Say where a text that spells an open node is after each draft token: the open node, or −2 − the first token."""
    start, byte, longest = target
    place = np.empty(len(offset) - 1, np.int64)
    for token in range(len(place)):
        v = node
        determined = False
        for i in range(offset[token], offset[token + 1]):
            w = child(start, byte, v, data[i])
            if w < 0:
                determined = True
                break
            v = w
        determined = determined or start[v + 1] == start[v]
        place[token] = -2 - longest[v] if determined else v
    return place


@compiled
def _land_all(target: Any, data: Integers, offset: Integers, place: Integers) -> None:
    for node in range(len(place)):
        place[node] = _land(target, node, data, offset)
