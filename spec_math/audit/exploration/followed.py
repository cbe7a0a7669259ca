"""Unmodified code as a program against a coin: while it runs, its random numbers are questions to that coin."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, cast

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.numpy_source import numpy_source
from spec_math.audit.exploration.python_source import python_source
from spec_math.audit.exploration.stand_ins import places
from spec_math.audit.exploration.tape import CURE, LeakError, Tape
from spec_math.chance import Coin

Source = Callable[[Tape], AbstractContextManager[None]]
"""What makes random numbers into questions to a tape while a run lasts: Python's, NumPy's, another library's."""

SOURCES: tuple[Source, ...] = (python_source, numpy_source)


class Followed:
    """A function whose random numbers ask the coin that it is called with, and which must repeat itself.

    Arguments after the coin go to the function; runs with other arguments are not compared. Generators that the
    function finds in its module, its closure or its object are followed too, each run from the state that they have;
    `code` is whose these are, where the function given calls another.

    >>> import random
    >>> from spec_math.chance import law
    >>> law(Followed(lambda: random.random() < 0.25))
    {True: Fraction(1, 4), False: Fraction(3, 4)}
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        sources: Sequence[Source] = SOURCES,
        tape: Tape | None = None,
        code: Callable[..., Any] | None = None,
    ) -> None:
        self._fn, self._sources = fn, sources
        self.tape = Tape() if tape is None else tape
        self.tape.places = places(fn if code is None else code)
        self._first: tuple[tuple[Any, ...], list[tuple[str, Hashable]], Any] | None = None

    def __call__(self, coin: Coin, *arguments: Any) -> Any:
        """Run the function once, down the path that the coin decides."""
        self.tape.begin(coin)
        if arguments:
            self.tape.log.append((f"a call with {arguments}", ""))
        try:
            with ExitStack() as stack:
                for source in self._sources:
                    stack.enter_context(source(self.tape))
                outcome = self._fn(*arguments)
            self.tape.finish()
        finally:
            self.tape.end()
        _check_hashable(outcome)
        if self._first is None:
            self._first = arguments, list(self.tape.log), outcome
        return outcome

    def check_repeats(self) -> None:
        """Walk the first path once more: state may leak into the outcome alone.

        Raises:
            LeakError: the outcome is another one.
        """
        if self._first is None:
            return
        arguments, log, outcome = self._first
        self.tape.expect(log)
        again = self(_Repeating(log[bool(arguments) :]), *arguments)
        if again != outcome:
            raise LeakError(
                f"state leaks between runs: with the same {len(log)} answer(s), the first run returned {outcome!r} and "
                f"the last one {again!r}; {CURE}"
            )


def _check_hashable(outcome: Any) -> None:
    try:
        hash(outcome)
    except TypeError:
        kind = type(cast(object, outcome)).__name__
        raise ExploreError(
            f"the function returned a {kind}, which cannot be counted; return a number, or a tuple of them"
        ) from None


class _Repeating:
    """Answers as the first run was answered."""

    def __init__(self, log: list[tuple[str, Hashable]]) -> None:
        self._answers = iter([answer for _, answer in log])

    def flip(self, p: Any) -> Any:  # noqa: ARG002
        return next(self._answers)

    def draw(self, masses: Any) -> Any:  # noqa: ARG002
        return next(self._answers)
