"""A coin that replays a program of one chain from a row of uniforms: a column a position, the last for the draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from spec_math.chance import Coin, replay

Result = TypeVar("Result")


class ColumnCoin:
    """The i-th flip takes uniform i, the draw takes the last one: uniforms [L + 1] of a chain of up to L tokens.

    `chain.verify` and `block.verify` flip once a position, in order, and draw once at the end, so that they decide on
    these uniforms what an `ArrayCoin` with `last_draws` decides; a chain rejected early leaves columns between unused.
    """

    def __init__(self, uniforms: Sequence[Any]) -> None:
        self._uniforms = list(uniforms)
        self._flipped = 0
        self._drawn = False

    def flip(self, p: Any) -> bool:
        """Return whether the next position's uniform is below p."""
        if self._flipped == len(self._uniforms) - 1:
            raise ValueError(
                f"a row of {len(self._uniforms)} uniforms has {self._flipped} coins and a draw; the program asks for "
                "one more coin"
            )
        self._flipped += 1
        return replay(lambda coin: coin.flip(p), self._uniforms[self._flipped - 1 : self._flipped])

    def draw(self, masses: Any) -> int:
        """Return the token that the last uniform draws."""
        if self._drawn:
            raise ValueError("a row of uniforms has one draw; a second one was asked for")
        self._drawn = True
        return replay(lambda coin: coin.draw(masses), self._uniforms[-1:])


def replay_row(program: Callable[[Coin], Result], uniforms: Sequence[Any]) -> Result:
    """Run a program of one chain on a row of uniforms [L + 1]: column i is the coin of position i, the last the draw.

    Raises:
        ValueError: the program asks for more coins than there are columns, or draws twice; a uniform outside [0, 1).

    >>> replay_row(lambda coin: (coin.flip(0.5), coin.draw([0.5, 0.5])), [0.2, 0.9, 0.7])
    (True, 1)
    """
    return program(ColumnCoin(uniforms))
