"""Optimal verification of k drafts for one position, on logits: the pooled-priority plan of each request.

Source: SpecTr, Eq. 3, for the problem; the plan is worked out here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from spec_math.chance import Coin, replay
from spec_math.token_level import plan
from torch_bridge import input_validation
from torch_bridge.options import DEFAULT, Options
from torch_bridge.threshold import laws

COLUMNS = 4
"""The uniforms of a request: the component of the plan, the choice in its pool, the test, the residual."""


class Selected(NamedTuple):
    """The token that each request emits, [B], and whether it is a draft that was accepted, [B]."""

    emitted: Any
    accepted: Any


def verify_plan(
    target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT
) -> Selected:
    """Verify k i.i.d. drafts of one position optimally, from logits, as `plan.verify` does.

    The law: the emitted token has the target's law, and is a draft with the largest probability that any verifier
    reaches. Logits [B, V] of one floating type and device; tokens [B, k], −1 from where a request has fewer drafts;
    uniforms [B, 4] in [0, 1): component, choice in the pool, test, and the residual's draw (the target's, where a
    request has no draft). A plan sorts and merges, one request after another: this is done in float64 on the CPU,
    whatever the device, so that it waits for the device and brings the tokens back to it.

    Raises:
        TypeError, ValueError: as `verify_token`.

    >>> target, draft = torch.tensor([[0.0, 0.0, -torch.inf]]), torch.tensor([[0.0, -torch.inf, 0.0]])
    >>> verify_plan(target, draft, torch.tensor([[2, 2]]), torch.tensor([[0.5, 0.5, 0.5, 0.5]])).emitted.tolist()
    [1]
    """
    _check(target_logits, draft_logits, tokens, uniforms, options)
    targets, drafts = laws(target_logits, options).cpu().numpy(), laws(draft_logits, options).cpu().numpy()
    rows = zip(targets, drafts, tokens.tolist(), uniforms.tolist(), strict=True)
    found = [
        replay(lambda coin, row=row: _emit(coin, *row[:3]), row[3] if row[2][0] >= 0 else row[3][-1:]) for row in rows
    ]
    emitted, accepted = zip(*found, strict=True)
    return Selected(
        torch.tensor(emitted, device=tokens.device), torch.tensor(accepted, dtype=torch.bool, device=tokens.device)
    )


def _emit(coin: Coin, target: Any, draft: Any, tokens: list[int]) -> tuple[int, bool]:
    listed = tuple(token for token in tokens if token >= 0)
    if not listed:
        return coin.draw(target / target.sum()), False
    emission = plan.emit(coin, listed, plan.plan(target, np.asarray(draft), len(listed)))
    return emission.token, emission.accepted


def _check(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options) -> None:
    input_validation.check_tensors(target_logits, draft_logits, tokens, uniforms)
    shapes = [tuple(array.shape) for array in (target_logits, draft_logits, tokens, uniforms)]
    batch, size = (*shapes[2], 0, 0)[:2]
    vocabulary = (shapes[0] or (0,))[-1]
    if shapes != [(batch, vocabulary), (batch, vocabulary), (batch, size), (batch, COLUMNS)] or not batch * size:
        raise ValueError(
            "target_logits, draft_logits, tokens and uniforms must be [B, V], [B, V], [B, k] and [B, 4] with B, k ≥ 1; "
            f"got {', '.join(map(str, shapes))}"
        )
    if options.check:
        input_validation.check_tokens(tokens, vocabulary)
        input_validation.check_uniforms(uniforms)
        input_validation.check_rows(target_logits, "target_logits", torch.ones_like(tokens[:, 0], dtype=torch.bool))
        input_validation.check_rows(draft_logits, "draft_logits", tokens[:, 0] >= 0)
        input_validation.check_drafted(draft_logits[:, None].expand(-1, size, -1), tokens, options)
