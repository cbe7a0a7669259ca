"""How a study reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int], Callable[[int], None]]
"""(what is done, its steps) -> a function that is called with how many more steps are done."""


def no_progress(what: str, steps: int) -> Callable[[int], None]:  # noqa: ARG001
    """Show no progress.

    >>> no_progress("work", 2)(1)
    """
    return lambda done: None  # noqa: ARG005


def absolute(step: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function of how many steps are done in all, from one of how many more are done.

    >>> done = []
    >>> seen = absolute(done.append)
    >>> seen(2), seen(5), done
    (None, None, [2, 3])
    """
    seen = 0

    def done(total: int) -> None:
        nonlocal seen
        step(total - seen)
        seen = total

    return done
