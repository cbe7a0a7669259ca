"""Which two models a comparison of blocks is about: the embedded default, or tables read from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spec_math.block_level.conditionals import Conditionals
from spec_math.language import Table
from spec_math.language.context_tree import windows
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.studies.positions import stream


@dataclass(frozen=True)
class BlockModels:
    """Two models, the prefixes that blocks start from, what they are, and the tokens' names where they have any."""

    target: Model
    draft: Model
    prefixes: tuple[Tokens, ...]
    size: int
    source: str
    names: Sequence[str] | None = None

    def text(self, tokens: Sequence[int]) -> str:
        """Write tokens as words, or as indices where they have no names."""
        return " ".join(str(token) if self.names is None else self.names[token] for token in tokens)


def embedded() -> BlockModels:
    """Return the embedded default: blocks start at every held-out word.

    >>> len(embedded().prefixes) > 1000
    True
    """
    found = stream.default_models()
    contexts, _ = windows(found.corpus.held_out, stream.TARGET_ORDER)
    prefixes = tuple(tuple(token for token in context if token >= 0) for context in contexts.tolist())
    source = (
        f"n-gram models of orders {stream.TARGET_ORDER} and {stream.DRAFT_ORDER} learnt from CPython's "
        f"documentation, from {len(prefixes):,} held-out words on"
    )
    return BlockModels(found.target, found.draft, prefixes, found.corpus.size, source, found.corpus.names)


def from_tables(target: Path, draft: Path, prefix: str = "") -> BlockModels:
    """Read two tables (`language.Table.load`), to start from one prefix: token indices with blanks between them.

    Raises:
        ValueError, TypeError, OSError: a file is not a table, the two do not fit, or the prefix is none of them; errors
            name the file or the prefix.

    >>> from_tables(Path("none.json"), Path("none.json"))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'none.json'
    """
    models = Table.load(target), Table.load(draft)
    if not all(part.isascii() and part.isdigit() for part in prefix.split()):
        raise ValueError(f"--prefix lists token indices with blanks between them, such as '0 12 3'; got {prefix!r}")
    start = tuple(int(part) for part in prefix.split())
    laws = Conditionals(*models, start)
    laws.draft()
    source = f"{target} and {draft}, after the prefix {start}" if start else f"{target} and {draft}"
    return BlockModels(*models, (laws.prefix,), laws.size, source)
