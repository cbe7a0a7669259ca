"""An n-gram model that is asked for the same laws again and again: it keeps those that it was asked for last.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.language.context_tree import padded
from spec_math.language.model import check_prefix
from spec_math.language.ngram import NGram
from spec_math.language.tempered import TemperedNGram

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

MOST_BYTES = 2**25
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

    def rows_after(self, prefixes: Sequence[tuple[int, ...]]) -> list[FLOAT]:
        """Return the laws [V] after many prefixes."""
        # Of at most order − 1 tokens; a shorter one stands at the start of a text.
        seen = [prefix[max(0, len(prefix) - self.order + 1) :] for prefix in prefixes]
        kept = self._kept
        missing = [one for one in dict.fromkeys(seen) if one not in kept]
        if missing:
            contexts = np.array([padded(one, self.order - 1) for one in missing], dtype=np.int64)
            rows = self.model.rows(contexts.reshape(len(missing), self.order - 1))
            rows.flags.writeable = False
            # A row of its own each: a view would hold all those that were worked out with it.
            kept.update(zip(missing, rows if len(missing) == 1 else map(_own, rows), strict=True))
        found: list[FLOAT] = []
        for one in seen:
            kept[one] = row = kept.pop(one)
            found.append(row)
        while len(kept) > self._most:
            del kept[next(iter(kept))]
        return found


def _own(row: FLOAT) -> FLOAT:
    own = row.copy()
    own.flags.writeable = False
    return own
