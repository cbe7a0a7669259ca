"""Plurals and lists of words, as sentences need them."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[object], last: str = "and") -> str:
    """Return names as a sentence lists them.

    >>> listed(["K-SEQ"]), listed([2, 3, 4]), listed("ab", "or")
    ('K-SEQ', '2, 3 and 4', 'a or b')
    """
    words = [str(name) for name in names]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def bar(chance: float, width: int = 10) -> str:
    """Return a chance as a bar of characters.

    >>> bar(0.3), bar(0.5, 4)
    ('███▁▁▁▁▁▁▁', '██▁▁')
    """
    full = round(chance * width)
    return "█" * full + "▁" * (width - full)


def counted(number: int, what: str) -> str:
    """Return how many there are of what: one of it, or several.

    >>> counted(1, "draft"), counted(12_000, "position"), counted(0, "path")
    ('1 draft', '12,000 positions', '0 paths')
    """
    return f"{number:,} {what}{'s' * (number != 1)}"
