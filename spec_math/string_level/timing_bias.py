"""The distance of TokenTiming's first token, as printed, from the target: exactly from all drafts, or from below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, count, positive_part
from spec_math.block_level.conditionals import Conditionals
from spec_math.drafting.correspondence import blank
from spec_math.language import TokenizedModel
from spec_math.scheme import Tokens
from spec_math.string_level.methods import ratios
from spec_math.string_level.reading import Reading, candidate, opened
from spec_math.string_level.timing import proposal


class First(NamedTuple):
    """The first re-tokenised token of a draft, None where there is none, with the chance that it is accepted."""

    token: int | None
    chance: Any


def first(target: TokenizedModel, laws: Conditionals, reading: Reading, said: Tokens) -> First:
    """Return the first target token of given draft tokens, and min(1, t/p) of it with its mapped probability p.

    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> first(target, *opened(target, drafter, ()), (0,))
    First(token=0, chance=Fraction(1, 2))
    """
    drafted = candidate(target, laws.prefix, reading.text(said), 0)
    if not drafted:
        return First(None, 0)
    return First(drafted[0], ratios(laws, drafted[:1], proposal(target, reading, said, drafted))[0])


def total_variation(
    target: TokenizedModel,
    drafter: TokenizedModel,
    prefix: Sequence[int],
    lookahead: int,
    readable: Callable[[bytes], bool] = lambda _: True,
) -> Any:
    """Compute the total variation of the first emitted token from the target, over every draft: exact on Fractions.

    A drafted x is emitted with S(x) = Σ P(draft)·chance, all else comes from the target: TV = Σ (S − S(all)·t)+.
    The number of drafts grows with every draft token. `readable` may say of a text that no continuation of it begins
    with a target token, so that its drafts need not be walked: nothing of them is accepted.

    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["7/10", "1/10", "1/10", "1/10"], Vocabulary(["aa", "ab", "ba", "bb"]))
    >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> total_variation(target, drafter, (), 2)   # (67, 11, 11, 11)/100 against (7, 1, 1, 1)/10
    Fraction(3, 100)
    """
    laws, reading = opened(target, drafter, prefix)
    waiting: list[tuple[Tokens, Any]] = [((), 1)]
    kept = blank(laws.target(), laws.size)
    count(lookahead, "lookahead")
    while waiting:
        said, mass = waiting.pop()
        if len(said) == lookahead or (said and said[-1] == reading.end):
            token, chance = first(target, laws, reading, said)
            if token is not None:
                kept[token] = kept[token] + chance * mass
        elif not said or readable(reading.text(said)):
            row = reading(said)
            waiting += [((*said, int(drawn)), mass * row[drawn]) for drawn in np.flatnonzero(row != 0)]
    return positive_part(kept - kept.sum() * laws.target()).sum()


def excesses(target: Array, firsts: Sequence[First], among: Any) -> list[Any]:
    """Return chance·(1[x ∈ A] − t(A)) for each draft, x its first token: their mean is emitted(A) − t(A).

    All else comes from the target. Where A was chosen without looking at these drafts the mean is an unbiased estimate,
    and its expectation at most the total variation, for any A: a bound from below. It may come out negative.
    `over_proposed` is a good choice of A.

    target: the target's law [T]; firsts: of independent drafts; among: whether a token is in A [T].

    >>> from spec_math.arrays import exact
    >>> drafts = [First(0, exact(["1/2"])[0]), First(1, exact([1])[0])]
    >>> [str(value) for value in excesses(exact(["1/4", "3/4"]), drafts, [True, False])]
    ['3/8', '-1/4']
    """
    chosen = np.asarray(among, dtype=bool)
    mass = target[chosen].sum()
    none = mass - mass
    return [none if found.token is None else found.chance * (int(chosen[found.token]) - mass) for found in firsts]


def over_proposed(target: Array, first_token_law: Array) -> Array:
    """Return the tokens [T] that a draft proposes more often, next to the target, than it accepts on average.

    min(1, ψ/t) > Σ min(t, ψ): over one vocabulary with one draft these are the tokens that are emitted too often, and
    the mean of `excesses` of them is the whole bias.

    >>> over_proposed(np.array([0.25, 0.75]), np.array([0.5, 0.5])).tolist()
    [True, False]
    """
    kept = np.minimum(target, first_token_law)
    return kept > kept.sum() * target
