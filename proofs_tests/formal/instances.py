"""The instances that Rocq and the library are asked about: from a fixed seed, with zeros, ties, one-hot and V = 1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

Masses = list[Fraction]
Text = tuple[int, ...]
Model = dict[Text, Masses]

NUMBER = 66
KINDS = ("any", "any", "equal", "disjoint", "one-hot target", "one-hot draft", "ties", "one token moved")


def size_of(number: int, sizes: tuple[int, ...]) -> int:
    """The sizes in turn; one token only among the first instances, as such instances are all alike."""
    size = sizes[number % len(sizes)]
    return size if size > 1 or number < 12 else 2


def masses(random: Random, size: int, weights: tuple[int, ...] = (0, 1, 1, 2, 3, 5, 9)) -> Masses:
    """A distribution of small whole weights; some of them are 0."""
    found = [random.choice(weights) for _ in range(size)]
    found[random.randrange(size)] += 1
    return [Fraction(weight, sum(found)) for weight in found]


def one_hot(random: Random, size: int) -> Masses:
    place = random.randrange(size)
    return [Fraction(token == place) for token in range(size)]


def pair(random: Random, size: int, kind: str) -> tuple[Masses, Masses]:
    """A target and a draft of a kind."""
    t, d = masses(random, size), masses(random, size)
    if kind == "equal" or size == 1:
        return t, t
    if kind == "disjoint":
        cut = random.randrange(1, size)
        zero = [Fraction(0)]
        return masses(random, cut) + zero * (size - cut), zero * cut + masses(random, size - cut)
    if kind.startswith("one-hot"):
        return (one_hot(random, size), d) if kind == "one-hot target" else (t, one_hot(random, size))
    if kind == "ties":
        return masses(random, size, (0, 1)), masses(random, size, (1, 2))
    if kind == "one token moved":
        most = max(range(size), key=lambda token: t[token])
        moved = [mass / 2 if token == most else mass for token, mass in enumerate(t)]
        moved[(most + 1) % size] += t[most] / 2
        return t, moved
    return t, d


def positions(
    seed: str, most: int = 3, sizes: tuple[int, ...] = (1, 2, 2, 3, 3, 4)
) -> Iterator[tuple[Masses, Masses, int]]:
    """Targets, drafts and numbers of drafts; of 4 tokens at most 2 drafts, whose paths are many."""
    random = Random(seed)
    for number in range(NUMBER):
        size = size_of(number, sizes)
        k = min(1 + number // 6 % most, 2 if size == 4 else 3)
        yield *pair(random, size, KINDS[number % len(KINDS)]), k


def texts(size: int, length: int, shortest: int = 0) -> list[Text]:
    """The texts of `shortest` to so many tokens, shorter ones first, in lexicographic order."""
    return [text for most in range(shortest, length + 1) for text in product(range(size), repeat=most)]


SIZES = (1, 2, 2, 3, 2, 4)


def models(
    seed: str, longer: int = 0, most: int = 9, sizes: tuple[int, ...] = SIZES
) -> Iterator[tuple[Model, Model, int, Text]]:
    """A target and a draft as tables of every prefix that is met, with a lookahead and the prefix of the block.

    The lookahead is 1 or 2, and 1 where there are more than `most` drafted texts of 2 tokens.
    """
    random = Random(seed)
    for number in range(NUMBER):
        size = size_of(number, sizes)
        lookahead = 1 if size**2 > most else 1 + number // 6 % 2
        prefix = (size - 1,) if number % 4 == 3 else ()
        target: Model = {}
        draft: Model = {}
        for text in texts(size, lookahead + longer):
            kind = KINDS[random.randrange(len(KINDS))]
            target[prefix + text], draft[prefix + text] = pair(random, size, kind)
        yield target, draft, lookahead, prefix


def vocabularies(seed: str) -> Iterator[tuple[Masses, Masses, list[int], list[int]]]:
    """Masses on the union of two vocabularies, which share a token that the draft draws."""
    random = Random(seed)
    for number in range(NUMBER):
        size = size_of(number, (1, 2, 3, 4))
        shared = random.randrange(size)
        targets, drafts = (
            [token for token in range(size) if token == shared or random.random() < 0.7] for _ in range(2)
        )
        t, d = masses(random, len(targets)), masses(random, len(drafts))
        if d[drafts.index(shared)] == 0:
            d = [(mass + Fraction(token == shared)) / 2 for token, mass in zip(drafts, d, strict=True)]
        yield spread(t, targets, size), spread(d, drafts, size), targets, drafts


def spread(values: Masses, places: list[int], size: int) -> Masses:
    """Masses at some places of a longer list, and 0 elsewhere."""
    found = [Fraction(0)] * size
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found


def noisy(seed: str) -> Iterator[tuple[dict[Text, list[int]], int, int, int, Text]]:
    """The tokens that the values of noise give after each prefix, in ascending order, and the length of the text."""
    random = Random(seed)
    for number in range(NUMBER):
        size = size_of(number, (1, 2, 3, 4))
        values, length = 2 + number % 4, 2 + number // 4 % 2
        prefix = (0,) if number % 3 == 2 else ()
        decoded = {prefix + text: sorted(random.choices(range(size), k=values)) for text in texts(size, length - 1)}
        yield decoded, size, values, length, prefix
