"""The laws of a batch of trees from their logits, worked out for the rows that a formula asks for.

Source: worked out here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch

from spec_math.block_level.batch.array_tree import ArrayTree, places
from torch_bridge.options import Options, restricted
from torch_bridge.softmax_rows import weigh, weigh_rest


class Law(NamedTuple):
    """A model's logits [B, N + 1, V] of the nodes of trees, and the options that they are read with."""

    logits: Any
    options: Options


class LogitRows:
    """The laws of a batch of trees [B, N] of the target's tokens, −1 for none; the draft's may be over its own tokens.

    Formulas ask for a row of every request, also where they decide nothing by it. A row after no node or after an end,
    and the draft's rows of a tree without drafts, `some` [B, 1], may hold anything: their masses are all 1.

    >>> tree = ArrayTree(torch.tensor([[0]]), torch.tensor([[-1]]), depth=1, width=1)
    >>> law = Law(torch.zeros(1, 2, 2), Options())
    >>> LogitRows(law, law, tree, torch.tensor([[True]])).target(torch.tensor([1])).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, target: Law, draft: Law, tree: ArrayTree, some: Any) -> None:
        self._laws = target, draft
        goes_on = (tree.tokens >= 0) & ~tree.ends(tree.tokens)
        self._unused = ~torch.cat([torch.ones_like(some), goes_on], 1), ~torch.cat([some, goes_on], 1)

    def target(self, slot: Any) -> Any:
        """Return the target's masses [B, V] at the slots [B]."""
        return self._row(0, slot)

    def draft(self, slot: Any, without: Any = None) -> Any:
        """Return the draft's masses [B, D] at the slots [B].

        Without some tokens [B, m] they are weighed anew, so that what is left does not underflow.
        """
        return self._row(1, slot, without)

    def _row(self, role: int, slot: Any, without: Any = None) -> Any:
        requests, (logits, options) = places(slot, len(slot)), self._laws[role]
        if options.allowed is not None and options.allowed.ndim == 3:
            options = replace(options, allowed=options.allowed[requests, slot])
        kept = restricted(logits[requests, slot], options)
        rows = weigh(kept, options) if without is None else weigh_rest(kept, without, options)
        return rows.masked_fill_(self._unused[role][requests, slot][:, None], 1)
