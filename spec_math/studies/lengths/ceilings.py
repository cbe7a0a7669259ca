"""Bounds that no verifier of drawn chains and trees exceeds, for each kind of drafts that is not chosen.

The law: M(s), the chance that the accepted tokens begin with the text s, is at most P(s is drafted), and at most
M(s_<i) t(s_i | s_<i) (the page on the optimum, Theorem 1). So M(s)/t(s) ≤ U(s), the least of 1 and P/t over the
beginnings of s, and P(at least i accepted) ≤ E[U(first i tokens)] for a text that the target writes: a mean of numbers
in [0, 1]. For one chain it is what block verification reaches. P(s is drafted) is

- 1 − (1 − d(s))^K for i.i.d. chains; below a stem d(stem) (1 − (1 − d(rest))^K);
- P(s_1 among K draws without replacement) d(s | s_1) for distinct first tokens;
- Π P(s_i among two draws without replacement) for two distinct drafts at every node; of the likeliest and one drawn
  token Π 1 where s_i is the likeliest, d(s_i) over what is not the likeliest elsewhere;
- for a stochastic beam at most what `raced` returns.

Source: our own; no verifier need reach all of these at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from spec_math.block_level.lengths.drafted_chains import GatheredLaws
from spec_math.block_level.methods import BRANCHING, CHAINS, DISTINCT, FAVOURED, SEQUENCES, STEMS
from spec_math.mean import FLOAT
from spec_math.scheme import Tokens
from spec_math.studies.lengths.units import Key
from spec_math.token_level.optimum import prefix_law

TOP, GROUPS = 24, 40
"""Of the tokens beside a text at one place, so many race on their own, and the others in so many groups."""

LIGHT = 1e-12
"""What is lighter does not race: the bound grows by less than can be seen."""


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
    clocks ring as one, and where light ones do not race.

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
        others = np.delete(draft, token)
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
        chances = prefix_law.outsides(np.array(beside), above, tuple(ks[row] for row in rows))
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


KINDS = CHAINS, DISTINCT, SEQUENCES, *STEMS.values(), BRANCHING, FAVOURED
"""Kinds of drafts with a bound along texts."""


def along(laws: GatheredLaws, texts: Sequence[Tokens], keys: Sequence[Key], lookahead: int) -> dict[Key, FLOAT]:
    """Return for kinds of drafts the mean over texts of U(first i tokens), [L]; 0 from where a text ends.

    >>> laws = GatheredLaws(lambda prefix: [0.5, 0.5], lambda prefix: [0.5, 0.5], ())
    >>> along(laws, [(0, 0)], [Key(CHAINS, 1)], 2)[Key(CHAINS, 1)].tolist()
    [1.0, 1.0]
    """
    own = [key for key in keys if key.of in KINDS]
    found = {key: np.zeros(lookahead) for key in own}
    for text in texts if own else ():
        drafted, written = (np.cumprod(side) for side in _masses(laws, text))
        # Distinct first tokens are a beam of one level, with a chain below each.
        raced_at = dict(_raced(laws, text, [key for key in own if key.of is SEQUENCES]))
        raced_at |= dict(_raced(laws, text[:1], [key for key in own if key.of is DISTINCT]))
        for key in own:
            if key.of is DISTINCT:
                chances = raced_at[key][0] * (drafted / drafted[0] if drafted[0] else drafted)
            else:
                chances = raced_at[key] if key in raced_at else _drafted(laws, text, key, drafted)
            # What ends the text is no accepted token that something follows.
            held = np.minimum.accumulate(np.minimum(1.0, chances / written))[: len(text) - laws.ends(text)]
            found[key][: len(held)] += held / len(texts)
    return found


def _raced(laws: GatheredLaws, text: Tokens, keys: Sequence[Key]) -> Iterator[tuple[Key, FLOAT]]:
    if keys:
        yield from zip(keys, raced(laws, text, tuple(key.k for key in keys)), strict=True)


def _drafted(laws: GatheredLaws, text: Tokens, key: Key, drafted: FLOAT) -> FLOAT:
    """Return P(the first i tokens of a text are drafted), [L], for a kind of drafts; `drafted` is that of one chain."""
    if key.of in (CHAINS, *STEMS.values()):
        above = drafted[: key.stem]
        own = above[-1] if key.stem else 1.0
        return np.concatenate([above, own * _met(drafted[key.stem :] / own if own else drafted[key.stem :], key.k)])
    rows = (np.asarray(laws.draft(text[:at]), dtype=np.float64) for at in range(len(text)))
    of_node = of_two if key.of is BRANCHING else _or_likeliest
    return np.cumprod([of_node(row, token) for row, token in zip(rows, text, strict=True)], dtype=np.float64)


def _or_likeliest(draft: Any, token: int) -> float:
    """Return the chance that a token is the draft's likeliest, or the one drawn from the rest."""
    row = np.asarray(draft, dtype=np.float64)
    best = int(row.argmax())
    if token == best:
        return 1.0
    rest = float(row[:best].sum() + row[best + 1 :].sum())
    return float(row[token]) / rest if rest > 0 else 0.0


def _masses(laws: GatheredLaws, text: Tokens) -> FLOAT:
    """Return both models' masses of the tokens of a text, the draft's first, [2, L]."""
    sides = laws.draft, laws.target
    return np.array([[float(law(text[:at])[token]) for at, token in enumerate(text)] for law in sides])


def _met(masses: FLOAT, k: int) -> FLOAT:
    """Return 1 − (1 − d)^k as a sum of positive terms, d times Σ_j (1 − d)^j."""
    rows: Sequence[FLOAT] = [(1 - masses) ** power for power in range(k)]
    return masses * np.sum(rows, axis=0)
