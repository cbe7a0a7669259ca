"""Verification from draft logits over another vocabulary: what `verify_drafts` and `verify_tree` do on `MappedLogits`.

Source: worked out here, see `spec_math.drafting.merged`.
"""

from __future__ import annotations

from typing import Any

import torch

from spec_math.block_level.batch.array_tree import ArrayTree, emitted
from spec_math.block_level.tree_rules import TreeRule
from spec_math.drafting.merged import decide_merged, decide_merged_tree, placed_tree
from spec_math.scheme import Scheme
from torch_bridge.blocked_draw import batch_coin
from torch_bridge.chunks import HELD, chunks
from torch_bridge.draft_rows import draft_rows
from torch_bridge.logit_rows import Law, LogitRows
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import Options, restricted
from torch_bridge.softmax_rows import weigh


def decide_drafts(
    scheme: Scheme, target_logits: Any, draft: MappedLogits, tokens: Any, uniforms: Any, options: Options
) -> tuple[Any, Any]:
    """Return what each request emits [B], the target's tokens, and whether a test accepted a draft [B].

    Arguments as `verify_drafts`, checked; tokens [B, k] are the draft's.

    Raises:
        ValueError: the scheme has no array formula.

    >>> from spec_math import SCHEMES
    >>> target, draft = torch.zeros(1, 3), MappedLogits(torch.zeros(1, 1), torch.tensor([2]))
    >>> uniforms = torch.tensor([[0.5, 0.5, 0.75]], dtype=torch.float64)
    >>> [each.tolist() for each in decide_drafts(SCHEMES[0], target, draft, torch.tensor([[0]]), uniforms, Options())]
    [[1], [False]]
    """
    if scheme.decide is None:
        raise ValueError(
            f"the scheme {scheme.name!r} has no array formula, which drafts over another vocabulary need: verify them "
            "with another of SCHEMES"
        )
    parts: list[Any] = []
    for here in chunks(target_logits, _held(target_logits, draft), options):
        own, rows = options.at(here), draft.at(here)
        drafted = tokens[here].long()
        target = weigh(restricted(target_logits[here], own), own)
        masses = draft_rows(scheme, rows.logits, drafted, rows.options(own))
        places = rows.places.long().expand(len(drafted), -1)
        parts.append(decide_merged(scheme.decide, batch_coin(uniforms[here]), drafted, (target, masses), places))
    emitted, accepted = (torch.cat(each) for each in zip(*parts, strict=True))
    return emitted, accepted


def decide_trees(
    rule: TreeRule, target_logits: Any, draft: MappedLogits, tree: ArrayTree, uniforms: Any, options: Options
) -> tuple[Any, Any, Any]:
    """Return emitted [B, D + 1], count [B] and accepted_nodes [B, D] of trees of the draft's tokens, checked already.

    Raises:
        ValueError: the rule has no array formula.

    >>> from spec_math.block_level.tree_rules import TOKEN_BY_TOKEN
    >>> target, draft = torch.zeros(1, 2, 3), MappedLogits(torch.zeros(1, 2, 1), torch.tensor([2]))
    >>> tree, uniforms = ArrayTree(torch.tensor([[0]]), torch.tensor([[-1]]), 1, 1), torch.full((1, 3), 0.25).double()
    >>> [each.tolist() for each in decide_trees(TOKEN_BY_TOKEN, target, draft, tree, uniforms, Options())]
    [[[2, 2]], [2], [[0]]]
    """
    if rule.decide is None:
        raise ValueError(f"the rule {rule.name!r} has no array formula, which drafts over another vocabulary need")
    parts: list[Any] = []
    for here in chunks(target_logits, _held(target_logits, draft), options):
        copies = None if tree.copies is None else tree.copies[here].long()
        own = ArrayTree(tree.tokens[here].long(), tree.parents[here].long(), tree.depth, tree.width, tree.end, copies)
        rows, places = _rows(target_logits[here], draft.at(here), options.at(here), own)
        found = decide_merged_tree(rule.decide, batch_coin(uniforms[here]), own, rows, places)
        parts.append((*emitted(*found), found[1].nodes))
    joined = [torch.cat(each) for each in zip(*parts, strict=True)]
    return joined[0], joined[1], joined[2]


def _held(target_logits: Any, draft: MappedLogits) -> int:
    return HELD * (target_logits.shape[-1] + draft.logits.shape[-1])


def _rows(targets: Any, draft: MappedLogits, options: Options, tree: ArrayTree) -> tuple[LogitRows, Any]:
    """Return the laws of both models, and the places; after a token that the target lacks its row may hold anything."""
    some, places = (tree.tokens >= 0).any(dim=1, keepdim=True), draft.places.long()
    laws = Law(targets, options), Law(draft.logits, draft.options(options))
    return LogitRows(*laws, placed_tree(tree, places), some), places
