"""The draft's laws of one position as a verifier takes them: weights, or what is left of them without some tokens."""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import torch

from spec_math.scheme import Scheme
from spec_math.token_level.batch import drafts as batch_drafts
from spec_math.token_level.batch.drafts import Decide, Emitted, sums_left, without_tokens
from torch_bridge.options import Options, column, restricted
from torch_bridge.softmax_rows import batch_coin, weigh, weigh_rest, working


class Left(NamedTuple):
    """The rest of the draft's laws [b, V] without some tokens; ones in a row that nothing was drafted from.

    `kept` [b, V] are the logits, restricted; `asked` says that the rule asks for the favourite; `rows` [b, V] are the
    weights of whole rows, where these keep all digits of what is left.

    >>> import torch
    >>> rows = Left(torch.tensor([[0.0, -900.0, -900.0]]), torch.tensor([False]), Options())
    >>> rows(torch.tensor([[0]])).tolist()
    [[0.0, 0.5, 0.5]]
    >>> left = Left(torch.tensor([[0.0, 0.0]]), torch.tensor([False]), Options())
    >>> left._replace(rows=left.held())(torch.tensor([[1]])).tolist()
    [[0.5, 0.0]]
    """

    kept: Any
    unused: Any
    options: Options
    asked: bool = False
    rows: Any = None

    def __call__(self, tokens: Any) -> Any:
        """Return the weights [b, V] without the tokens [b, m], −1 behind the last of each row."""
        if self.rows is not None:
            return without_tokens(self.rows, tokens)
        return _with_ones(weigh_rest(self.kept, tokens, self.options), self.unused)

    def favourite(self, whole: Any) -> Any:  # noqa: ARG002 - weights of two logits may round alike
        """Return the first of the largest logits [b] of each row, as they are stored; 0 in a row that is not used.

        Laws in float64 name another where they cannot tell two logits apart, less than about 2^-52 of the temperature
        from each other; SpecHub is lossless with either, for drafts that were drawn with the same.
        """
        # Of half precision, torch finds it in a third of the time once it is widened, which rounds nothing.
        return self.kept.to(working(self.kept.dtype)).argmax(dim=-1).masked_fill(self.unused, 0)

    def at(self, requests: Any) -> Left:
        """Return those of some requests, an index [n]."""
        return Left(self.kept[requests], self.unused[requests], self.options.at(requests), self.asked)

    def held(self) -> Any:
        """Return the weights [b, V] of the whole rows."""
        return _with_ones(weigh(self.kept, self.options), self.unused)


def decided(decide: Decide, uniforms: Any, tokens: Any, target: Any, draft: Any) -> Emitted:
    """Return what a formula decides on laws [b, V] in the working type, tokens [b, k] and uniforms [b, C].

    Where it takes tokens off the draft's laws, the host asks of each request whether its row as a whole keeps what is
    left (`lose_digits`), and weighs anew only where it does not; a device, which may not ask, does everywhere.
    """
    if not isinstance(draft, Left) or not batch_drafts.on_host(target):
        return decide(batch_coin(uniforms), tokens, target, draft)
    held = draft.held()
    light = lose_digits(held, tokens)
    # The favourite is that of the logits; a rule that does not ask for it takes the weights alone.
    if not light.any():
        return decide(batch_coin(uniforms), tokens, target, draft._replace(rows=held) if draft.asked else held)
    token, accepted = torch.empty_like(tokens[:, 0]), torch.empty_like(light)
    for anew in (True, False):
        at = (light == anew).nonzero()[:, 0]
        if len(at):
            some = draft.at(at)
            own = some if anew else some._replace(rows=held[at]) if draft.asked else held[at]
            token[at], accepted[at] = decide(batch_coin(uniforms[at]), tokens[at], target[at], own)
    return Emitted(token, accepted)


def lose_digits(held: Any, tokens: Any) -> Any:
    """Say [b] for which rows of weights [b, V] what is left without the tokens [b, k] may have lost digits.

    A weight that is no normal number of its type may be off by the least of these, and V of them by V times that. Where
    what is left weighs V/ε times that or more, ε the unit of rounding, all of them are off by ε of it at most, which is
    one more rounding of its sum; and less is left without all of the tokens than without some. A drafted token must be
    a normal number itself. All other weights have the digits that they have by themselves, as the sum that a softmax
    divides by cancels in a law's ratios.

    >>> lose_digits(torch.tensor([[1.0, 1e-33, 1e-33], [0.5, 0.25, 0.25]]), torch.tensor([[0], [0]])).tolist()
    [True, False]
    """
    kind, there = torch.finfo(held.dtype), tokens >= 0
    drafted = held.gather(-1, tokens.clamp(min=0))
    found = ((drafted < kind.tiny) & there).any(dim=-1)
    weight = (drafted.double() * there).sum(dim=-1)
    # Weights of a softmax sum to 1 up to rounding: half of them is far above the limit.
    heavy = weight > 0.5
    if heavy.any():
        rest = sums_left(batch_coin(weight[:, None]), (held, held), torch.zeros_like(weight), tokens, heavy)
        found |= heavy & (rest < held.shape[-1] * kind.tiny / (kind.eps / 2))
    return found


def draft_rows(scheme: Scheme, draft_logits: Any, tokens: Any, options: Options) -> Any:
    """Return the draft's weights [b, V] or [b, k, V], for the formula of a verifier; a `Remaining` of distinct drafts.

    A formula of distinct drafts takes tokens off the draft's law: what is left is weighed anew, as it may underflow
    beside them. A row that nothing was drafted from may hold anything: its weights are ones. tokens [b, k].
    """
    unused = tokens < 0 if draft_logits.ndim == 3 else tokens[:, 0] < 0
    kept = restricted(draft_logits, options)
    if scheme.distinct:
        return Left(kept, unused, options, scheme.reads.favourite)
    return _with_ones(weigh(kept, options), unused)


def _with_ones(rows: Any, unused: Any) -> Any:
    """Fill the rows [..., V] of `unused` [...] with ones, in place; the host looks whether there are any."""
    return rows if batch_drafts.on_host(rows) and not unused.any() else rows.masked_fill_(unused[..., None], 1)


AT_ONCE = 2**22
"""How many logits are looked at at a time."""


def least_gap(dtype: Any, size: int) -> float:
    """Return how far, in nats, a token may lie below the largest logit and keep all digits of its weight.

    A weight is e^gap/Σ, and Σ ≤ V: down to ln(V · the smallest normal number) it is a normal number of the working
    type. A law puts less than V² times that number on all tokens below, 3e-28 for float32 and 152k tokens.
    """
    return log(torch.finfo(working(dtype)).tiny) + log(size)


def gaps(kept: Any, slots: Any, tokens: Any, distinct: bool, options: Options) -> Any:
    """Return how far [b, N] in nats drafted tokens lie below the largest logit that was left, in float64.

    Rows of logits [b, S, V] already restricted; draft i was drawn from row slots [b, N] and is tokens [b, N], −1 for
    none (0 there). Where drafts are `distinct`, those before a draft were taken off its row.
    """
    there, request = tokens >= 0, torch.arange(len(tokens), device=tokens.device)[:, None].expand_as(tokens)
    own = kept[request, slots, tokens.clamp(min=0)].double().masked_fill(~there, -torch.inf)
    if distinct:
        rest = kept.clone()
        rest[request[there], slots[there], tokens[there]] = -torch.inf
        behind = (slots[:, :, None] == slots[:, None]) & torch.ones_like(own[0]).diag().cummax(dim=1).values.bool()
        drafted = own[:, None].expand_as(behind).masked_fill(~behind, -torch.inf).amax(dim=-1)
        largest = torch.maximum(rest.amax(dim=-1).gather(1, slots).double(), drafted)
    else:
        largest = kept.amax(dim=-1).gather(1, slots).double()
    return ((own - largest) / column(options.divisor, own)).masked_fill(~there, 0)


def too_light(name: str, gap: float, dtype: Any, size: int) -> str:
    """Return the message for a draft at a gap below `least_gap`."""
    kind = str(working(dtype)).removeprefix("torch.")
    return (
        f"{name}, {-gap:.4g} nats below the draft's largest logit that was left, over the temperature: weights in "
        f"{kind} reach {-least_gap(dtype, size):.4g} nats down at V = {size}, and no drafter draws below; give the "
        "logits and options that the drafts were drawn with"
    )
