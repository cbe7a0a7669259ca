"""NumPy's bit generators during an exploration: seeded as usual, and watched for draws that are not followed."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from spec_math.audit.exploration.desk import DESK
from spec_math.audit.exploration.states import frozen
from spec_math.audit.exploration.tape import Stretch, Tape

REAL: tuple[Any, ...] = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)


class Bits:
    """The bit generators of a run, by identity, with the states that followed draws have left them in."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._left: dict[int, tuple[Any, Any]] = {}
        self._twins: list[tuple[Any, Any]] = []

    def begin(self) -> None:
        """Start a run: twins are where they began, and no others have been made."""
        for twin, origin in self._twins:
            if frozen(twin) != frozen(origin):
                self._set(twin, origin)
        self._left = {}

    def left(self, bits: Any) -> Any:
        """Keep, and return, the state of a bit generator that was seeded, or drawn from by the tape."""
        state = frozen(bits)
        self._left[id(bits)] = bits, state
        return state

    def stretch(self, bits: Any) -> Stretch:
        """Name the state that the next numbers come from."""
        state = frozen(bits)
        known = self._left.get(id(bits))
        if known is not None and known[1] != state:
            self._behind(bits)
        return self._tape.stretch(("numpy", state))

    def check(self) -> None:
        """Note the bit generators that were drawn from although the tape was not asked."""
        for bits, state in self._left.values():
            if frozen(bits) != state:
                self._behind(bits)

    def copied(self, bits: Any) -> Any:
        """Return a bit generator in the same state, to be drawn from in its place."""
        kind = WATCHED.get(id(type(bits)))
        if kind is None:
            return bits
        with self._tape.unnoted():
            twin = kind(0)
        self.stands_for(twin, bits)
        return twin

    def stands_for(self, twin: Any, bits: Any) -> None:
        """Let a twin start each run in a bit generator's state, while that generator itself does not move."""
        if frozen(twin) != frozen(bits):
            self._set(twin, bits)
        self._twins.append((twin, bits))

    def _set(self, twin: Any, bits: Any) -> None:
        with self._tape.unnoted():
            twin.state = bits.state

    def _behind(self, bits: Any) -> None:
        self._tape.note(f"the bits of NumPy's {type(bits).__name__}, drawn from behind explore's back")


def _watched(real: Any) -> Any:
    plain = real.state

    class Watched(real):
        """A bit generator of a run."""

        of_a_run = True
        plain_state = plain

        def __init__(self, seed: Any = None) -> None:
            # Its entropy is followed: what is drawn by it are questions to the tape.
            with DESK.unnoted() if seed is None else nullcontext():
                super().__init__(seed)
            if seed is not None:
                DESK.seeded(seed)
            DESK.bits.left(self)

        @property
        def state(self) -> Any:
            DESK.seeded.read(("numpy", frozen(self)))
            return plain.__get__(self)

        @state.setter
        def state(self, value: Any) -> None:
            before = frozen(self)
            plain.__set__(self, value)
            DESK.bits.left(self)
            DESK.seeded.restored(("numpy", before), lambda: ("numpy", frozen(self)))

    Watched.__name__ = Watched.__qualname__ = real.__name__
    return Watched


WATCHED: dict[int, Any] = {id(real): _watched(real) for real in REAL}
"""What stands for each of NumPy's classes of bit generators, by its identity."""
