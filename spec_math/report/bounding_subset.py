"""The subset of tokens that bounds the optimum at one position, said in a sentence."""

from __future__ import annotations

import numpy as np

from spec_math.report.positions import Positions
from spec_math.token_level.optimal import acceptance, bounding_subset


def bounding_sentence(positions: Positions, position: int, k: int) -> str:
    """Say which subset H of tokens bounds the optimum at one position, by name where names are known.

    >>> from spec_math.report.positions import from_rows
    >>> rows = lambda start, stop: np.array([[0.4, 0.6]] * (stop - start))
    >>> drafts = lambda start, stop: np.array([[0.75, 0.25]] * (stop - start))
    >>> bounding_sentence(from_rows(rows, drafts, (1, 2)), 0, 2)  # doctest: +ELLIPSIS
    'At position 0 and k = 2 no verifier has more than 0.837500: ... 1 of 2 tokens, 0 ...
    """
    if not 0 <= position < positions.count:
        raise ValueError(f"--position must lie in 0..{positions.count - 1}; got {position}")
    for batch in positions.batches(64):
        if batch.start + len(batch.targets) > position:
            t, d = (masses[position - batch.start] for masses in (batch.targets, batch.drafts))
            break
    else:
        raise ValueError(f"position {position} was never reached")
    t, d = t / t.sum(), d / d.sum()
    subset = [int(token) for token in np.flatnonzero(bounding_subset(t, d, k))]
    subset.sort(key=lambda token: -float(d[token]))
    shown = ", ".join(_token_name(positions, token) for token in subset[:8])
    more = f", … {len(subset) - 8} more" if len(subset) > 8 else ""
    held_t, held_d = float(t[list(subset)].sum()), float(d[list(subset)].sum())
    return (
        f"At position {position} and k = {k} no verifier has more than {float(acceptance(t, d, k)):.6f}: all drafts "
        f"fall with probability {held_d:.4f}^{k} = {held_d**k:.4f} into a subset that has only {held_t:.4f} of the "
        f"target. It holds {len(subset)} of {len(t)} tokens, {shown or 'none'}{more} (largest draft mass first)."
    )


def _token_name(positions: Positions, token: int) -> str:
    return repr(positions.names[token]) if positions.names is not None else str(token)
