"""Theorems about blocks, for all laws: lossless with any context, with the expected length of the formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from spec_math.arrays import Array
from spec_math.block_level import length
from spec_math.block_level.lossless import check_lossless_block
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.symbolic.claims import Fails, Holds, equal
from spec_math.symbolic.theorem import Theorem
from spec_math.verdict import Verdict

Block = Callable[[Coin, Model, Model, Tokens], Tokens]
"""A generator of one block: (coin, target model, draft model, prefix) -> the emitted tokens."""


class Rows:
    """A model whose laws are given context by context; it looks back `reach` tokens, and may carry an `end`.

    >>> Rows({(): [1, 0], (0,): [0, 1]}, reach=1)((1, 1, 0))
    [0, 1]
    """

    def __init__(self, rows: Mapping[Tokens, Any], reach: int, end: int | None = None) -> None:
        self.rows = rows
        self.reach = reach
        self.end = end

    def __call__(self, prefix: Tokens) -> Any:
        """Return the law after prefix."""
        return self.rows[prefix[max(0, len(prefix) - self.reach) :]]


def lossless(
    name: str, generate: Block, tokens: int, lookahead: int, end: int | None = None, seconds: float = 1.0
) -> Theorem:
    """Return the theorem that a block, continued by the target, has the target's joint law of lookahead + 1 tokens.

    Every context has a law of its own, for the target and for the draft. `end` is a token that ends the text.

    >>> lossless("mine", lambda coin, target, draft, prefix: (coin.draw(target(prefix)),), 2, 1).scope
    'blocks of 1 on 2 tokens, each context its own laws'
    """

    def statement(target: Model, draft: Model) -> Verdict:
        return check_lossless_block(lambda coin, prefix: generate(coin, target, draft, prefix), target, lookahead + 1)

    scope = f"blocks of {lookahead} on {tokens} tokens, each context its own laws"
    if end is not None:
        scope += f", token {end} ends the text"
    contexts = [_contexts(tokens, reach, end) for reach in (lookahead, lookahead - 1)]
    return _theorem(f"{name}: lossless", scope, statement, _Setting(tokens, lookahead, contexts, end), seconds)


def lossless_twice(name: str, generate: Block, tokens: int, horizon: int, seconds: float = 1.0) -> Theorem:
    """Return the theorem that two blocks in a row have the target's joint law, for models that know the last token.

    >>> lossless_twice("mine", lambda coin, target, draft, prefix: (coin.draw(target(prefix)),), 2, 2).scope
    'two blocks in a row on 2 tokens, laws by the last token'
    """

    def statement(target: Model, draft: Model) -> Verdict:
        return check_lossless_block(
            lambda coin, prefix: generate(coin, target, draft, prefix), target, horizon, rounds=2
        )

    scope = f"two blocks in a row on {tokens} tokens, laws by the last token"
    setting = _Setting(tokens, 1, [_contexts(tokens, 1)] * 2)
    return _theorem(f"{name}: lossless", scope, statement, setting, seconds)


def length_as_its_formula(
    name: str, generate: Block, expected: Callable[..., Any], lookahead: int, seconds: float = 1.0
) -> Theorem:
    """Return the theorem that the tokens per target call of a method, walked path by path, are its closed form.

    `expected(target model, draft model, prefix, lookahead)`, on 2 tokens.

    >>> from spec_math.block_level import chain
    >>> def generate(coin, target, draft, prefix):
    ...     return chain.generate(coin, target, draft, prefix, 1)
    >>> length_as_its_formula("one chain", generate, chain.expected, 1).name
    'one chain: length as its formula says'
    """

    def statement(target: Model, draft: Model) -> Holds | Fails:
        walked = length.expected(lambda coin, prefix: generate(coin, target, draft, prefix), ())
        return equal({"tokens per target call": (walked, expected(target, draft, (), lookahead))})

    scope = f"blocks of {lookahead} on 2 tokens, each context its own laws"
    setting = _Setting(2, lookahead, [_contexts(2, lookahead), _contexts(2, lookahead - 1)])
    return _theorem(f"{name}: length as its formula says", scope, statement, setting, seconds)


class _Setting:
    """The laws of a block theorem: the contexts of the target and of the draft, one law each."""

    def __init__(self, tokens: int, reach: int, contexts: Sequence[Sequence[Tokens]], end: int | None = None) -> None:
        self.reach = reach
        self.end = end
        self.contexts = contexts
        self.laws = {
            f"{role}_{''.join(map(str, context))}" if context else role: tokens
            for role, listed in zip("td", contexts, strict=True)
            for context in listed
        }

    def models(self, rows: Sequence[Array]) -> tuple[Model, Model]:
        """Return target and draft model of these laws."""
        target, draft = self.contexts
        split = len(target)
        return (
            Rows(dict(zip(target, rows[:split], strict=True)), self.reach, self.end),
            Rows(dict(zip(draft, rows[split:], strict=True)), self.reach, self.end),
        )


def _theorem(
    name: str, scope: str, statement: Callable[[Model, Model], Any], setting: _Setting, seconds: float
) -> Theorem:
    return Theorem(name, scope, lambda *rows: statement(*setting.models(rows)), setting.laws, seconds=seconds)


def _contexts(tokens: int, longest: int, end: int | None = None) -> list[Tokens]:
    """Return the contexts of up to `longest` tokens that a law can follow."""
    return [
        context
        for size in range(longest + 1)
        for context in product(range(tokens), repeat=size)
        if end is None or end not in context
    ]
