"""Theorems about blocks, for all laws: lossless with any context, with the expected length of the formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from spec_math.arrays import Array
from spec_math.block_level import planned_tree, stochastic_beam, target_only, univer
from spec_math.block_level.lossless import check_lossless_block
from spec_math.block_level.tree import Node
from spec_math.chance import Coin
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.language.model import Model
from spec_math.papers import hierarchical, jacobi, tree_monte_carlo
from spec_math.scheme import Tokens
from spec_math.symbolic.theorem import AsFormulas, Fails, Theorem, equal
from spec_math.verdict import Verdict

Block = Callable[[Coin, Model, Model, Tokens], Tokens]
"""A generator of one block: (coin, target model, draft model, prefix) -> the emitted tokens."""


class Rows:
    """A model whose laws are given context by context; it looks back `reach` tokens, and may carry an `end`."""

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
    """

    scope = f"blocks of {lookahead} on {tokens} tokens, each context its own distributions"
    if end is not None:
        scope += f", token {end} ends the text"
    setting = tokens, (lookahead, lookahead - 1), end
    return _theorem(f"{name}: lossless", scope, _is_lossless(generate, lookahead + 1), setting, seconds)


def lossless_twice(name: str, generate: Block, tokens: int, horizon: int, seconds: float = 1.0) -> Theorem:
    """Return the theorem that two blocks in a row have the target's joint law, for models that know the last token."""

    scope = f"two blocks in a row on {tokens} tokens, distributions by the last token"
    return _theorem(f"{name}: lossless", scope, _is_lossless(generate, horizon, 2), (tokens, (1, 1), None), seconds)


def _is_lossless(generate: Block, horizon: int, rounds: int = 1) -> Callable[[Model, Model], Verdict]:
    return lambda target, draft: check_lossless_block(
        lambda coin, prefix: generate(coin, target, draft, prefix), target, horizon, rounds
    )


def length_as_its_formula(
    name: str, generate: Block, expected: Callable[..., Any], lookahead: int, seconds: float = 1.0
) -> Theorem:
    """Return the theorem that the tokens per target call of a method, walked path by path, are its closed form.

    `expected(target model, draft model, prefix, lookahead)`, on 2 tokens.
    """

    def statement(target: Model, draft: Model) -> AsFormulas | Fails:
        formulas = {"tokens per target call": (len, expected(target, draft, (), lookahead))}
        return equal(lambda coin: generate(coin, target, draft, ()), formulas)

    scope = f"blocks of {lookahead} on 2 tokens, each context its own distributions"
    setting = 2, (lookahead, lookahead - 1), None
    return _theorem(f"{name}: length as its formula says", scope, statement, setting, seconds)


def _theorem(
    name: str,
    scope: str,
    statement: Callable[[Model, Model], Any],
    setting: tuple[int, tuple[int, int], int | None],
    seconds: float,
) -> Theorem:
    """Return a theorem about two models on so many tokens, which look so far back, with a law for each context."""
    tokens, reaches, end = setting
    contexts = [_contexts(tokens, reach, end) for reach in reaches]
    laws = {
        f"{role}_{''.join(map(str, context))}" if context else role: tokens
        for role, listed in zip("td", contexts, strict=True)
        for context in listed
    }

    def on_rows(*rows: Array) -> Any:
        split = len(contexts[0])
        parts = zip(contexts, (rows[:split], rows[split:]), strict=True)
        return statement(*(Rows(dict(zip(listed, own, strict=True)), reaches[0], end) for listed, own in parts))

    return Theorem(name, scope, on_rows, laws, seconds=seconds)


def _contexts(tokens: int, longest: int, end: int | None) -> list[Tokens]:
    """Return the contexts of up to `longest` tokens that a law can follow."""
    return [
        context
        for size in range(longest + 1)
        for context in product(range(tokens), repeat=size)
        if end is None or end not in context
    ]


TREES = (
    ("a chain", (Node(0, (Node(1),)),), 2, 2),
    ("a whole level and a branch", (Node(0, (Node(1), Node(0))), Node(1)), 2, 2),
    ("two of three tokens", (Node(0), Node(2)), 3, 1),
)
"""Shapes of chosen trees, with the tokens V and the levels for which they are proved."""


def theorems() -> tuple[Theorem, ...]:
    """Return the theorems of these methods."""

    def length_of_united(target: Model, draft: Model, prefix: Tokens, lookahead: int) -> Any:
        return univer.expected(target, draft, prefix, (2,) * lookahead)

    chosen = [
        lossless(f"target-only, {name}", _on(tree), tokens, levels, end)
        for name, tree, tokens, levels in TREES
        for end in ((None, 1) if name == "a chain" else (None,))
    ]
    return (
        *chosen,
        lossless("stochastic beam, 2 sequences", sized(stochastic_beam.generate, 1, 2), 2, 1),
        lossless("hierarchical verification", sized(hierarchical.generate, 2), 2, 2, seconds=12.0),
        lossless("tree Monte Carlo", sized(tree_monte_carlo.generate, 2), 2, 2, seconds=6.0),
        lossless("UniVer, 2 drafts", sized(univer.generate, (2,)), 2, 1),
        length_as_its_formula("UniVer, 2 drafts", sized(univer.generate, (2,)), length_of_united, 1),
        lossless("UniVer, a tree (2, 1)", sized(univer.generate, (2, 1)), 2, 2, seconds=29.0),
        lossless("UniVer, a tree (2, 1)", sized(univer.generate, (2, 1)), 2, 2, 1, seconds=5.0),
        lossless("UniVer, a tree (1, 2)", sized(univer.generate, (1, 2)), 2, 2, seconds=18.0),
        lossless("planned tree, 2 drafts", sized(planned_tree.generate, (2,)), 2, 1),
        lossless("speculative Jacobi, windows of 1", _jacobi(1, keep=False), 2, 1),
        lossless("speculative Jacobi, windows of 2, continued", _jacobi(2, keep=True), 2, 1, seconds=8.0),
    )


def sized(generate: Callable[..., Tokens], *sizes: Any) -> Block:
    """Return a generator of blocks that is given its sizes."""
    return lambda coin, target, draft, prefix: generate(coin, target, draft, prefix, *sizes)


def _on(tree: tuple[Node, ...]) -> Block:
    return lambda coin, target, draft, prefix: target_only.generate(coin, target, draft, prefix, lambda _: tree)


def _jacobi(window: int, keep: bool) -> Block:
    """Two tokens of the target's own; no drafter is asked."""
    return lambda coin, target, _, prefix: jacobi.generate(coin, target, prefix, 2, window, keep)[0]


Generate = Callable[[Coin, TokenizedModel, TokenizedModel, Sequence[int], int], Tokens]
"""A generator of one block: (coin, target, drafter, prefix, lookahead) -> the emitted target tokens."""

Vocabularies = tuple[tuple[str, ...], tuple[str, ...]]
"""The target's tokens and the drafter's."""


def string_theorems_lossless(
    name: str, generate: Generate, vocabularies: Vocabularies, lookahead: int = 2, seconds: float = 1.0
) -> Theorem:
    """Return the theorem that a block, continued by the target, has the target's joint law of its first two tokens.

    Target and drafter have a law at the start and one after each of their tokens.
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
        parts = _by_last_token(rows[:split]), _by_last_token(rows[split:])
        target, drafter = map(TokenizedModel, parts, spelled)
        return check_lossless_block(
            lambda coin, prefix: generate(coin, target, drafter, prefix, lookahead), target.model, horizon=2
        )

    shown = ", ".join(f"{name} = {{{', '.join(tokens)}}}" for name, tokens in zip("TD", vocabularies, strict=True))
    scope = f"{shown}, lookahead {lookahead}, distributions by the last token"
    return Theorem(f"{name}: lossless", scope, statement, laws, seconds=seconds)


def _by_last_token(rows: Sequence[Array]) -> Rows:
    return Rows({(): rows[0], **{(token,): row for token, row in enumerate(rows[1:])}}, reach=1)
