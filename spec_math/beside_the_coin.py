"""Random numbers that a program drew beside its coin: whether a default generator has moved while it was judged.

Generators of a program's own, the operating system's entropy and clocks are watched by `audit`, and not here.

Source: our own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from spec_math.verdict_values import Reason, Undecided, Verdict

_READERS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("random", "Python's random", lambda module: module.getstate()),
    ("numpy.random", "NumPy's numpy.random", lambda module: _of_numpy(module.get_state(legacy=False))),
    ("torch", "torch's default generator", lambda module: bytes(module.random.get_rng_state().numpy())),
)
"""Where a default generator lives, what it is called, and how its state is read; none in a module not loaded."""


def standing_still(judge: Callable[[], Verdict]) -> Verdict:
    """Return what a judge says, or Undecided where a default generator moves each time that it is asked.

    It is asked twice at most: another thread may draw once while it judges.

    >>> import random
    >>> from spec_math.verdict import Lossless
    >>> standing_still(lambda: Lossless(1))
    Lossless(paths=1, bound=0.0, drafts=())
    >>> standing_still(lambda: Lossless(int(2 * random.random()))).reason
    <Reason.RANDOMNESS_NOT_SEEN: 'randomness not seen'>
    """
    moved: list[str] = []
    for _ in range(2):
        before = _states()
        verdict = judge()
        moved = [name for name, state in _states().items() if name in before and state != before[name]]
        if not moved:
            return verdict
    return Undecided(
        Reason.RANDOMNESS_NOT_SEEN,
        f"{' and '.join(moved)} moved while it was judged: the program draws random numbers beside its coin, or "
        "another thread does; let the coin make all of its decisions",
    )


def _states() -> dict[str, Any]:
    """Return the states of the default generators of the modules that are loaded, by name, as values that compare."""
    loaded = ((name, read, sys.modules.get(module)) for module, name, read in _READERS)
    return {name: read(module) for name, read, module in loaded if module is not None}


def _of_numpy(state: dict[str, Any]) -> Any:
    """Return a state of NumPy's as a value that compares: its own holds an array."""
    inner = {name: value.tobytes() if name == "key" else value for name, value in state["state"].items()}
    return inner, state["has_gauss"], state["gauss"]
