"""Grammars: to mask each step is to sample another law than the target's own, given that the text is valid.

A grammar is its complete texts, none of them the beginning of another. After a prefix s the mask keeps the tokens with
which a text can still be completed. With m(s) the target's mass of these, and Φ(s) the probability that the target,
continuing s, ends in a valid text:

    masked       t(y | s)/m(s) on the kept tokens              P(text) = Π t / Π m
    conditioned  t(y | s)·Φ(sy)/Φ(s)                           P(text) = Π t / Φ(())

Both are models, so that any lossless method emits either exactly; a decoder that sees the mask alone emits the first.
Weighting a masked text by Π m corrects it: Σ over texts of masked·Π m is Φ(()).

Source: Zhang et al. 2026 (2605.07698) for the two laws and Φ; read as far as its abstract.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.block_level.conditionals import conditional
from spec_math.language.model import Model
from spec_math.lossy.distances import Distances, distances
from spec_math.lossy.one_draft import ones
from spec_math.scheme import Tokens, is_index


@dataclass(frozen=True)
class Grammar:
    """The complete texts of a finite grammar, and the tokens that may follow each of their beginnings.

    Made by `grammar`. Source: our own.
    """

    texts: tuple[Tokens, ...]
    following: dict[Tokens, tuple[int, ...]]


def grammar(texts: Iterable[Iterable[int]]) -> Grammar:
    """Return the grammar of these texts, tuples of token indices, in their order.

    Raises:
        ValueError: there is no text, one is empty, or one is the beginning of another. TypeError: no token index.

    >>> grammar([(0, 1), (0, 0)]).following[0,]
    (0, 1)
    """
    listed = tuple(dict.fromkeys(tuple(text) for text in texts))
    if not listed or () in listed:
        raise ValueError("a grammar needs at least one text, of at least one token each; it has no valid completion")
    following: dict[Tokens, set[int]] = {}
    for text in listed:
        for place, token in enumerate(text):
            if not is_index(token) or token < 0:
                raise TypeError(f"a text of a grammar is a tuple of token indices; got {text!r}")
            following.setdefault(text[:place], set()).add(int(token))
    for text in listed:
        if text in following:
            raise ValueError(
                f"the text {text} is the beginning of another; let all texts end with an end token, or be of one length"
            )
    return Grammar(listed, {prefix: tuple(sorted(tokens)) for prefix, tokens in following.items()})


def masked(target: Model, language: Grammar) -> Model:
    """Return the model that masks each step: the target's law restricted to the tokens that the grammar keeps.

    What it is asked for after a prefix outside the grammar is the target's own law.

    Raises:
        ValueError: from the model, where the target has no mass on any token that the grammar keeps.

    >>> masked(lambda prefix: ["1/2", "1/4", "1/4"], grammar([(0, 1), (2, 2)]))(()).tolist()
    [Fraction(2, 3), Fraction(0, 1), Fraction(1, 3)]
    """

    def model(prefix: Tokens) -> Array:
        listed = tuple(prefix)
        row = conditional(target, listed)
        if listed not in language.following:
            return row
        kept = row * _mask(language, listed, row)
        if kept.sum() == 0:
            raise ValueError(
                f"after {listed} the grammar keeps the tokens {language.following[listed]}, and the target has no mass "
                "on any of them: masking cannot go on"
            )
        return kept / kept.sum()

    return model


def completion(target: Model, language: Grammar, prefix: Tokens = ()) -> Any:
    """Return Φ, the probability that the target, a model of laws [V], completes a prefix to a text of the grammar.

    >>> completion(lambda prefix: ["1/2", "1/4", "1/4"], grammar([(0, 1), (2, 2)]))
    Fraction(3, 16)
    """
    if prefix not in language.following:
        return conditional(target, ()).sum() * (1 if prefix in language.texts else 0)
    row = conditional(target, prefix)
    total = row[0] * 0
    for token in language.following[prefix]:
        if token < len(row) and row[token] > 0:
            total = total + row[token] * completion(target, language, (*prefix, token))
    return total


def conditioned(target: Model, language: Grammar) -> Model:
    """Return the target's law given that the text is valid, as a model: t(y | s)·Φ(sy)/Φ(s).

    After a prefix that no valid text has it answers with the target's own law.

    Raises:
        ValueError: the target emits no text of the grammar.

    >>> conditioned(lambda prefix: ["1/2", "1/4", "1/4"], grammar([(0, 1), (2, 2)]))(()).tolist()
    [Fraction(2, 3), Fraction(0, 1), Fraction(1, 3)]
    """
    if not completion(target, language) > 0:
        raise ValueError(
            f"the target emits no text of the grammar: the probability of a valid completion is 0; its "
            f"{len(language.texts)} text(s) begin with {language.texts[0]}"
        )

    def model(prefix: Tokens) -> Array:
        listed = tuple(prefix)
        row = conditional(target, listed)
        reached = completion(target, language, listed) if listed in language.following else 0
        if not reached > 0:
            return row
        weights = row * 0
        for token in language.following[listed]:
            if token < len(row):
                weights[token] = row[token] * completion(target, language, (*listed, token)) / reached
        return weights

    return model


def text_law(model: Model, language: Grammar) -> list[Any]:
    """Return the probabilities with which a model emits the texts of a grammar, in their order.

    >>> language = grammar([(0, 1), (2, 2)])
    >>> text_law(masked(lambda prefix: ["1/2", "1/4", "1/4"], language), language)
    [Fraction(2, 3), Fraction(1, 3)]
    """
    found: list[Any] = []
    for text in language.texts:
        mass: Any = 1
        for place, token in enumerate(text):
            row = conditional(model, text[:place])
            mass = mass * (row[token] if token < len(row) else row[0] * 0)
        found.append(mass)
    return found


def correction(target: Model, language: Grammar) -> list[Any]:
    """Return for each text conditioned/masked = Π m(prefixes)/Φ(()), for a target model of laws [V].

    Raises:
        ValueError: the target emits no text of the grammar.

    >>> correction(lambda prefix: ["1/2", "1/4", "1/4"], grammar([(0, 1), (2, 2)]))
    [Fraction(1, 1), Fraction(1, 1)]
    """
    whole = completion(target, language)
    if not whole > 0:
        raise ValueError("the target emits no text of the grammar: the probability of a valid completion is 0")

    def kept(prefix: Tokens) -> Any:
        row = conditional(target, prefix)
        return (row * _mask(language, prefix, row)).sum()

    return [prod((kept(text[:place]) for place in range(len(text))), start=1 / whole) for text in language.texts]


def gap(target: Model, language: Grammar) -> Distances:
    """Return the distances of the law of masked texts from the law that the target has given validity.

    Raises:
        ValueError: as `conditioned`.

    >>> gap(lambda prefix: ["1/2", "1/4", "1/4"], grammar([(0, 1), (2, 2)])).total_variation
    Fraction(0, 1)
    """
    wanted = text_law(conditioned(target, language), language)
    return distances(text_law(masked(target, language), language), wanted)


def _mask(language: Grammar, prefix: Tokens, row: Array) -> Array:
    return ones(np.isin(np.arange(len(row)), language.following[prefix]), row)
