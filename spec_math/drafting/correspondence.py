"""The target token of each draft token, if any, and a draft law carried over to the target's tokens along it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, is_exact
from spec_math.arrays import as_law as checked
from spec_math.language import Vocabulary
from spec_math.language.model import Model
from spec_math.language.overlap import pairs
from spec_math.language.tokenizer import TokenizedModel
from spec_math.scheme import Tokens


@lru_cache(maxsize=8)
def places(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> np.ndarray[Any, Any]:
    """Return for each draft token the target token that adds the same bytes, or −1: T ∩ D.

    Special tokens correspond by name, among themselves. Draft tokens with the same bytes share one target token; of
    target tokens with the same bytes it is the one that texts are read as.

    >>> places(Vocabulary(["a", "ab"]), Vocabulary(["ab", "b", "a"])).tolist()
    [1, -1, 0]
    """
    found = np.full(len(draft_vocabulary), -1, dtype=np.int64)
    for ours, theirs in pairs(target_vocabulary, draft_vocabulary):
        found[theirs] = ours
    for repeated, read in draft_vocabulary.repeats.items():
        found[repeated] = found[read]
    found.flags.writeable = False
    return found


def carried(draft: Any, target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> tuple[Array, Array]:
    """Carry a draft law [..., D] over to the target's tokens: its masses on T [..., T], and those beyond T [..., D∖T].

    No mass is lost or rescaled: both together sum to 1. The second part is in the order of the draft vocabulary.

    Raises:
        ValueError: the masses are not a probability distribution, or not one on the draft vocabulary.

    >>> shared, beyond = carried(["1/2", "1/3", "1/6"], Vocabulary(["a", "c"]), Vocabulary(["a", "b", "d"]))
    >>> shared.tolist(), beyond.tolist()
    ([Fraction(1, 2), Fraction(0, 1)], [Fraction(1, 3), Fraction(1, 6)])
    """
    d = on_vocabulary(draft, draft_vocabulary, "draft")
    place, first, others, beyond = _sides(target_vocabulary, draft_vocabulary)
    masses = blank(d, len(target_vocabulary))
    masses[..., place[first]] = d[..., first]
    for token in others:
        masses[..., place[token]] = masses[..., place[token]] + d[..., token]
    return masses, d[..., beyond]


@lru_cache(maxsize=8)
def _sides(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> tuple[Any, Any, Any, Any]:
    """Return `places`, and the draft tokens that are written, those that are added to them, and those beyond T.

    Of draft tokens with the same bytes the first is written and the others are added to it.
    """
    place = places(target_vocabulary, draft_vocabulary)
    inside = np.flatnonzero(place >= 0)
    first = np.unique(place[inside], return_index=True)[1]
    return place, inside[first], np.delete(inside, first), np.flatnonzero(place < 0)


def on_vocabulary(masses: Any, vocabulary: Vocabulary, name: str) -> Array:
    """Check that masses [..., V] are laws on the tokens of a vocabulary.

    >>> on_vocabulary(["1/2", "1/2"], Vocabulary(["a"]), "target")
    Traceback (most recent call last):
    ValueError: target: its vocabulary has 1 tokens; the distribution has 2
    """
    row = checked(masses, name)
    if row.shape[-1] != len(vocabulary):
        raise ValueError(f"{name}: its vocabulary has {len(vocabulary)} tokens; the distribution has {row.shape[-1]}")
    return row


def blank(like: Array, size: int) -> Array:
    """Return zeros [..., size] of the kind of an array [..., V].

    >>> from spec_math.arrays import exact
    >>> blank(exact([1]), 2).tolist()
    [Fraction(0, 1), Fraction(0, 1)]
    """
    shape = (*like.shape[:-1], size)
    if is_exact(like):
        return np.full(shape, like.flat[0] * 0, dtype=object)
    return array_namespace(like).zeros(shape, dtype=like.dtype, device=like.device)


def law_after(drafter: TokenizedModel, target_vocabulary: Vocabulary, prefix: tuple[int, ...]) -> Array:
    """Return the drafter's law [D] after a text in target tokens, which it reads as its own (`TokenizedModel.read`).

    >>> drafter = TokenizedModel({(): ["1/2", "1/2"], (1,): ["1/3", "2/3"]}.__getitem__, Vocabulary(["a", "ab"]))
    >>> law_after(drafter, Vocabulary(["a", "b"]), (0, 1)).tolist()
    [Fraction(1, 3), Fraction(2, 3)]
    """
    return drafter.law(drafter.read(target_vocabulary.spell(prefix)))


class Ending:
    """A model with an end token of its own, or None.

    >>> Ending(lambda prefix: ["1/4", "3/4"], 1).end
    1
    """

    def __init__(self, law: Model, end: int | None) -> None:
        self._law, self.end = law, end

    def __call__(self, prefix: Tokens) -> Any:
        """Return the law [V] after prefix."""
        return self._law(prefix)


class Mapped:
    """A model whose law after a prefix is change(law, prefix); it ends where the model it stands before ends.

    >>> Mapped(lambda prefix: ["1/4", "3/4"], lambda law, prefix: law[::-1])(()).tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """

    def __init__(self, model: Model, change: Callable[[Array, Tokens], Array]) -> None:
        self.end: int | None = getattr(model, "end", None)
        self._model = model
        self._change = change

    def __call__(self, prefix: Tokens) -> Array:
        """Return the changed law [V] after prefix."""
        return self._change(checked(self._model(prefix), f"draft after {prefix}"), prefix)
