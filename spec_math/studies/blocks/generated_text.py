"""Text generated block by block, each token marked: drafted and accepted, drafted and rejected, or the target's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.block_level.method import Method
from spec_math.result import Word
from spec_math.studies.blocks.models import BlockModels
from spec_math.studies.blocks.run import BlockRun, run, start

SHOWN = 3
"""How many rejected drafts of a place are shown."""


@dataclass(frozen=True)
class Generated:
    """Blocks in a row, from a prefix on."""

    blocks: tuple[BlockRun, ...]

    @property
    def tokens(self) -> int:
        """How many tokens were emitted."""
        return sum(len(block.emitted) for block in self.blocks)

    @property
    def accepted(self) -> int:
        """How many of them were drafted."""
        return sum(block.accepted for block in self.blocks)


def generate(method: Method, models: BlockModels, size: tuple[int, int], tokens: int, seed: int) -> Generated:
    """Generate at least so many tokens, or up to the end token, in blocks of k paths of L tokens: size = (L, k).

    >>> from spec_math.block_level.methods import METHODS
    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> generate(METHODS[0], BlockModels(table, table, ((),), 2, ""), (2, 1), 5, 0).tokens
    6
    """
    rng: Any = np.random.default_rng(seed)
    prefix = start(models, rng)
    end = getattr(models.target, "end", None)
    blocks: list[BlockRun] = []
    emitted = 0
    while emitted < tokens:
        blocks.append(run(method, models, prefix, size, rng))
        prefix = prefix + blocks[-1].emitted
        emitted += len(blocks[-1].emitted)
        if prefix[-1] == end:
            break
    return Generated(tuple(blocks))


def marked(found: Generated, models: BlockModels) -> tuple[Word, ...]:
    """Return the text word by word, each with its mark.

    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> models = BlockModels(table, table, ((),), 2, "")
    >>> [tuple(word) for word in marked(Generated((BlockRun((), ((0, 0),), (), (0, 1), 1, ()),)), models)]
    [('0', 'kept'), ('0', 'struck'), ('1', 'added')]
    """
    words = [Word(models.text((token,)), "faint") for token in found.blocks[0].prefix]
    for block in found.blocks:
        words += [Word(models.text((token,)), "kept") for token in block.emitted[: block.accepted]]
        words += [Word(models.text((token,)), "struck") for token in block.rejected[:SHOWN]]
        words += [Word(models.text((token,)), "added") for token in block.emitted[block.accepted :]]
    return tuple(words)


LEGEND = Word("accepted", "kept"), Word("rejected", "struck"), Word("from the target", "added")
"""What the marks mean."""


def reached(found: Generated) -> str:
    """Say how many tokens a call of the target yielded.

    >>> reached(Generated((BlockRun((), ((0, 0),), (), (0, 1), 1, ()),)))
    '2 tokens in 1 call of the target: 2.00 a call; 1 of the 2 were drafted'
    """
    calls = len(found.blocks)
    return (
        f"{found.tokens} tokens in {calls} call{'' if calls == 1 else 's'} of the target: "
        f"{found.tokens / calls:.2f} a call; {found.accepted} of the {found.tokens} were drafted"
    )
