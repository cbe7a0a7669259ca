"""How far the first token of TokenTiming as printed is from the target: exactly from all drafts, or from below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, count, positive_part
from spec_math.block_level.conditionals import Conditionals
from spec_math.drafting.correspondence import blank
from spec_math.language import Speaker
from spec_math.scheme import Tokens
from spec_math.string_level.given_draft import ratios
from spec_math.string_level.reading import Reading, opened
from spec_math.string_level.realignment import candidate
from spec_math.string_level.timing import proposal


class First(NamedTuple):
    """The first re-tokenised token of a draft, None where there is none, with the chance that it is accepted."""

    token: int | None
    chance: Any


def first(target: Speaker, laws: Conditionals, reading: Reading, said: Tokens) -> First:
    """Return the first target token of given draft tokens, and min(1, t/p) of it with its mapped probability p.

    >>> from spec_math.language import Vocabulary
    >>> target = Speaker(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = Speaker(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> first(target, *opened(target, drafter, ()), (0,))
    First(token=0, chance=Fraction(1, 2))
    """
    drafted = candidate(target, laws.prefix, reading.text(said), 0)
    if not drafted:
        return First(None, 0)
    return First(drafted[0], ratios(laws, drafted[:1], proposal(target, reading, said, drafted))[0])


def total_variation(
    target: Speaker,
    drafter: Speaker,
    prefix: Sequence[int],
    lookahead: int,
    readable: Callable[[bytes], bool] = lambda _: True,
) -> Any:
    """Compute the total variation of the first emitted token from the target, over every draft: exact on Fractions.

    A drafted x is emitted with S(x) = Σ P(draft)·chance, all else comes from the target: TV = Σ (S − S(all)·t)+.
    The number of drafts grows with every draft token. `readable` may say of a text that no continuation of it begins
    with a target token, so that its drafts need not be walked: nothing of them is accepted.

    >>> from spec_math.language import Vocabulary
    >>> target = Speaker(lambda prefix: ["7/10", "1/10", "1/10", "1/10"], Vocabulary(["aa", "ab", "ba", "bb"]))
    >>> drafter = Speaker(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> total_variation(target, drafter, (), 2)   # (67, 11, 11, 11)/100 against (7, 1, 1, 1)/10
    Fraction(3, 100)
    """
    laws, reading = opened(target, drafter, prefix)
    waiting: list[tuple[Tokens, Any]] = [((), 1)]
    firsts: list[tuple[int | None, Any]] = []
    count(lookahead, "lookahead")
    while waiting:
        said, mass = waiting.pop()
        if len(said) == lookahead or (said and said[-1] == reading.end):
            found = first(target, laws, reading, said)
            firsts.append((found.token, found.chance * mass))
        elif not said or readable(reading.text(said)):
            row = reading(said)
            waiting += [((*said, int(token)), mass * row[token]) for token in np.flatnonzero(row != 0)]
    kept = _kept(laws.target(), firsts)
    return positive_part(kept - kept.sum() * laws.target()).sum()


def from_below(target: Array, firsts: Sequence[First]) -> float:
    """Estimate from sampled drafts what the total variation is at least: without bias, it may come out negative.

    For every set A of tokens fixed beforehand, emitted(A) − t(A) is at most the total variation. The even drafts choose
    A, as the tokens emitted more than the target would, the odd ones say how much, and the other way round; the result
    is the mean of both. Its expectation is at most the total variation, and reaches it as drafts become many.

    target: a float law [T]; firsts: at least 2, of independent drafts.

    Raises:
        ValueError: there are fewer than 2.

    >>> from_below(np.array([0.25, 0.75]), ([First(0, 0.5)] * 2 + [First(1, 1.0)] * 2) * 2)
    0.0625
    """
    if len(firsts) < 2:
        raise ValueError(f"half of the drafts choose, the other half judges; at least 2 are needed, got {len(firsts)}")
    halves = [_excess(target, firsts[start::2]) for start in (0, 1)]
    return float(sum(judge[choice > 0].sum() for choice, judge in (halves, halves[::-1])) / 2)


def _excess(target: Array, firsts: Sequence[First]) -> Array:
    kept = _kept(target, [(found.token, found.chance / len(firsts)) for found in firsts])
    return kept - kept.sum() * target


def _kept(target: Array, firsts: Sequence[tuple[int | None, Any]]) -> Array:
    kept = blank(target, len(target))
    for token, mass in firsts:
        if token is not None:
            kept[token] = kept[token] + mass
    return kept
