"""What a method for blocks is: a record of how it drafts and verifies K paths, and of all that is known about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import perm
from typing import Any

from spec_math.block_level import optimum
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths.given_drafts import Chances, Nodes
from spec_math.block_level.optimum import OptimalLength
from spec_math.block_level.spectr import Verifier
from spec_math.block_level.tree_rules import TreeRule
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.verdict import Bracket

Draft = Callable[[Coin, Conditionals, int, int], tuple[Tokens, ...]]
"""(coin, laws, lookahead, k) -> the drafted paths."""

Generate = Callable[[Coin, Model, Model, Tokens, int, int], Tokens]
"""(coin, target, draft, prefix, lookahead, k) -> the emitted tokens."""

GenerateTree = Callable[[Coin, Model, Model, Tokens, tuple[int, ...]], Tokens]
"""(coin, target, draft, prefix, widths) -> the emitted tokens."""

Expected = Callable[[Model, Model, Tokens, int, int], Any]
"""(target, draft, prefix, lookahead, k) -> tokens per target call, exactly."""

Given = Callable[[Sequence[Tokens], int], Chances]
"""(chains, lookahead) -> the numbers of `given_drafts`."""

Terms = Callable[[int, int, int], float]
"""(V, lookahead, k) -> about how many terms the exact expected length adds up."""


def paths(lookahead: int, k: int) -> tuple[int, ...]:
    """Return the widths of K paths: a tree that branches at its root alone.

    >>> paths(3, 2)
    (2, 1, 1)
    """
    return (k, *[1] * (lookahead - 1))


@dataclass(frozen=True, eq=False)
class Drafts:
    """A kind of drafts: what they are called, and the most that any lossless verifier of them accepts.

    `optimum(target, draft, prefix, lookahead, k)` counts accepted tokens, without the target's own; it is asked for
    where `solvable(V, lookahead, k)` says that it is quick, of floats unless it is `exact`. None: none is known.

    >>> CHAINS.name, CHAINS.solvable(3, 2, 2)
    ('i.i.d. chains', True)
    """

    name: str
    optimum: Callable[[Model, Model, Tokens, int, int], OptimalLength | Bracket] | None = None
    solvable: Callable[[int, int, int], bool] = lambda size, lookahead, k: False  # noqa: ARG005
    exact: bool = False


LEAVES = 100
"""The optimum is solved for where the draft reaches at most so many texts of L tokens."""

SETS = 2_000
"""And, of distinct first tokens, where they can be drawn in at most so many ways, with the texts below them."""


def _few_sets(size: int, lookahead: int, k: int) -> bool:
    drawn = min(k, size)
    return k > 1 and size**lookahead <= LEAVES and perm(size, drawn) * size ** (drawn * (lookahead - 1)) <= SETS


CHAINS = Drafts("i.i.d. chains", optimum.tokens_per_call, lambda size, lookahead, _: size**lookahead <= LEAVES)
"""K chains, each drawn by itself; a single chain is one of them."""

DISTINCT = Drafts(
    "distinct first tokens",
    lambda target, draft, prefix, lookahead, k: optimum.tokens_per_call_of_tree(
        target, draft, prefix, paths(lookahead, k)
    ),
    _few_sets,
    exact=True,
)
"""K chains whose first tokens are drawn without replacement."""


@dataclass(frozen=True)
class Proven:
    """A size for which a method is proved for every law: the tree's widths, a token that ends the text or None.

    `rounds` blocks in a row; `length`: its expected length too. `seconds` on one core. (k, 1, 1) are k paths of three.
    """

    widths: tuple[int, ...]
    seconds: float
    end: int | None = None
    rounds: int = 1
    length: float = 0.0


def _at_most_one(k: int) -> int:  # noqa: ARG001
    return 1


@dataclass(frozen=True, eq=False)
class Method:
    """A way to verify K paths of `lookahead` tokens, with every fact that is known of it.

    `drafts` is the kind of its drafts, whose optimum bounds it; `draft` is the first part of `generate`, which drafts
    the paths. `alone` is the method of one chain that it is for k = 1: None for those methods themselves, which ignore
    k. `verifier` is that of each node of a walk; `on_tree` generates on a tree of any widths, `tree` is the rule for
    drafted trees given as arrays. `prepare(nodes, k)` says
    what `given_drafts` makes of drafts. `effort` says how many samples of the other methods one of this method is
    worth, where time is short. `largest(k)` bounds each number of `given_drafts`: 1 where it is a chance given all
    chains. `proven` lists what is proved for every law, `pages` the pages of the book, its theorem first.

    >>> from spec_math.block_level.methods import METHODS
    >>> METHODS[0].one_chain, METHODS[2].alone is METHODS[0]
    (True, True)
    """

    name: str
    drafts: Drafts
    alone: Method | None
    draft: Draft
    generate: Generate
    expected: Expected
    prepare: Callable[[Nodes, int], Given]
    terms: Terms
    effort: int = 1
    verifier: Verifier | None = None
    on_tree: GenerateTree | None = None
    tree: TreeRule | None = None
    largest: Callable[[int], int] = _at_most_one
    proven: tuple[Proven, ...] = (Proven((2,), 1.0),)
    pages: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The first of its pages, in the book; empty where it has none."""
        return self.pages[0] if self.pages else ""

    @property
    def one_chain(self) -> bool:
        """Whether it drafts one chain, whatever k is."""
        return self.alone is None
