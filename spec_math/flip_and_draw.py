"""A coin answers two questions, flip and draw; any other is an error that names them.

Source: our own.
"""

from __future__ import annotations

from typing import NoReturn


class FlipAndDraw:
    """What a coin says of any question that is neither a flip nor a draw.

    >>> FlipAndDraw().choose([0.5, 0.5])
    Traceback (most recent call last):
        ...
    AttributeError: a coin has no 'choose': a program's only randomness is coin.flip(p) and coin.draw(masses)
    """

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"a coin has no {name!r}: a program's only randomness is coin.flip(p) and coin.draw(masses)"
        )
