"""One fixed part K of the vocabulary to draft from: by frequency (FR-Spec, VocabTrim), or as EAGLE-3 maps it.

Source: SpecVocab, Sections 2 and 4 (FR-Spec, VocabTrim, EAGLE-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_laws, count
from spec_math.arrays import as_law as checked
from spec_math.distribution import overlap, restricted, top_k
from spec_math.drafting.correspondence import Mapped, blank
from spec_math.language.model import Model
from spec_math.scheme import is_index

Kept = tuple[int, ...]
"""The tokens kept, as target indices in ascending order."""


def draft_law(draft: Any, kept: Sequence[int]) -> Array:
    """Return the draft law [..., V] restricted to the tokens kept: d(x) / d(K) on K, 0 elsewhere.

    That is the softmax over the rows of the output head that are kept, and the only choice of a head that is pruned
    after training; EAGLE-3 trains one of its own, see `spread`.

    Raises:
        ValueError: K is empty, out of range or repeated, or the draft has no mass on it.

    >>> draft_law(["1/4", "1/4", "1/2"], (0, 2)).tolist()
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    """
    d = checked(draft, "draft")
    keep = np.zeros(d.shape[-1], dtype=bool)
    keep[list(_checked(kept, d.shape[-1]))] = True
    return restricted(d, keep if isinstance(d, np.ndarray) else d.new_tensor(keep).bool())


def acceptance(target: Any, draft: Any, kept: Sequence[int]) -> Any:
    """Return Σ_K min(t, d/d(K)), the probability that a draft from K is accepted, for laws [..., V].

    At most t(K), with equality if and only if d/d(K) ≥ t on K.

    Raises:
        ValueError, TypeError: as `draft_law`.

    >>> acceptance(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], (0, 2))
    Fraction(7, 12)
    """
    return overlap(target, draft_law(draft, kept))


def model(draft_model: Model, kept: Sequence[int]) -> Model:
    """Return the draft model restricted to the tokens kept, which every verifier of blocks takes.

    Keep the end token if texts are to end by a draft.

    >>> model(lambda prefix: ["1/4", "1/4", "1/2"], (0, 2))(()).tolist()
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    """
    return Mapped(draft_model, lambda law, _: draft_law(law, kept))


def maps(kept: Sequence[int], size: int) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return EAGLE-3's two buffers: d2t [k], by how much draft token i lies below its target token, and t2d [V].

    The target token of draft token i is i + d2t[i]; t2d says which target tokens are kept.

    Raises:
        ValueError: K is empty, out of range or repeated.

    >>> maps((1, 2, 5), 6)
    ((1, 1, 3), (False, True, True, False, False, True))
    """
    ordered = sorted(_checked(kept, count(size, "size")))
    below = tuple(token - place for place, token in enumerate(ordered))
    return below, tuple(token in ordered for token in range(size))


def spread(masses: Any, d2t: Sequence[int], size: int) -> Array:
    """Return a law [..., k] on a draft's own k tokens as a law [..., V] on the target's, along EAGLE-3's d2t.

    Raises:
        ValueError: there is no offset for each draft token, or two lead to one target token, or out of range.

    >>> spread(["1/4", "3/4"], (1, 1), 4).tolist()
    [Fraction(0, 1), Fraction(1, 4), Fraction(3, 4), Fraction(0, 1)]
    """
    d = checked(masses, "draft")
    kept = _checked([place + offset for place, offset in enumerate(d2t)], count(size, "size"))
    if d.shape[-1] != len(kept):
        raise ValueError(f"d2t has one offset for each draft token; there are {len(kept)}, and {d.shape[-1]} masses")
    result = blank(d, size)
    result[..., list(kept)] = d
    return result


def _checked(kept: Sequence[int], size: int) -> Sequence[int]:
    if not len(kept):
        raise ValueError("a draft needs at least one token to draw; no token is kept")
    wrong = [token for token in kept if not is_index(token) or not 0 <= token < size]
    if wrong:
        raise ValueError(f"the tokens kept are indices in 0..{size - 1}; got {wrong[0]!r}")
    if len(set(kept)) < len(kept):
        raise ValueError(f"each token is kept once; got {len(kept)} tokens, {len(set(kept))} of them different")
    return kept


ENUMERATED = 16
"""The largest vocabulary whose parts are all tried: 12,870 of 8 tokens."""


@dataclass(frozen=True)
class Subset:
    """A part of the vocabulary with what a draft restricted to it accepts, and how it was found.

    method: "enumeration", then no part of this size accepts more; or "greedy", then some part may.
    bound: what no draft law on any part of this size exceeds (`free`).

    >>> best(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], 1).kept
    (2,)
    """

    kept: tuple[int, ...]
    acceptance: Any
    bound: Any
    method: str


def free(target: Any, k: int) -> Any:
    """Return t of the k most likely tokens: the most that any draft law on any k tokens accepts, for laws [..., V].

    max over K and d_K of Σ_K min(t, d_K); d_K = t/t(K) attains it.

    Raises:
        ValueError: k exceeds the vocabulary, or the target is not a probability distribution. TypeError: k is not a
            positive integer.

    >>> free(["1/4", "1/4", "1/2"], 2)
    Fraction(3, 4)
    """
    t = checked(target, "target")
    return (t * (top_k(t, k) > 0)).sum(axis=-1)


def best(target: Any, draft: Any, k: int) -> Subset:
    """Return a part K of exactly k tokens with large Σ_K min(t, d/d(K)): the largest up to V = 16, else greedily.

    Greedily: one token after the other, each time the one that leaves the largest acceptance, lowest index first among
    equals. Laws [V]. O(V k log k) steps.

    Raises:
        ValueError: k exceeds the vocabulary. TypeError: k is not a positive integer.

    >>> best(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], 2)
    Subset(kept=(1, 2), acceptance=Fraction(3, 4), bound=Fraction(3, 4), method='enumeration')
    """
    t, d = as_laws(target, draft)
    bound, small = free(t, k), len(t) <= ENUMERATED
    every = combinations(range(len(t)), k)
    kept = max(every, key=lambda kept: _accepted(t, d, kept)) if small else greedily(t, d, k)
    return Subset(kept, _accepted(t, d, kept), bound, "enumeration" if small else "greedy")


def greedily(target: Any, draft: Any, k: int) -> tuple[int, ...]:
    """Return k tokens found greedily, as `best` does for large vocabularies, in ascending order.

    >>> greedily(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], 2)
    (1, 2)
    """
    t, d = as_laws(target, draft)
    zero = t[0] * 0
    # The kept tokens by t/d ascending: at scale s = 1/d(K) those with t ≤ s·d count t, the others s·d.
    ratios, own, drafted = [np.empty(0, dtype=t.dtype)] * 3
    kept: list[int] = []
    total = zero
    open_ = np.ones(len(t), dtype=bool)
    for _ in range(count(k)):
        choices = np.flatnonzero(open_ & (d > 0))
        if not len(choices):
            kept += np.flatnonzero(open_)[: k - len(kept)].tolist()
            break
        scale = 1 / (total + d[choices])
        met = np.searchsorted(ratios, scale, side="right")
        whole = np.concatenate([[zero], np.cumsum(own)])
        above = np.concatenate([np.cumsum(drafted[::-1])[::-1], [zero]])
        value = whole[met] + scale * above[met] + np.minimum(t[choices], scale * d[choices])
        token = int(choices[int(np.argmax(value))])
        kept.append(token)
        open_[token] = False
        total = total + d[token]
        ratio = t[token] / d[token]
        at = int(np.searchsorted(ratios, ratio))
        entries = (ratios, ratio), (own, t[token]), (drafted, d[token])
        ratios, own, drafted = (np.insert(row, at, value) for row, value in entries)
    return tuple(sorted(kept))


def _accepted(t: Array, d: Array, kept: tuple[int, ...]) -> Any:
    places = list(kept)
    mass = d[places].sum()
    return np.minimum(t[places], d[places] / mass).sum() if mass > 0 else mass
