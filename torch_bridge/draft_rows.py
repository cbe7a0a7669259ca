"""The draft's laws of one position as a verifier takes them: rows of weights, or what is left of them without tokens.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spec_math.token_level import decide_hub, decide_rejection
from spec_math.token_level.array_drafts import Decide
from torch_bridge.options import Options, restricted
from torch_bridge.softmax_rows import weigh, weigh_rest

WITHOUT_DRAFT_LAW = (decide_rejection.decide_one_hot, decide_rejection.decide_match)
"""Rules that never look at the draft's law."""

WITHOUT_TOKENS = (decide_rejection.decide_without_replacement, decide_rejection.decide_greedy, decide_hub.decide_hub)
"""Rules that take tokens off the draft's law: what is left is weighed anew, as it may underflow beside them."""


class Left(NamedTuple):
    """What is left of the draft's laws [b, V] without some tokens; ones in a row that nothing was drafted from.

    `kept` [b, V] are the logits, restricted.

    >>> import torch
    >>> rows = Left(torch.tensor([[0.0, -900.0, -900.0]]), torch.tensor([False]), Options())
    >>> rows(torch.tensor([[0]])).tolist()
    [[0.0, 0.5, 0.5]]
    """

    kept: Any
    unused: Any
    options: Options

    def __call__(self, tokens: Any) -> Any:
        """Return the weights [b, V] without the tokens [b, m], −1 behind the last of each row."""
        return weigh_rest(self.kept, tokens, self.options).masked_fill_(self.unused[:, None], 1)

    def favourite(self, whole: Any) -> Any:  # noqa: ARG002 - weights of two logits may round alike
        """Return the first of the largest logits [b] of each row, as they are stored; 0 in a row that is not used.

        Laws in float64 name another where they cannot tell two logits apart, less than about 2^-52 of the temperature
        from each other; SpecHub is lossless with either, for drafts that were drawn with the same.

        >>> import torch
        >>> near = torch.tensor([[0.01, 0.010000001, -3.0]])
        >>> rows = Left(near, torch.tensor([False]), Options())
        >>> rows(torch.tensor([[-1]])).argmax().item(), rows.favourite(None).item()
        (0, 1)
        """
        return self.kept.argmax(dim=-1).masked_fill(self.unused, 0)


def draft_rows(decide: Decide, draft_logits: Any, tokens: Any, options: Options) -> Any:
    """Return the draft's weights [b, V] or [b, k, V], or a `Remaining` of them, for the formula of a verifier.

    A row that nothing was drafted from may hold anything: its weights are ones. tokens [b, k].

    >>> import torch
    >>> draft_rows(decide_rejection.decide_recursive, torch.zeros(1, 2), torch.tensor([[0]]), Options()).tolist()
    [[0.5, 0.5]]
    """
    unused = tokens < 0 if draft_logits.ndim == 3 else tokens[:, 0] < 0
    kept = restricted(draft_logits, options)
    if decide in WITHOUT_TOKENS:
        return Left(kept, unused, options)
    return weigh(kept, options).masked_fill_(unused[..., None], 1)
