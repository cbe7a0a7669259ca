"""What no verifier of drawn chains and trees exceeds, for each kind of drafts that is not chosen.

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

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.block_level.drafted_chains import GatheredLaws
from spec_math.block_level.method import CHAINS, DISTINCT, Drafts
from spec_math.scheme import Tokens
from spec_math.studies.frontier import branching, further
from spec_math.studies.frontier.contenders import KS, LONGEST, Contender, Shape, chains, starts
from spec_math.studies.frontier.inclusion import inclusion, of_two, race_of, raced
from spec_math.studies.frontier.regime import Regime
from spec_math.studies.frontier.ways import BRANCHING, FAVOURED, SEQUENCES, STEMS, Way
from spec_math.studies.progress import Progress

FLOAT = np.ndarray[Any, np.dtype[Any]]

TEXTS = 4
"""Texts that the target writes after each sampled prefix."""

KINDS = CHAINS, DISTINCT, SEQUENCES, *STEMS.values(), BRANCHING, FAVOURED

BOUNDS = {kind: Way("no verifier exceeds", kind) for kind in KINDS}
"""What bounds all verifiers of a kind of drafts."""

Kind = tuple[Drafts, int]
"""A kind of drafts, and how many chains; 2 for the drafts of a node."""


def of_drafts(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return the bound of each kind of drafts for every number of chains and lookahead, as contenders.

    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.progress import no_progress
    >>> of_drafts(drafting_itself([0.5, 0.5]), 2, 0, no_progress)[1].tokens.tolist()
    [3.0, 3.0]
    """
    models = regime.models
    rng = np.random.default_rng([seed, 3])
    step = progress(f"{regime.title}: bounds", samples)
    found: dict[Kind, list[FLOAT]] = {}
    for prefix in starts(regime, samples, seed):
        laws = GatheredLaws(models.target, models.draft, prefix)
        rows: dict[Kind, list[FLOAT]] = {}
        texts, draft = _texts(laws, rng), np.asarray(laws.draft(), dtype=np.float64)
        race = race_of(draft, KS)
        roots = {root: inclusion(draft, root, KS, race) for root in {text[0] for text in texts}}
        for text in texts:
            for kind, term in _terms(laws, text, roots[text[0]]).items():
                rows.setdefault(kind, []).append(term)
        for kind, terms in rows.items():
            found.setdefault(kind, []).append(np.mean(terms, axis=0))
        step(1)
    return [
        Contender(BOUNDS[kind[0]], shape, 1 + np.array(terms)[:, :size].sum(axis=1), 1.0 + size)
        for kind, terms in found.items()
        for size in range(1, LONGEST + 1)
        if (shape := _shape(kind, size)) is not None
    ]


def _shape(kind: Kind, size: int) -> Shape | None:
    """Return the shape of so many levels, if drafts of this kind are made."""
    drafts, k = kind
    stem = next((stem for stem, known in STEMS.items() if known is drafts), 0)
    if stem:
        return further.stemmed(stem, k, size) if size > stem else None
    if drafts in (BRANCHING, FAVOURED):
        return branching.branched(size) if size <= branching.deepest() else None
    return chains(k, size)


def _texts(laws: GatheredLaws, rng: Any) -> list[Tokens]:
    """Let the target write `TEXTS` texts of `LONGEST` tokens, or up to the end token."""
    texts: list[Tokens] = [()] * TEXTS
    while growing := [at for at, text in enumerate(texts) if len(text) < LONGEST and not laws.ends(text)]:
        laws.gather([texts[at] for at in growing])
        rows = np.stack([laws.target(texts[at]) for at in growing])
        for at, token in zip(growing, array_coin.drawn(rows, rng.random(len(growing))).tolist(), strict=True):
            texts[at] = (*texts[at], token)
    return texts


def _terms(laws: GatheredLaws, text: Tokens, included: list[float]) -> dict[Kind, FLOAT]:
    """Return for each kind of drafts and K the terms [L] of one text; 0 from where it ends.

    `included` are the chances that its first token is among K distinct ones, K of `KS`.
    """
    masses = _masses(laws, text)
    drafted, written = np.cumprod(masses, axis=1)
    met = {(CHAINS, k): _met(drafted, k) for k in (1, *KS)}
    below = np.concatenate([[1.0], np.cumprod(masses[0, 1:])])
    met.update({(DISTINCT, k): root * below for k, root in zip(KS, included, strict=True)})
    met.update({(SEQUENCES, k): row for k, row in zip(KS, raced(laws, text, KS), strict=True)})
    for stem, kind in STEMS.items():
        own = drafted[:stem][-1]
        rest = np.cumprod(masses[0, stem:])
        for k in further.STEM_KS:
            met[kind, k] = np.concatenate([drafted[:stem], own * _met(rest, k)])
    pairs = [of_two(np.asarray(laws.draft(text[:at]), dtype=np.float64), token) for at, token in enumerate(text)]
    met[BRANCHING, 2] = np.cumprod(pairs)
    favoured = [_or_likeliest(laws.draft(text[:at]), token) for at, token in enumerate(text)]
    met[FAVOURED, 2] = np.cumprod(favoured)
    found: dict[Kind, FLOAT] = {}
    for kind, chances in met.items():
        found[kind] = np.zeros(LONGEST)
        # What ends the text is no accepted token that something follows.
        held = np.minimum.accumulate(np.minimum(1.0, chances / written))[: len(text) - laws.ends(text)]
        found[kind][: len(held)] = held
    return found


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
    return np.array(
        [[float(law(text[:at])[token]) for at, token in enumerate(text)] for law in (laws.draft, laws.target)]
    )


def _met(masses: FLOAT, k: int) -> FLOAT:
    """Return 1 − (1 − d)^k as a sum of positive terms, d times Σ_j (1 − d)^j."""
    rows: Sequence[FLOAT] = [(1 - masses) ** power for power in range(k)]
    return masses * np.sum(rows, axis=0)
