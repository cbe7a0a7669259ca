"""A model at a temperature: an n-gram model, or any other, whose every law is sharpened or flattened alike.

Source: our own; what serving systems do to logits before they sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.distribution import heated_law, temperature
from spec_math.language.context_tree import padded
from spec_math.language.model import Model, check_prefix
from spec_math.language.ngram import NGram
from spec_math.language.recorded import Recorded
from spec_math.mean import FLOAT

MOST_BYTES = 2**26
"""What the kept laws of a model may take."""


class KeptRows:
    """The same laws as those of an n-gram model, at a temperature or not, each worked out once as long as it is kept.

    A law hangs on the last order − 1 tokens alone, and is kept by them. What is kept is read-only, and beyond `most`
    bytes the law that was asked for longest ago goes.

    >>> model = KeptRows(NGram.learn([0, 1, 0, 1, 1], order=2, size=2))
    >>> model((0,)).tolist(), model((1, 0)) is model((0,))
    ([0.1875, 0.8125], True)
    """

    def __init__(self, model: NGram | TemperedNGram, most: int = MOST_BYTES) -> None:
        self.model, self.order, self.size = model, model.order, model.size
        self.end: int | None = getattr(model, "end", None)
        self._most = max(1, most // (8 * model.size))
        self._kept: dict[tuple[int, ...], FLOAT] = {}

    def __call__(self, prefix: Sequence[int]) -> FLOAT:
        """Return the law [V] after a prefix.

        Raises:
            TypeError, ValueError: a token of the prefix is not an index below V; the message names the prefix.
        """
        return self.rows_after([check_prefix(prefix, self.size, self.end)])[0]

    def context(self, prefix: tuple[int, ...]) -> tuple[int, ...]:
        """Return the last order − 1 tokens, that the law hangs on; fewer stand at the start of a text."""
        return prefix[max(0, len(prefix) - self.order + 1) :]

    def rows_after(self, prefixes: Sequence[tuple[int, ...]]) -> list[FLOAT]:
        """Return the laws [V] after many prefixes."""
        seen = [self.context(prefix) for prefix in prefixes]
        kept = self._kept
        missing = [one for one in dict.fromkeys(seen) if one not in kept]
        if missing:
            contexts = np.array([padded(one, self.order - 1) for one in missing], dtype=np.int64)
            rows = self.model.rows(contexts.reshape(len(missing), self.order - 1))
            for one, row in zip(missing, rows, strict=True):
                # A row of its own: a view would hold all those that were worked out with it.
                kept[one] = row.copy()
                kept[one].flags.writeable = False
        found: list[FLOAT] = []
        for one in seen:
            kept[one] = row = kept.pop(one)
            found.append(row)
        while len(kept) > self._most:
            del kept[next(iter(kept))]
        return found


class Tempered:
    """The model whose law after each prefix is ∝ mass^(1/T): T below 1 is sharper, T = 0 certain of the first maximum.

    Exact laws need 1/T to be a whole number. The end token is the model's own.

    Raises:
        ValueError: T is negative or not finite, when a law is asked for.

    >>> from fractions import Fraction
    >>> Tempered(lambda prefix: ["1/4", "3/4"], Fraction(1, 2))(()).tolist()
    [Fraction(1, 10), Fraction(9, 10)]
    """

    def __init__(self, model: Model, value: Any) -> None:
        self.model, self.value = model, value
        self.end: int | None = getattr(model, "end", None)

    def __call__(self, prefix: Sequence[int]) -> Array:
        """Return the law [V] after a prefix."""
        return temperature(self.model(tuple(prefix)), self.value)


class TemperedNGram(Tempered):
    """An n-gram model at a temperature, with the laws after many contexts at once.

    >>> model = TemperedNGram(NGram.learn([0, 1, 0, 1, 1], order=2, size=2), 0.5)
    >>> model.rows([[0]]).tolist() == [model((0,)).tolist()]
    True
    """

    def __init__(self, model: NGram, value: Any) -> None:
        super().__init__(model, value)
        self.ngram = model
        self.order, self.size = model.order, model.size

    def rows(self, contexts: Any) -> FLOAT:
        """Return the laws [n, V] at contexts [n, order − 1]."""
        # Rows of an n-gram model are laws by construction.
        return heated_law(self.ngram.rows(contexts), self.value)


class TemperedRecorded(Tempered):
    """A recorded model at a temperature, asked for many laws at once.

    >>> TemperedRecorded.__name__
    'TemperedRecorded'
    """

    def __init__(self, model: Recorded, value: Any) -> None:
        super().__init__(model, value)
        self.recorded = model

    def rows_after(self, prefixes: Sequence[tuple[int, ...]]) -> list[FLOAT]:
        """Return the laws [V] after many prefixes."""
        return [temperature(row, self.value) for row in self.recorded.rows_after(prefixes)]


def heated(model: Model, value: Any) -> Model:
    """Return a model at a temperature: itself at 1, and with rows of many contexts where it has them.

    >>> model = NGram.learn([0, 1], order=2, size=2)
    >>> heated(model, 1) is model, type(heated(model, 0.5)).__name__
    (True, 'TemperedNGram')
    """
    if value == 1:
        return model
    if isinstance(model, Recorded):
        return TemperedRecorded(model, value)
    return TemperedNGram(model, value) if isinstance(model, NGram) else Tempered(model, value)
