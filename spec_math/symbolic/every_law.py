"""All theorems that are proved for every law, in one tuple.

Source: the theorem pages of the book, which each theorem names.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from spec_math import string_level
from spec_math.block_level.methods import METHODS, Method, paths
from spec_math.language.model import Model
from spec_math.scheme import Proven, Scheme, Tokens
from spec_math.symbolic import block_theorems, token_theorems
from spec_math.symbolic.block_theorems import Block
from spec_math.symbolic.theorem import Theorem
from spec_math.token_level import SCHEMES

QUICK = 2.0
"""Seconds on one core up to which a proof counts as quick."""


def chosen(words: tuple[str, ...] = (), quick: bool = False) -> tuple[Theorem, ...]:
    """Return the theorems whose name and scope hold one of these words or phrases, all of them where there are none.

    Raises:
        ValueError: a word is in no theorem.

    >>> [theorem.scope for theorem in chosen(("one-hot draft: lossless",))][0]
    'all distributions on 2 tokens, 1 draft'
    """
    for word in words:
        if not any(_mentions(theorem, word) for theorem in THEOREMS):
            names = sorted({theorem.name for theorem in THEOREMS})
            raise ValueError(f"no theorem mentions {word!r}; there are: {'; '.join(names)}")
    return tuple(
        theorem
        for theorem in THEOREMS
        if (not words or any(_mentions(theorem, word) for word in words)) and (not quick or theorem.seconds <= QUICK)
    )


def _mentions(theorem: Theorem, word: str) -> bool:
    return word.lower() in f"{theorem.name} {theorem.scope}".lower()


def _of_one_position(scheme: Scheme) -> list[Theorem]:
    proven = scheme.proven or _small(scheme)
    return [
        replace(kind(scheme, tokens, drafts, seconds), formal=formal)
        for kind, sizes, formal in (
            (token_theorems.lossless, proven.lossless, proven.formal),
            (token_theorems.as_its_formula, proven.formulas, ""),
            (token_theorems.optimal, proven.optimal, ""),
        )
        for tokens, drafts, seconds in sizes
    ]


def _small(scheme: Scheme) -> Proven:
    """The sizes proved of a scheme that names none: that it is lossless on two tokens, and accepts as it says."""
    sizes = ((2, scheme.drafts or 2, 1.0),)
    return Proven(sizes, sizes if scheme.emit is not None else ())


def _of_blocks(method: Method) -> list[Theorem]:
    found: list[Theorem] = []
    for proven in method.proven:
        lookahead, k = len(proven.widths), proven.widths[0]
        generate = _generator(method, proven.widths)
        if proven.rounds > 1:
            twice = block_theorems.lossless_twice(method.name, generate, 2, lookahead + 2, proven.seconds)
            found.append(replace(twice, formal=proven.formal))
            continue
        name = method.name if method.one_chain else f"{method.name}, {_shape(proven.widths)}"
        once = block_theorems.lossless(name, generate, 2, lookahead, proven.end, proven.seconds)
        found.append(replace(once, formal=proven.formal))
        if proven.length:
            expected = partial(_expected, method, k)
            found.append(block_theorems.length_as_its_formula(name, generate, expected, lookahead, proven.length))
    return found


def _shape(widths: tuple[int, ...]) -> str:
    return f"{widths[0]} chains" if widths == paths(len(widths), widths[0]) else f"a tree {widths}"


def _generator(method: Method, widths: tuple[int, ...]) -> Block:
    if method.on_tree is not None:
        return block_theorems.sized(method.on_tree, widths)
    return block_theorems.sized(method.generate, len(widths), widths[0])


def _expected(method: Method, k: int, target: Model, draft: Model, prefix: Tokens, lookahead: int) -> Any:
    return method.expected(target, draft, prefix, lookahead, k)


def theorems() -> tuple[Theorem, ...]:
    """Return all theorems, as the records of schemes and methods list them."""
    return (
        *(theorem for scheme in SCHEMES for theorem in _of_one_position(scheme)),
        *(theorem for method in METHODS for theorem in _of_blocks(method)),
        *block_theorems.theorems(),
        *token_theorems.theorems(),
        *(
            block_theorems.string_theorems_lossless(
                method.name, method.generate, proven.vocabularies, proven.lookahead, proven.seconds
            )
            for method in string_level.METHODS
            for proven in method.proven
        ),
    )


THEOREMS: tuple[Theorem, ...] = theorems()
