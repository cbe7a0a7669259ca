"""Tokenized models for proofs over two vocabularies: overlapping tokens, laws of the whole context, end tokens."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows
from spec_math.arrays import Array, exact, proportional_to
from spec_math.language import TokenizedModel, Vocabulary

TARGET_WORDS = ("a", "b", "aa", "ab", "ba", "bb", "aab", "bba")
DRAFT_WORDS = (*TARGET_WORDS, "c", "ac", "cb")


def speaker(tokens: Any, *rows: Any, special: Any = (), end: int | None = None) -> TokenizedModel:
    """A speaker whose context picks one of the given laws."""
    return TokenizedModel(Rows(tuple(exact(row) for row in rows), end), Vocabulary(tokens, special))


def weighed(random: Random, size: int) -> Array:
    """A law of whole weights, with zeros."""
    weights = [random.choice([0, 1, 1, 2, 4]) for _ in range(size)]
    weights[random.randrange(size)] += 1
    return proportional_to(weights)


@st.composite
def speaker_pairs(draw: st.DrawFn, ends: bool | None = None, most: int = 3) -> tuple[TokenizedModel, TokenizedModel]:
    """A target over letters a, b and a drafter that may also say c, which no target token spells.

    Tokens overlap ('a', 'aa', 'ab'), so that drafted text is read otherwise than it was drafted, and some of it cannot
    be tokenised. `ends` None lets chance say whether the target and the drafter have end tokens: a special token
    without text, or an ordinary one with a text. The words are drawn by a seed, since Hypothesis likes vocabularies of
    one token, which show nothing.
    """
    random = Random(draw(st.integers(0, 2**32 - 1)))
    kinds = ["none", "none", "special", "text"] if ends is None else ["special" if ends else "none"]
    target = _speaker(random, _words(random, TARGET_WORDS, most), random.choice(kinds))
    drafter = _speaker(random, _words(random, random.choice([TARGET_WORDS, DRAFT_WORDS]), most), random.choice(kinds))
    return target, drafter


def _words(random: Random, pool: tuple[str, ...], most: int) -> list[str]:
    # Two times in three a and b are among them, so that much of what is drafted can be read.
    first = random.choice([["a", "b"], ["b", "a"], []])
    others = random.sample(pool, random.randint(1, most))
    return list(dict.fromkeys([*first, *others]))[: max(most, 1)]


def _speaker(random: Random, words: list[str], kind: str) -> TokenizedModel:
    tokens = [*words, "<end>"] if kind == "special" else words
    end = None if kind == "none" else len(tokens) - 1
    rows = tuple(weighed(random, len(tokens)) for _ in range(random.choice([1, 5, 7])))
    return TokenizedModel(Rows(rows, end), Vocabulary(tokens, [end] if kind == "special" and end is not None else []))
