"""How work says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Told = Callable[[str, int], Callable[[int], None]]
"""(what is done, its steps) -> a function that is told how many steps more are done."""


def unseen(what: str, steps: int) -> Callable[[int], None]:  # noqa: ARG001
    """Show no progress.

    >>> unseen("work", 2)(1)
    """
    return lambda done: None  # noqa: ARG005


def absolute(step: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that is told how many steps are done in all, for one that is told how many more are.

    >>> done = []
    >>> told = absolute(done.append)
    >>> told(2), told(5), done
    (None, None, [2, 3])
    """
    seen = 0

    def done(total: int) -> None:
        nonlocal seen
        step(total - seen)
        seen = total

    return done
