"""The subset of tokens that bounds the optimum at one position, said in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.token_level.optimal import acceptance, bounding_subset
from spec_math.wording import counted

SHOWN = 8


def bounding_sentence(target: Any, draft: Any, k: int, names: Sequence[str] | None = None) -> str:
    """Say which subset of tokens bounds the optimum of k i.i.d. drafts of laws [V], by name where names are known.

    >>> bounding_sentence([0.4, 0.6], [0.75, 0.25], 2)  # doctest: +ELLIPSIS
    'no verifier of 2 i.i.d. drafts has more than 0.837500: with probability 0.750000^2 = 0.562500 all ...
    """
    best = float(acceptance(target, draft, k))
    subset = [int(token) for token in np.flatnonzero(bounding_subset(target, draft, k))]
    if not subset:
        return f"some verifier of {counted(k, 'i.i.d. draft')} accepts always: no subset of tokens bounds the optimum."
    others = sorted(set(range(len(target))) - set(subset), key=lambda token: -float(target[token]))
    subset.sort(key=lambda token: -float(draft[token]))
    # The smaller of the two sides is the one to read: the tokens of H, or those it leaves out.
    side, listed = (":", subset) if len(subset) <= len(others) else (", all but", others)
    shown = ", ".join(repr(names[token]) if names is not None else str(token) for token in listed[:SHOWN])
    more = f", … {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    held_d, held_t = (float(np.asarray(x)[subset].sum()) for x in (draft, target))
    return (
        f"no verifier of {counted(k, 'i.i.d. draft')} has more than {best:.6f}: with probability {held_d:.6f}^{k} = "
        f"{held_d**k:.6f} all drafts fall among {len(subset)} of {len(target)} tokens that have only {held_t:.6f} of "
        f"the target{side} {shown}{more}."
    )
