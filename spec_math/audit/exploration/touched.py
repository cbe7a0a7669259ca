"""A generator of Python's `random` that a run asked for numbers, and its state, to be set again."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from typing import Any

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.states import words
from spec_math.audit.exploration.tape import Tape

CORE: Any = random.Random.__mro__[1]
"""The class in C below random.Random, whose own methods read and move a state."""

HIDDEN: Any = getattr(random, "_inst", None)
"""The generator behind the module's functions."""


class State:
    """A generator's state, to be set again; its numbers are no random numbers of a run."""

    def __init__(self, seeded: Any, drawn: int, note: Callable[[str], None]) -> None:
        self.seeded, self.drawn, self._note = seeded, drawn, note

    def __getitem__(self, place: Any) -> Any:
        self._note("random.getstate(), whose numbers were read")
        return (random.Random.VERSION, self.seeded, None)[place]

    def __deepcopy__(self, _: Any) -> State:
        return self

    def __reduce__(self) -> Any:
        raise ExploreError("explore does not follow a state of random that is written down; copy the generator")


class Touched:
    """A generator that a run asked for numbers: their place is its state at the last seeding, and how many since.

    The generator itself does not move, so that numbers drawn behind the tape's back are seen in its state.
    """

    def __init__(self, generator: Any, tape: Tape) -> None:
        self.generator, self._tape = generator, tape
        self.words = words(generator)
        self._before: Any = None
        self.at(0)

    def at(self, drawn: int) -> None:
        """Take the generator's own state for the last seeding, and so many numbers drawn since."""
        self._seeded, self._drawn = words(self.generator), drawn
        self._number = self._tape.seeds.setdefault(self._seeded, len(self._tape.seeds))

    def seed(self, seeding: Callable[[], None], drawn: int = 0) -> None:
        """Seed the generator, and keep the state that it had before the run."""
        if self._before is None:
            self._before = CORE.getstate(self.generator)
        seeding()
        self.at(drawn)

    def at_present(self) -> Hashable:
        """Name the state: the last seeding, and how many numbers were drawn since."""
        return "python", self._seeded, self._drawn

    def state(self) -> State:
        """Return the state, to be set again."""
        self._tape.seeded.read(self.at_present())
        return State(CORE.getstate(self.generator), self._drawn, self._tape.note)

    def place(self) -> Any:
        """Name the place of the next number, and move on."""
        self._drawn += 1
        return "python", self._number, self._drawn

    def put_back(self) -> None:
        """Leave the generator as it was before the run."""
        if words(self.generator) != self._seeded:
            self._tape.note(behind(self.generator))
        if self._before is not None:
            CORE.setstate(self.generator, self._before)


def behind(generator: Any) -> str:
    """Name a Python generator whose state changed although the tape was not asked.

    >>> behind(random.Random(0)).startswith("a Random")
    True
    """
    if generator is HIDDEN:
        return BEHIND
    return f"a {type(generator).__name__} of Python's random, drawn from behind explore's back"


BEHIND = (
    "Python's random, drawn from behind explore's back: a function was imported from it before the run (from random "
    "import …); write random.random() in the code, or pass the function in"
)
