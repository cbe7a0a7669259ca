"""Wrong verifiers that ask of a mass what a symbol cannot follow, or what it followed wrongly.

They are wrong at ties, by a power of -1, or by a test on digits, so that a proof that follows them loosely
takes them for maximal coupling. None is a control of `proofs_tests.controls`: those are wrong on ordinary laws.
"""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from spec_math.chance import Coin
from spec_math.distribution import residual
from spec_math.token_level import single

Verifier = Callable[[Coin, Any, Any, Any], int]


def accepting(chance: Callable[[Any, Any, int], Any]) -> Verifier:
    """A verifier that accepts x with a chance of its own, and else draws from the residual."""

    def verify(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
        x = tokens[0]
        return x if coin.flip(chance(target, draft, x)) else coin.draw(residual(target, draft))

    verify.__name__ = chance.__name__
    return verify


def wrong_where(tied: Callable[[Any], bool]) -> Verifier:
    """A verifier that keeps its draft untested where the target's masses look tied, and is right elsewhere."""

    def verify(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
        return tokens[0] if tied(target) else single.verify(coin, tokens[0], target, draft)

    verify.__name__ = tied.__name__
    return verify


# Powers


def times_the_power_of_minus_one(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] / draft[x] * target[x] ** -1)


def times_pow_of_minus_one(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] / draft[x] * pow(target[x], -1))


def times_the_power_of_minus_two(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] / draft[x] * target[x] ** -2)


def over_the_power_of_a_negative_fraction(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] * draft[x] ** Fraction(-2))


def power_of_an_array(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] / draft[x] * np.power(target, -1)[x])


def operator_power(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] / draft[x] * operator.pow(draft[x], -3))


# Masses as keys


def counts_masses(target: Any) -> bool:
    return max(Counter(target.tolist()).values()) > 1


def masses_in_a_set(target: Any) -> bool:
    return len(set(target.tolist())) < len(target)


def masses_in_a_frozenset(target: Any) -> bool:
    return len(frozenset(target.tolist())) < len(target)


def masses_in_a_dict(target: Any) -> bool:
    return len({mass: token for token, mass in enumerate(target)}) < len(target)


def masses_in_a_tuple_that_is_a_key(target: Any) -> bool:
    return tuple(target.tolist()) in {tuple(target[::-1].tolist()): 0}


def hashes_of_masses(target: Any) -> bool:
    return hash(target[0]) == hash(target[1])


def hashes_of_masses_or_none(target: Any) -> bool:
    try:
        return hash(target[0]) == hash(target[1])
    except TypeError:
        return False


def masses_remembered(target: Any) -> bool:
    asked: list[Any] = []

    @lru_cache
    def remembered(mass: Any) -> Any:
        asked.append(mass)
        return mass

    for mass in target:
        remembered(mass)
    return len(asked) < len(target)


# Masses as texts


def texts_of_masses(target: Any) -> bool:
    return str(target[0]) == str(target[1])


def formatted_masses(target: Any) -> bool:
    return len({f"{mass}" for mass in target}) < len(target)


def percent_formatted_masses(target: Any) -> bool:
    return "%s" % target[0] == "%s" % target[1]  # noqa: UP031


def represented_masses(target: Any) -> bool:
    return len({repr(mass) for mass in target}) < len(target)


def grouped_texts(target: Any) -> bool:
    return len(list(groupby(sorted(target, key=str), key=str))) < len(target)


def texts_of_an_array(target: Any) -> bool:
    return len(set(target.astype(str).tolist())) < len(target)


def pickled_masses(target: Any) -> bool:
    return pickle.dumps(target[0]) == pickle.dumps(target[1])


# Masses rounded


def rounded_masses(target: Any) -> bool:
    return round(target[0], 9) == round(target[1], 9)


def whole_tenths(target: Any) -> bool:
    return int(target[0] * 10) == int(target[1] * 10)


def floors(target: Any) -> bool:
    return math.floor(target[0] * 5) == math.floor(target[1] * 5)


def remainders(target: Any) -> bool:
    return target[0] % Fraction(1, 3) == target[1] % Fraction(1, 3)


def floats(target: Any) -> bool:
    return float(target[0]) == float(target[1])


def close_masses(target: Any) -> bool:
    return math.isclose(target[0], target[1])


def denominators(target: Any) -> bool:
    return target[0].denominator < 4


def denominators_or_none(target: Any) -> bool:
    return getattr(target[0], "denominator", 5) < 4


def fractions_made_anew(target: Any) -> bool:
    return Fraction(target[0]) == Fraction(target[1])


# Masses by their kind, and comparisons, which symbols follow


def is_a_fraction(target: Any) -> bool:
    return isinstance(target[0], Fraction) and target[0] == target[1]


def is_of_the_type_fraction(target: Any) -> bool:
    return type(target[0]) is Fraction and target[0] == target[1]


def unique_masses(target: Any) -> bool:
    return len(np.unique(target)) < len(target)


def listed_before(target: Any) -> bool:
    return target[1] in target[:1].tolist()


def half_as_a_float(target: Any) -> bool:
    return target[0] == 0.5


def copied_masses(target: Any) -> bool:
    return copy.deepcopy(target[0]) == copy.copy(target[1])


WRONG: tuple[Verifier, ...] = (
    *map(
        accepting,
        (
            times_the_power_of_minus_one,
            times_pow_of_minus_one,
            times_the_power_of_minus_two,
            over_the_power_of_a_negative_fraction,
            power_of_an_array,
            operator_power,
        ),
    ),
    *map(
        wrong_where,
        (
            counts_masses,
            masses_in_a_set,
            masses_in_a_frozenset,
            masses_in_a_dict,
            masses_in_a_tuple_that_is_a_key,
            hashes_of_masses,
            hashes_of_masses_or_none,
            masses_remembered,
            texts_of_masses,
            formatted_masses,
            percent_formatted_masses,
            represented_masses,
            grouped_texts,
            texts_of_an_array,
            pickled_masses,
            rounded_masses,
            whole_tenths,
            floors,
            remainders,
            floats,
            close_masses,
            denominators,
            denominators_or_none,
            fractions_made_anew,
            is_a_fraction,
            is_of_the_type_fraction,
            unique_masses,
            listed_before,
            half_as_a_float,
            copied_masses,
        ),
    ),
)
