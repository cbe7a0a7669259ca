"""Text generated block by block, each token marked: drafted and accepted, drafted and rejected, or the target's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.text import Text

from spec_math.block_level.methods import Method
from spec_math.report.blocks.models import BlockModels
from spec_math.report.blocks.run import BlockRun, run, start

SHOWN = 3
"""How many rejected drafts of a place are shown."""

STYLES = {"accepted": "green", "rejected": "red strike", "target": "bold cyan", "prefix": "dim"}
MARKS = {"accepted": "{}", "rejected": "-{}-", "target": "[{}]", "prefix": "{}"}


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


def marked(found: Generated, models: BlockModels, colours: bool) -> Text:
    """Write the text with its marks: as colours, or as brackets where there are none.

    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> models = BlockModels(table, table, ((),), 2, "")
    >>> print(marked(Generated((BlockRun((), ((0, 0),), (), (0, 1), 1, ()),)), models, colours=False))
    0 -0- [1]
    """
    text = Text()

    def add(kind: str, token: int) -> None:
        word = models.text((token,))
        text.append(word if colours else MARKS[kind].format(word), style=STYLES[kind] if colours else "")
        text.append(" ")

    for token in found.blocks[0].prefix:
        add("prefix", token)
    for block in found.blocks:
        for token in block.emitted[: block.accepted]:
            add("accepted", token)
        for token in block.rejected[:SHOWN]:
            add("rejected", token)
        for token in block.emitted[block.accepted :]:
            add("target", token)
    text.rstrip()
    return text


def legend(colours: bool) -> Text:
    """Say what the marks mean.

    >>> print(legend(colours=False))
    accepted -rejected- [from the target]
    """
    text = Text()
    for kind, words in (("accepted", "accepted"), ("rejected", "rejected"), ("target", "from the target")):
        text.append(words if colours else MARKS[kind].format(words), style=STYLES[kind] if colours else "")
        text.append(" ")
    text.rstrip()
    return text


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
