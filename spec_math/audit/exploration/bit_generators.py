"""NumPy's bit generators in a run: seeded as they would be, and watched, so that no bits are drawn from them unseen."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from spec_math.audit.exploration.states import frozen
from spec_math.audit.exploration.tape import Tape

REAL: tuple[Any, ...] = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)


class Bits:
    """The bit generators of a run, by identity, with the states that followed draws have left them in."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._left: dict[int, tuple[Any, Any]] = {}
        self._twins: list[tuple[Any, Any]] = []
        self.kinds: dict[int, Any] = {id(real): _watched(real, self, tape) for real in REAL}

    def begin(self) -> None:
        """Start a run: twins are where they began, and no others have been made."""
        for twin, state in self._twins:
            if id(twin) in self._left:
                twin.state = state
        self._left = {}

    def left(self, bits: Any) -> None:
        """Keep the state of a bit generator that was seeded, or drawn from by the tape."""
        self._left[id(bits)] = bits, frozen(bits)

    def place(self, bits: Any) -> Any:
        """Return the state that the next numbers come from."""
        state = frozen(bits)
        known = self._left.get(id(bits))
        if known is not None and known[1] != state:
            self._behind(bits)
        return state

    def check(self) -> None:
        """Note what was drawn from behind the tape's back."""
        for bits, state in self._left.values():
            if frozen(bits) != state:
                self._behind(bits)

    def copied(self, bits: Any) -> Any:
        """Return a bit generator in the same state, to be drawn from in its place."""
        kind = self.kinds.get(id(type(bits)))
        if kind is None:
            return bits
        twin = kind(0)
        twin.state = bits.state
        self._twins.append((twin, bits.state))
        return twin

    def _behind(self, bits: Any) -> None:
        self._tape.note(f"the bits of NumPy's {type(bits).__name__}, drawn from behind explore's back")


def _watched(real: Any, bits: Bits, tape: Tape) -> Any:
    state = real.state

    class Watched(real):
        """A bit generator of a run."""

        of_a_run = True

        def __init__(self, seed: Any = None) -> None:
            # Its entropy is followed: what is drawn by it are questions to the tape.
            with tape.unnoted() if seed is None else nullcontext():
                super().__init__(seed)
            bits.left(self)

        @property
        def state(self) -> Any:
            return state.__get__(self)

        @state.setter
        def state(self, value: Any) -> None:
            state.__set__(self, value)
            bits.left(self)

    Watched.__name__ = Watched.__qualname__ = real.__name__
    return Watched
