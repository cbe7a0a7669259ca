"""A draft model behind a map of its laws: the same contexts and end, other masses."""

from __future__ import annotations

from collections.abc import Callable

from spec_math.arrays import Array
from spec_math.arrays import as_law as checked
from spec_math.language.model import Model
from spec_math.scheme import Tokens


class Mapped:
    """A model whose law after a prefix is change(law, prefix); it ends where the model it stands before ends.

    >>> Mapped(lambda prefix: ["1/4", "3/4"], lambda law, prefix: law[::-1])(()).tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """

    def __init__(self, model: Model, change: Callable[[Array, Tokens], Array]) -> None:
        self.end: int | None = getattr(model, "end", None)
        self._model = model
        self._change = change

    def __call__(self, prefix: Tokens) -> Array:
        """Return the changed law [V] after prefix."""
        return self._change(checked(self._model(prefix), f"draft after {prefix}"), prefix)
