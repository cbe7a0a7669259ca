"""Rational laws on which a proved theorem is tried as well: zeros and ties of every kind, and borders of its regions.

They are drawn apart from the grid that splits regions, so that a program that symbols do not follow is caught twice.

Source: worked out here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from spec_math.symbolic.points import Point, evaluated, sign_at
from spec_math.symbolic.polynomial import ZERO, Polynomial
from spec_math.symbolic.region import Region
from spec_math.symbolic.theorem import Theorem, arranged

SEED = 13
"""What chooses the laws where nothing else does."""
FACES = 60
"""On how many faces of regions a theorem is tried at most."""
_ATTEMPTS = 12

Law = list[Fraction]
Kind = Callable[[Sequence[int], random.Random], list[Law]]


class Faces:
    """The polynomials whose signs bound a theorem's regions, each with the first region that it bounds."""

    def __init__(self) -> None:
        self.of: dict[Polynomial, Region] = {}

    def add(self, region: Region) -> None:
        """Take up the faces of a region; of two regions that share one, the one of more dimensions counts."""
        for polynomial in region.conditions:
            known = self.of.get(polynomial)
            if known is None or region.solved < known.solved:
                self.of[polynomial] = region


def laws_to_try(theorem: Theorem, faces: Faces, seed: int = SEED) -> Iterator[Point]:
    """Yield rational points of a theorem's laws and scalars, each once: of every kind, and one on each face.

    Each kind comes three times: all laws are of it, or those of even or of odd places alone, as the target and the
    draft are.
    """
    rng = random.Random(seed)
    sizes = list(theorem.laws.values())
    seen: set[Point] = set()
    for point in (*_of_every_kind(sizes, len(theorem.scalars), rng), *_on_faces(theorem, faces, rng)):
        if point not in seen:
            seen.add(point)
            yield point


def _of_every_kind(sizes: Sequence[int], scalars: int, rng: random.Random) -> Iterator[Point]:
    for kind in KINDS:
        for left in (None, 0, 1):
            laws = kind(sizes, rng)
            if left is not None:  # every second law is like no other
                laws[left::2] = _generic(sizes[left::2], rng)
            yield _point(laws, [Fraction(1) if rng.random() < 0.3 else 1 + 3 * _part(rng) for _ in range(scalars)])


def _on_faces(theorem: Theorem, faces: Faces, rng: random.Random) -> Iterator[Point]:
    listed = list(faces.of.items())
    for polynomial, region in listed if len(listed) <= FACES else rng.sample(listed, FACES):
        point = _on_face(theorem, polynomial, region, rng)
        if point is not None:
            yield point


def _on_face(theorem: Theorem, polynomial: Polynomial, region: Region, rng: random.Random) -> Point | None:
    """Return a rational law where a polynomial is 0, next to the region if one is met soon; None where none is met."""
    sizes = list(theorem.laws.values())
    best: tuple[int, Point] | None = None
    linear = [at for at in polynomial.variables() if max(polynomial.coefficients(at)) == 1]
    for _ in range(_ATTEMPTS if linear else 0):
        parts = polynomial.coefficients(variable := rng.choice(linear))
        left = list(_point(_generic(sizes, rng), [1 + 3 * _part(rng) for _ in theorem.scalars]))
        slope = evaluated(parts[1], left)
        if slope == 0:
            continue
        left[variable] = -evaluated(parts[0], left) / slope if 0 in parts else Fraction(0)
        point = region.completed(left)
        if not _of_laws(theorem, point):
            continue
        met = sum(bool(sign_at(own, point) & (wanted | ZERO)) for own, wanted in region.conditions.items())
        if best is None or met > best[0]:
            best = met, point
        if met == len(region.conditions):
            break
    if best is not None:
        return best[1]
    grid = region.space.points
    places = np.flatnonzero(grid.signs(polynomial) == ZERO).tolist()
    return grid.at(rng.choice(places)) if places else None


def _of_laws(theorem: Theorem, point: Point) -> bool:
    """Say whether these are coordinates of laws, and of scalars of at least 1."""
    parameters = arranged(theorem, point)
    laws, scalars = parameters[: len(theorem.laws)], parameters[len(theorem.laws) :]
    return all(mass >= 0 for law in laws for mass in law) and all(scalar >= 1 for scalar in scalars)


def _point(laws: Sequence[Law], scalars: Sequence[Fraction]) -> Point:
    return tuple(mass for law in laws for mass in law[:-1]) + tuple(scalars)


def _part(rng: random.Random) -> Fraction:
    bottom = rng.randint(3, 24)
    return Fraction(rng.randint(1, bottom - 1), bottom)


def _proportional(weights: Sequence[int]) -> Law:
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]


# Kinds of laws


def _each(weights: Callable[[int, random.Random], list[int]]) -> Kind:
    """Return the kind whose laws are drawn one by one, in proportion to weights of their size."""
    return lambda sizes, rng: [_proportional(weights(size, rng)) for size in sizes]


def _few(size: int, rng: random.Random) -> list[int]:
    """Few small weights, zeros among them: ties of masses, sums and products in plenty."""
    weights = [rng.choice((0, 1, 1, 2)) for _ in range(size)]
    if not any(weights):
        weights[rng.randrange(size)] = 1
    return weights


def _with_a_zero(size: int, rng: random.Random) -> list[int]:
    """One token of each law has no mass."""
    weights = [rng.randint(1, 99) for _ in range(size)]
    if size > 1:
        weights[rng.randrange(size)] = 0
    return weights


def _tied(size: int, rng: random.Random) -> list[int]:
    """Two tokens of each law have one mass."""
    weights = [rng.randint(1, 99) for _ in range(size)]
    if size > 1:
        first, second = rng.sample(range(size), 2)
        weights[first] = weights[second]
    return weights


_generic = _each(lambda size, rng: [rng.randint(1, 10**4) for _ in range(size)])
_coarse = _each(_few)


def _one_hot(sizes: Sequence[int], rng: random.Random, step: int = 1) -> list[Law]:
    """Each law has another token than the one before it."""
    first = rng.randrange(min(sizes))
    return [
        _proportional([int(at == (first + step * which) % size) for at in range(size)])
        for which, size in enumerate(sizes)
    ]


def _disjoint(sizes: Sequence[int], rng: random.Random) -> list[Law]:
    """Every second law leaves out the tokens that the others have."""
    return [
        _proportional([rng.randint(1, 9) if size == 1 or (token + which) % 2 == 0 else 0 for token in range(size)])
        for which, size in enumerate(sizes)
    ]


def _alike(kind: Kind) -> Kind:
    """Return the kind of laws that are equal where they are on as many tokens."""

    def drawn(sizes: Sequence[int], rng: random.Random) -> list[Law]:
        laws = {size: kind([size], rng)[0] for size in sorted(set(sizes))}
        return [list(laws[size]) for size in sizes]

    return drawn


_equal, _generic_and_equal = _alike(_coarse), _alike(_generic)


def _permuted(sizes: Sequence[int], rng: random.Random) -> list[Law]:
    laws = _generic_and_equal(sizes, rng)
    for law in laws[1:]:
        rng.shuffle(law)
    return laws


def _reversed(sizes: Sequence[int], rng: random.Random) -> list[Law]:
    return [law[:: 1 if which % 2 else -1] for which, law in enumerate(_generic_and_equal(sizes, rng))]


def _tied_across(sizes: Sequence[int], rng: random.Random, step: int = 0) -> list[Law]:
    """All laws give one token one mass; with a step, different tokens."""
    mass, place = _part(rng), rng.randrange(min(sizes))
    return [_with(size, {(place + step * which) % size: mass}, rng) for which, size in enumerate(sizes)]


def _tied_ratios(sizes: Sequence[int], rng: random.Random) -> list[Law]:
    """Two tokens have one ratio in all laws: products of masses are equal."""
    ratio = rng.randint(1, 9), rng.randint(1, 9)
    if min(sizes) < 2:
        return _equal(sizes, rng)
    first, second = rng.sample(range(min(sizes)), 2)
    laws: list[Law] = []
    for size in sizes:
        weights = [rng.randint(0, 99) for _ in range(size)]
        scale = rng.randint(1, 9)
        weights[first], weights[second] = ratio[0] * scale, ratio[1] * scale
        laws.append(_proportional(weights))
    return laws


def _tied_sums(sizes: Sequence[int], rng: random.Random) -> list[Law]:
    """Two tokens of one law have together what one of another has."""
    mass = _part(rng)
    share = mass * Fraction(rng.randint(1, 9), 10)
    return [
        _with(size, {0: share, 1: mass - share} if size > 2 and which % 2 else {0: mass}, rng)
        for which, size in enumerate(sizes)
    ]


def _with(size: int, fixed: dict[int, Fraction], rng: random.Random) -> Law:
    """Return a law with some masses fixed, the rest of it drawn."""
    others = [token for token in range(size) if token not in fixed]
    if not others:
        return _generic([size], rng)[0]
    rest = 1 - sum(fixed.values(), Fraction(0))
    shares = iter(_generic([len(others)], rng)[0])
    return [fixed[token] if token in fixed else rest * next(shares) for token in range(size)]


KINDS: tuple[Kind, ...] = (
    _each(lambda size, _: [1] * size),
    _generic,
    _each(lambda size, rng: [2 ** rng.choice((0, 1, 30, 60, 90)) for _ in range(size)]),
    _coarse,
    _each(_with_a_zero),
    _one_hot,
    partial(_one_hot, step=0),
    _disjoint,
    _equal,
    _generic_and_equal,
    _permuted,
    _reversed,
    _each(_tied),
    _tied_across,
    partial(_tied_across, step=1),
    _tied_ratios,
    _tied_sums,
)
"""The kinds of laws that a theorem is tried on."""
