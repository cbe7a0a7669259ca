"""Seeds that a function gives to generators itself: with one seed on path after path, its calls repeat one another."""

from __future__ import annotations

from typing import Any


class Seeded:
    """The seeds of generators that the paths of a tape have given, each with the path that gave it first.

    `again` is one that more paths than one have given, as Python writes it, or "".

    >>> from types import SimpleNamespace
    >>> tape = SimpleNamespace(quiet=False, ordinary=None, foreign=lambda: False, numbers={})
    >>> seeded = Seeded(tape)
    >>> seeded(7)
    >>> tape.numbers, before = {}, seeded.again
    >>> seeded(7)
    >>> before, seeded.again
    ('', '7')
    """

    def __init__(self, tape: Any) -> None:
        self._tape = tape
        self._first: dict[str, Any] = {}
        self.again = ""

    def __call__(self, seed: Any) -> None:
        """Note that a generator is seeded on this path."""
        tape = self._tape
        if tape.quiet or tape.ordinary is not None or tape.foreign():
            return
        said = repr(seed)
        # The numbers of a path are its own.
        if self._first.setdefault(said, tape.numbers) is not tape.numbers:
            self.again = said
