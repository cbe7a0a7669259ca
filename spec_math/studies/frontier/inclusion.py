"""How likely a text is among drafts that are drawn without replacement: tokens of one node, or whole sequences.

Source: our own; races of clocks as in `token_level.exponential_clocks`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.block_level.lengths.monte_carlo import GatheredLaws
from spec_math.scheme import Tokens
from spec_math.token_level import exponential_clocks
from spec_math.token_level.clock_moments import Moments, moments

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

TOP, GROUPS = 24, 40
"""Of the tokens beside a text at one place, so many race on their own, and the others in so many groups."""

LIGHT = 1e-12
"""What is lighter does not race: the bound grows by less than can be seen."""


def race_of(draft: FLOAT, ks: tuple[int, ...]) -> Moments | None:
    """Return what `inclusion` of every token of a draft [V] shares; nothing where the law has too few tokens for it.

    >>> race_of(np.full(100, 0.01), (2, 4)).rounding(4) < 1e-11
    True
    """
    return moments(draft, max(ks) + 1)


def inclusion(draft: FLOAT, token: int, ks: tuple[int, ...], race: Moments | None = None) -> list[float]:
    """Return P(token is among k draws without replacement) from a draft [V] for each k, a chance.

    The law: the token is drawn where not all k draws are others. `race` is what `race_of` keeps of the draft.

    >>> [round(chance, 12) for chance in inclusion(np.array([0.5, 0.25, 0.25]), 0, (2, 3))]
    [0.833333333333, 1.0]
    """
    own = float(draft[token])
    if own == 0:
        return [0.0] * len(ks)
    if race is not None:
        return [own if k == 1 else min(1.0, race.outside(own, len(draft), (token,), k)) for k in ks]
    others = np.delete(draft, token)
    order = np.append(others[others > 0], own)
    last = len(order) - 1
    above = np.zeros(len(order) + 1)
    above[last] = own
    found = [own if k == 1 else 1.0 for k in ks]
    inner = [place for place, k in enumerate(ks) if 1 < k < len(order)]
    if inner:
        chances = exponential_clocks.outsides(order, above, tuple(ks[place] for place in inner))[:, last]
        for place, chance in zip(inner, chances.tolist(), strict=True):
            found[place] = min(1.0, chance)
    return found


def of_two(draft: FLOAT, token: int) -> float:
    """Return P(token is among two draws without replacement), d(y) + Σ_x d(x) d(y)/(1 − d(x)) over the others.

    >>> round(of_two(np.array([0.5, 0.25, 0.25]), 0), 12)
    0.833333333333
    """
    left = 1 - draft
    odds = np.divide(draft, left, out=np.zeros_like(draft), where=left > 0)
    odds[token] = 0.0
    return min(1.0, float(draft[token]) * (1 + float(odds.sum())))


def raced(laws: GatheredLaws, text: Tokens, ks: tuple[int, ...]) -> FLOAT:
    """Return for each k and each length i at least P(the first i tokens of a text are in a beam of width k), [ks, L].

    The law: the beam of level i holds the k texts of i tokens that ring first, each at the rate of its mass. Those that
    leave `text` at one place and with one token are taken for one clock: they ring together no later than any of them,
    so that fewer rings are counted, and the chance to be among the first k only grows. So it does where groups of such
    clocks ring as one, where light ones do not race, and those that end before i do not.

    >>> laws = GatheredLaws(lambda prefix: [0.5, 0.5], lambda prefix: [0.5, 0.5], ())
    >>> raced(laws, (0, 0, 0), (2,)).round(12).tolist()
    [[1.0, 0.583333333333, 0.309523809524]]
    """
    beside: list[float] = []
    cuts: list[int] = []
    own: list[float] = []
    mass = 1.0
    for place, token in enumerate(text):
        draft = np.asarray(laws.draft(text[:place]), dtype=np.float64)
        others = np.delete(draft, [token] if laws.end is None else [token, laws.end])
        beside += [clock for clock in (mass * _grouped(others)).tolist() if clock > LIGHT]
        mass *= float(draft[token])
        cuts.append(len(beside))
        own.append(mass)
    found = np.ones((len(ks), len(text)))
    rows = [row for row, k in enumerate(ks) if k < len(beside)]
    if rows:
        # Only the places of the text are read: there the one clock outside is its own.
        above = np.zeros(len(beside) + 1)
        above[cuts] = own
        chances = exponential_clocks.outsides(np.array(beside), above, tuple(ks[row] for row in rows))
        found[rows] = np.minimum(1.0, chances[:, cuts])
    return found


def _grouped(masses: FLOAT) -> FLOAT:
    """Return the `TOP` largest masses, and the sums of `GROUPS` groups of the others."""
    if len(masses) <= TOP + GROUPS:
        return masses
    light = np.partition(masses, len(masses) - TOP)
    each, more = divmod(len(light) - TOP, GROUPS)
    starts = [group * each + min(group, more) for group in range(GROUPS)]
    return np.concatenate([light[-TOP:], np.add.reduceat(light[:-TOP], starts)])
