"""What a function does to the states of generators itself, so that its calls repeat one another: seeds, and states."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

SEED = "seeds a generator itself, with {} in call after call"
STATE = "sets a generator to one state that it kept, in call after call"
PUT_BACK = "draws from a generator and sets it back to where it was, so that call after call draws the same numbers"


class Seeded:
    """The seeds and states that the paths of a tape have given to generators, each with the path that gave it first.

    A state is as good as a seed, unless the same path has read it; then it matters whether the generator is there still
    when the path ends. `again` says what more paths than one have done, or is "".

    >>> from types import SimpleNamespace
    >>> tape = SimpleNamespace(quiet=False, ordinary=None, foreign=lambda: False, numbers={})
    >>> seeded = Seeded(tape)
    >>> seeded(7)
    >>> tape.numbers, before = {}, seeded.again
    >>> seeded(7)
    >>> before, seeded.again
    ('', 'seeds a generator itself, with 7 in call after call')
    """

    def __init__(self, tape: Any) -> None:
        self._tape = tape
        self._first: dict[Hashable, Any] = {}
        self._path: Any = None
        self._read: set[Hashable] = set()
        self._back: list[tuple[Callable[[], Hashable], Hashable]] = []
        self._settled = False
        self.again = ""

    def __call__(self, seed: Any) -> None:
        """Note that a generator is seeded on this path."""
        if self._listens():
            self._settled = True
            self._given(repr(seed), SEED.format(repr(seed)))

    def read(self, state: Hashable) -> None:
        """Note that this path reads the state of a generator."""
        if self._listens():
            self._read.add(state)

    def restored(self, before: Hashable, now: Callable[[], Hashable]) -> None:
        """Note that a generator in the state `before` was set to the one that it has `now`, on this path."""
        if not self._listens():
            return
        state = now()
        if state not in self._read:
            self._settled = True
            self._given(("a state", state), STATE)
        elif before != state:
            self._back.append((now, state))

    def finish(self) -> None:
        """End a path: a generator that was set back and not drawn from since is where it was."""
        # What a path seeds decides itself whether the next one draws the same.
        if self._listens() and not self._settled and any(now() == state for now, state in self._back):
            self._given(PUT_BACK, PUT_BACK)

    def _listens(self) -> bool:
        """Whether a path of the function is on its way; begin anew where it is another than before."""
        tape = self._tape
        if tape.quiet or tape.ordinary is not None or tape.foreign():
            return False
        # The numbers of a path are its own.
        if self._path is not tape.numbers:
            self._path, self._read, self._back, self._settled = tape.numbers, set(), [], False
        return True

    def _given(self, what: Hashable, said: str) -> None:
        if self._first.setdefault(what, self._path) is not self._path:
            self.again = said
