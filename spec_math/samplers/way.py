"""The path by which explored code comes to an outcome, in words.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Any

from spec_math.chance import paths
from spec_math.pathwise.followed import SOURCES, Followed, Source
from spec_math.pathwise.tape import Tape


def way_to(
    fn: Callable[[], Any],
    wanted: Callable[[Any], bool],
    budget: int = 100_000,
    grid: int | None = None,
    sources: Sequence[Source] = SOURCES,
) -> tuple[str, ...]:
    """Return the first path of a function to an outcome that is wanted, as the draws on it; nothing where none is.

    Arguments and errors are those of `explore`.

    >>> import random
    >>> way_to(lambda: random.random() < 0.25, lambda outcome: outcome)
    ('<python uniform 0> < 0.25: True',)
    """
    tape = Tape(grid)
    run = Followed(fn, sources, tape)
    with run.exploring():
        for path in islice(paths(run), budget):
            if wanted(path.outcome):
                return in_words(tape.log)
    return ()


def in_words(log: Iterable[tuple[str, Hashable]]) -> tuple[str, ...]:
    """Return what was drawn on a path, one sentence a draw.

    >>> in_words([("flip(1/2)", "True"), ("draw with masses 1, 0", "0"), ("seed", "")])
    ('flip(1/2): True', 'draw: 0')
    """
    asked = ((question.partition(" with masses ")[0], answer) for question, answer in log)
    return tuple(f"{question}: {answer}" for question, answer in asked if answer != "")
