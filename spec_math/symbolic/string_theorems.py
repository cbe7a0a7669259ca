"""Theorems about drafters with another vocabulary: lossless on fixed small vocabularies, for all laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spec_math.arrays import Array
from spec_math.block_level.lossless import check_lossless_block
from spec_math.chance import Coin
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.scheme import Tokens
from spec_math.symbolic.block_theorems import Rows
from spec_math.symbolic.theorem import Theorem
from spec_math.verdict import Verdict

Generate = Callable[[Coin, TokenizedModel, TokenizedModel, Sequence[int], int], Tokens]
"""A generator of one block: (coin, target, drafter, prefix, lookahead) -> the emitted target tokens."""

Vocabularies = tuple[tuple[str, ...], tuple[str, ...]]
"""The target's tokens and the drafter's."""


def lossless(
    name: str, generate: Generate, vocabularies: Vocabularies, lookahead: int = 2, seconds: float = 1.0
) -> Theorem:
    """Return the theorem that a block, continued by the target, has the target's joint law of its first two tokens.

    Target and drafter have a law at the start and one after each of their tokens.

    >>> from spec_math.drafting import intersection
    >>> lossless("TLI", intersection.generate, (("a", "b"), ("b", "c"))).scope
    'T = {a, b}, D = {b, c}, lookahead 2, laws by the last token'
    """
    sizes = [len(tokens) for tokens in vocabularies]
    spelled = [Vocabulary(list(tokens)) for tokens in vocabularies]
    laws = {
        role if token is None else f"{role}_{token}": size
        for role, tokens, size in zip("td", vocabularies, sizes, strict=True)
        for token in (None, *tokens)
    }

    def statement(*rows: Array) -> Verdict:
        split = sizes[0] + 1
        target, drafter = (
            TokenizedModel(_by_last_token(own), vocabulary)
            for own, vocabulary in zip((rows[:split], rows[split:]), spelled, strict=True)
        )
        return check_lossless_block(
            lambda coin, prefix: generate(coin, target, drafter, prefix, lookahead), target.model, horizon=2
        )

    shown = ", ".join(f"{name} = {{{', '.join(tokens)}}}" for name, tokens in zip("TD", vocabularies, strict=True))
    scope = f"{shown}, lookahead {lookahead}, laws by the last token"
    return Theorem(f"{name}: lossless", scope, statement, laws, seconds=seconds)


def _by_last_token(rows: Sequence[Array]) -> Rows:
    return Rows({(): rows[0], **{(token,): row for token, row in enumerate(rows[1:])}}, reach=1)
