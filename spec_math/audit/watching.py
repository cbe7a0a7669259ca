"""A coin on given uniforms that notes each decision and how near its threshold it was, and can be overruled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spec_math.chance import Coin, Cumulative, replay
from spec_math.masses import FlipAndDraw


@dataclass(frozen=True)
class Decision:
    """A flip or a draw as it was made: what was asked, its uniform in [0, 1), the answer, and where answers change.

    `cuts` holds the ends of the answers' intervals of uniforms: (0, p, 1) for a flip, whose answers are True and False
    in this order; 0 and the running sums over the total for a draw, whose answers are the tokens.
    """

    asked: str
    uniform: Any
    answer: Any
    cuts: tuple[Any, ...]

    def distance(self, answer: Any = None) -> Any:
        """Return how far the uniform is from where the answer is given; if none is named, from where any other is."""
        if answer is not None:
            place = self._place(answer)
            low, high = self.cuts[place], self.cuts[place + 1]
            return max(low - self.uniform, self.uniform - high, 0 * self.uniform)
        place = self._place(self.answer)
        inner = [cut for cut in self.cuts[place : place + 2] if 0 < cut < 1]
        return min((abs(self.uniform - cut) for cut in inner), default=None)

    def neighbours(self) -> list[Any]:
        """Return the answers next to the one given: on both sides the next that has an interval of its own."""
        if isinstance(self.answer, bool):
            return [not self.answer] if 0 < self.cuts[1] < 1 else []
        place = self._place(self.answer)
        wide = [i for i in range(len(self.cuts) - 1) if self.cuts[i] < self.cuts[i + 1] and i != place]
        return [*[i for i in wide if i < place][-1:], *[i for i in wide if i > place][:1]]

    def _place(self, answer: Any) -> int:
        if isinstance(answer, bool):
            return 0 if answer else 1
        return int(answer)


class WatchingCoin(FlipAndDraw):
    """A coin that takes uniforms in order, or by columns: flip i takes uniform i, the draw the last one.

    `forced` names decisions, by their place, whose answer is given whatever their uniform says.
    """

    def __init__(self, uniforms: Sequence[Any], columns: bool = False, forced: Mapping[int, Any] | None = None) -> None:
        self.decisions: list[Decision] = []
        self._uniforms, self._columns, self._forced = list(uniforms), columns, dict(forced or {})
        self._next = 0

    def flip(self, p: Any) -> bool:
        """Return whether the next uniform is below p, and note it."""
        uniform = self._take(last=False)
        answer = replay(lambda coin: coin.flip(p), [uniform])
        return bool(self._noted(Decision(f"flip({p})", uniform, answer, (0, p, 1))))

    def draw(self, masses: Any) -> int:
        """Return the token that the uniform draws, and note it."""
        uniform = self._take(last=True)
        cumulative = masses if isinstance(masses, Cumulative) else Cumulative(masses)
        sums = cumulative.sums
        cuts = (0, *(total / sums[-1] for total in sums))
        return int(self._noted(Decision(f"draw of {len(sums)}", uniform, cumulative.at(uniform), cuts)))

    def _take(self, last: bool) -> Any:
        place = len(self._uniforms) - 1 if self._columns and last else self._next
        if place >= len(self._uniforms):
            raise ValueError(f"the program asks for more uniforms than the {len(self._uniforms)} that were given")
        self._next = place + 1
        return self._uniforms[place]

    def _noted(self, decision: Decision) -> Any:
        answer = self._forced.get(len(self.decisions), decision.answer)
        self.decisions.append(decision)
        return answer


def watch(
    program: Callable[[Coin], Any],
    uniforms: Sequence[Any],
    columns: bool = False,
    forced: Mapping[int, Any] | None = None,
) -> tuple[Any, list[Decision]]:
    """Run a program on given uniforms; return its outcome and its decisions.

    Raises:
        ValueError: the program asks for more uniforms than were given, or one lies outside [0, 1).

    >>> outcome, (flip,) = watch(lambda coin: coin.flip(0.5), [0.375])
    >>> outcome, flip.distance()
    (True, 0.125)
    """
    coin = WatchingCoin(uniforms, columns, forced)
    outcome = program(coin)
    return outcome, coin.decisions
