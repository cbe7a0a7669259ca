"""Every verifier of one position on logits: whole ragged batches, no wait for the device, a few requests at a time.

Source: the rules' own, see `spec_math.token_level`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from spec_math.chance import Coin
from spec_math.scheme import Scheme
from torch_bridge import drafts_validation, mapped_validation, verify_mapped
from torch_bridge.chunks import chunks
from torch_bridge.draft_rows import decided, draft_rows
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import DEFAULT, Options, restricted
from torch_bridge.softmax_rows import weigh
from torch_bridge.tensor_coin import TensorCoin
from torch_bridge.threshold import laws

ORDERED = 4
"""How many arrays a rule that orders the tokens holds for each of a law: their sums, in float64."""


class Selected(NamedTuple):
    """The token that each request emits, [B], and whether a test accepted a draft, [B]."""

    emitted: Any
    accepted: Any


def columns(scheme: Scheme, k: int) -> int:
    """Return C, how many uniforms a request needs: the coins of the longest path of the program on k drafts.

    Raises:
        TypeError, ValueError: k is not a positive integer; the scheme does not say how many coins it tosses.

    >>> from spec_math import SCHEMES
    >>> [columns(scheme, 4) for scheme in SCHEMES]
    [2, 2, 1, 5, 5, 5, 2, 3, 4, 6]
    """
    return drafts_validation.columns_of(scheme, k)


def verify_drafts(
    scheme: Scheme, target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT
) -> Selected:
    """Verify k drafts of one position in each request of a batch, from logits, as `scheme.emit` does from its laws.

    The law: that of the scheme: the emitted token has the target's law. Logits [B, V] of one floating type and device,
    drafts [B, k, V] for `k` drafters of their own under recursive rejection; tokens [B, k] in the order drawn, −1
    behind the last of a request that has fewer, or none (a scheme of one draft looks at the first column); uniforms
    [B, C] in [0, 1), C = `columns(scheme, k)`: a request takes from its row one uniform for each coin of the program,
    from the left. Without drafts it draws from its target. Nothing waits for the device but `options.check`; a scheme
    without an array formula (`scheme.decide`) is replayed in float64 on the CPU, one request after another.
    A draft whose weight among those left is 0 in the working type was not drafted: with `options.check` it is refused,
    as is one that may have lost digits, and else passed over, so that the law is the target's all the same.
    draft_logits may be `MappedLogits`, of another vocabulary or of part of one: tokens are then the draft's, emitted
    ones the target's, and uniforms have one column more.

    Raises:
        TypeError, ValueError: shapes, types or devices do not fit; with `options.check` also a row without a law, a
            token out of range or without draft mass, one drafted twice where drafts are distinct, a uniform outside
            [0, 1).

    Source: the scheme's own.

    >>> from spec_math import SCHEMES
    >>> target, draft = torch.tensor([[0.0, 0.0, -torch.inf]]), torch.tensor([[0.0, -torch.inf, 0.0]])
    >>> given = target, draft, torch.tensor([[2, 2]]), torch.full((1, 4), 0.5, dtype=torch.float64)
    >>> [verify_drafts(scheme, *given).emitted.tolist() for scheme in SCHEMES if scheme.short_name == "optimal plan"]
    [[1]]
    """
    if isinstance(draft_logits, MappedLogits):
        mapped_validation.check_drafts(scheme, target_logits, draft_logits, tokens, uniforms, options)
        tokens = _of_width(tokens, scheme.drafts or tokens.shape[1])
        return Selected(*verify_mapped.decide_drafts(scheme, target_logits, draft_logits, tokens, uniforms, options))
    drafts_validation.check_shapes(scheme, target_logits, draft_logits, tokens, uniforms)
    if options.check:
        own_law = draft_logits if scheme.reads.draft else None
        drafts_validation.check_values(scheme, target_logits, own_law, tokens, uniforms, options)
    if scheme.decide is None:
        return _replayed(scheme, target_logits, draft_logits, tokens, uniforms, options)
    tokens = _of_width(tokens, scheme.drafts or tokens.shape[1])
    parts: list[Any] = []
    masses = target_logits[0].numel() + draft_logits[0].numel()
    for here in chunks(target_logits, masses * (ORDERED if scheme.reads.order else 1), options):
        own = options.at(here)
        target = weigh(restricted(target_logits[here], own), own)
        drafted = tokens[here].long()
        draft = draft_rows(scheme, draft_logits[here], drafted, own) if scheme.reads.draft else target
        parts.append(decided(scheme.decide, uniforms[here], drafted, target, draft))
    return Selected(*(torch.cat(each) for each in zip(*parts, strict=True)))


def _of_width(tokens: Any, width: int) -> Any:
    """Return the first columns of tokens [B, k]; −1, for none, where there are fewer."""
    missing = width - tokens.shape[1]
    return tokens[:, :width] if missing <= 0 else torch.nn.functional.pad(tokens, (0, missing), value=-1)


def _replayed(
    scheme: Scheme, target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options
) -> Selected:
    targets, drafts = (laws(logits, options).cpu().numpy() for logits in (target_logits, draft_logits))
    rows = zip(targets, drafts, tokens.tolist(), uniforms.double().cpu(), strict=True)
    found = [_emit(scheme, TensorCoin(row[3]), *row[:3]) for row in rows]
    emitted, accepted = zip(*found, strict=True)
    return Selected(
        torch.tensor(emitted, device=tokens.device), torch.tensor(accepted, dtype=torch.bool, device=tokens.device)
    )


def _emit(scheme: Scheme, coin: Coin, target: Any, draft: Any, padded: list[int]) -> tuple[int, bool]:
    listed = tuple(token for token in padded if token >= 0)
    if not listed:
        return coin.draw(target / target.sum()), False
    if scheme.emit is None:
        token = scheme.verify(coin, listed, target, draft)
        return token, token in listed
    emission = scheme.emit(coin, listed, target, draft)
    return emission.token, emission.accepted
