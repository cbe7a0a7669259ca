"""A tree whose siblings are drawn once a position, and stand below every node of the position before.

The tree behind a rejection of SJD-PAC is one, and so is the tree of a drafter that gives all laws of positions at once.

Source: the tree is that of Kang et al. 2026, "SJD-PAC", as in its public code; the walk and its proof are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.block_level import without_replacement as walk
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, checked_widths
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level import pooled_priority, without_replacement

Emit = walk.Emit


class ByPosition:
    """A drafter that looks at the place of the next token alone: rows[i] after i tokens behind a prefix.

    >>> ByPosition([[1, 0], [0, 1]], start=3)((0, 0, 0, 1))
    [0, 1]
    """

    def __init__(self, rows: Sequence[Any], start: int = 0, end: int | None = None) -> None:
        self.rows, self.start, self.end = rows, start, end

    def __call__(self, prefix: Sequence[int]) -> Any:
        """Return the law of the place behind a prefix; the last one of all places further on."""
        return self.rows[min(len(prefix) - self.start, len(self.rows) - 1)]


def generate(
    coin: Coin,
    target_model: Model,
    rows: Sequence[Any],
    prefix: Sequence[int],
    widths: Sequence[int],
    emit: Emit = pooled_priority.emit_without_replacement,
) -> Tokens:
    """Draft a tree from laws of positions, and walk down it while a sibling is accepted.

    The law: the tokens, continued by the target, have the target's joint law, for any rows [L, V] that do not see the
    coins. widths[i] distinct tokens are drawn from rows[i], the same below every node of level i. `emit` verifies
    distinct drafts of one position: the optimal plan, or recursive rejection, `without_replacement.emit`.

    Raises:
        ValueError, TypeError: there are not as many rows as widths; otherwise as `without_replacement.generate`.

    >>> from spec_math.chance import law
    >>> rows = [["1/2", "1/2", 0]] * 2
    >>> emitted = law(lambda coin: generate(coin, lambda prefix: ["3/4", "1/4", 0], rows, (), (2, 1)))
    >>> sum(mass for text, mass in emitted.items() if text[0] == 1)
    Fraction(1, 4)
    """
    levels = _fitting(rows, widths)
    draft = ByPosition(rows, len(tuple(prefix)), getattr(target_model, "end", None))
    laws = Conditionals(target_model, draft, prefix)
    return walk.verify(coin, grow(coin, rows, levels), laws, emit)


def grow(coin: Coin, rows: Sequence[Any], widths: Sequence[int]) -> tuple[Node, ...]:
    """Draw the siblings of every position, and return the tree in which they stand below every node: its first level.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: grow(coin, [["1/2", "1/2"], [0, 1]], (2, 1)), [0, 0, 0])[1]
    Node(token=1, children=(Node(token=1, children=()),))
    """
    below: tuple[Node, ...] = ()
    drawn = [without_replacement.draw(coin, row, width) for row, width in zip(rows, widths, strict=True)]
    for tokens in reversed(drawn):
        below = tuple(Node(token, below) for token in tokens)
    return below


def expected(target_model: Model, rows: Sequence[Any], prefix: Sequence[int], widths: Sequence[int]) -> Any:
    """Return the expected tokens per target call of recursive rejection, those of the tree drawn anew below every node.

    A node is judged by its own siblings alone, and their law is the same. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["3/4", "1/4", 0], [["1/2", "1/2", 0]] * 2, (), (2, 1))
    Fraction(11, 4)
    """
    draft = ByPosition(rows, len(tuple(prefix)), getattr(target_model, "end", None))
    return walk.expected(target_model, draft, prefix, _fitting(rows, widths))


def _fitting(rows: Sequence[Any], widths: Sequence[int]) -> tuple[int, ...]:
    levels = checked_widths(widths)
    if len(rows) != len(levels):
        raise ValueError(f"one distribution a level: got {len(rows)} for the {len(levels)} levels of widths {levels}")
    return levels
