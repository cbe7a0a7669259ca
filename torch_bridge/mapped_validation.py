"""What is refused before drafts over another vocabulary are verified: arrays and maps that do not fit, and tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.tree_rules import TreeRule
from spec_math.drafting.merged import placed_tree
from spec_math.scheme import Scheme
from torch_bridge import draft_weights, drafts_validation, input_validation, tree_validation
from torch_bridge.mapped_logits import MappedLogits, check_map, check_places
from torch_bridge.options import Options, restricted


def check_drafts(
    scheme: Scheme, target_logits: Any, draft: MappedLogits, tokens: Any, uniforms: Any, options: Options
) -> None:
    """Check target_logits [B, V], draft logits [B, D] with places, tokens [B, k] in 0..D − 1 and uniforms [B, C + 1].

    With `options.check` values too, which waits for the device.

    Raises:
        TypeError, ValueError: they do not fit, or a value cannot be, named by its place.

    >>> from spec_math import SCHEMES
    >>> draft = MappedLogits(torch.zeros(1, 2), torch.tensor([5, 5]))
    >>> check_drafts(SCHEMES[0], torch.zeros(1, 8), draft, torch.tensor([[0]]), torch.zeros(1, 3), Options())
    Traceback (most recent call last):
    ValueError: each token of the target stands for one of the draft's at most; places[0] and places[1] are both 5: ...
    """
    input_validation.check_tensors(target_logits, draft.logits, tokens, uniforms)
    shapes = [tuple(array.shape) for array in (target_logits, draft.logits, tokens, uniforms)]
    batch, k = (*shapes[2], 0, 0)[:2]
    fits = all(len(shape) == 2 and shape[0] == batch for shape in shapes) and 0 not in (*shapes[0], *shapes[1], k)
    if not fits:
        raise ValueError(
            "target_logits, MappedLogits.logits, tokens and uniforms must be [B, V], [B, D], [B, k] and [B, C] with "
            f"B, V, D, k ≥ 1; got {', '.join(map(str, shapes))}"
        )
    check_places(target_logits, draft)
    _check_columns(scheme.name, drafts_validation.columns_of(scheme, k), shapes[3][1])
    if not options.check:
        return
    check_map(draft.places, shapes[0][1])
    own = draft.options(options)
    input_validation.check_tokens(tokens, shapes[1][1])
    input_validation.check_uniforms(uniforms)
    input_validation.check_rows(target_logits, "target_logits", torch.ones_like(tokens[:, 0], dtype=torch.bool))
    if scheme.distinct:
        drafts_validation.check_distinct(tokens)
    if scheme.drafts is not None:
        drafts_validation.check_number(scheme, tokens)
    rows = _on_shared(draft.logits, own)
    input_validation.check_rows(rows, "draft_logits, on the tokens that may be drafted", tokens[:, 0] >= 0)
    input_validation.check_drafted(draft.logits[:, None].expand(-1, k, -1), tokens, own)
    if scheme.reads.draft:
        draft_weights.check_weights(draft.logits, tokens, scheme.distinct, own)


def check_trees(
    rule: TreeRule, target_logits: Any, draft: MappedLogits, tree: tuple[Any, Any, Any], uniforms: Any, options: Options
) -> None:
    """Check target_logits [B, N + 1, V], draft logits [B, N + 1, D] with places, tokens and parents [B, N], uniforms.

    `tree` is (tokens, parents, copies or None); tokens are indices of the draft's rows. With `options.check` values
    too, which waits for the device.

    Raises:
        TypeError, ValueError: as `tree_validation`; places as `check_map`.

    >>> from spec_math.block_level.tree_rules import TRAVERSAL
    >>> draft, tree = MappedLogits(torch.zeros(1, 2, 2), torch.tensor([5, 9])), torch.tensor([[0]])
    >>> check_trees(TRAVERSAL, torch.zeros(1, 2, 8), draft, (tree, tree - 1, None), torch.zeros(1, 3), Options())
    Traceback (most recent call last):
    ValueError: places must lie in 0..7, or be -1 where the target has no such token; places[1] is 9
    """
    tokens, parents, copies = tree
    input_validation.check_tensors(target_logits, draft.logits, tokens, uniforms)
    # Shapes are those of a tree on the target's vocabulary, and of one on the draft's.
    for logits in (target_logits, draft.logits):
        tree_validation.check_shapes(rule, tree_validation.Trees(logits, logits, tokens, parents, uniforms, copies))
    check_places(target_logits, draft)
    _check_columns(rule.name, tree_validation.columns_of(rule, tokens.shape[1]), uniforms.shape[1])
    if not options.check:
        return
    check_map(draft.places, target_logits.shape[-1])
    tree_validation.check_nodes(tokens, parents, draft.logits.shape[-1])
    # Ends are the target's tokens: the draft's are told apart as those, and those beyond behind them.
    placed = placed_tree(ArrayTree(tokens.long(), parents.long(), 1, 1), draft.places.long()).tokens
    named = torch.where((tokens >= 0) & (placed < 0), tokens + target_logits.shape[-1], placed)
    tree_validation.check_kind(rule, named, parents, options, copies)
    input_validation.check_uniforms(uniforms)
    goes_on = (placed >= 0) & (placed != (-2 if options.end is None else options.end))
    root = torch.ones_like(goes_on[:, :1])
    input_validation.check_rows(target_logits, "target_logits", torch.cat([root, goes_on], dim=1))
    if rule.reads_draft:
        own = draft.options(options)
        rows, drafted = _on_shared(draft.logits, own), tree_validation.slots_with_children(tokens, parents)
        input_validation.check_rows(rows, "draft_logits, on the tokens that may be drafted", drafted)
        tree_validation.check_drafted(draft.logits, tokens, parents, own, rule.siblings == "distinct")


def _on_shared(logits: Any, options: Options) -> Any:
    return restricted(logits, replace(Options(), allowed=options.allowed)) if options.allowed is not None else logits


def _check_columns(name: str, wanted: int, found: int) -> None:
    if found < wanted + 1:
        raise ValueError(
            f"{name!r} tosses up to {wanted} coins a request, and one more says which of the tokens that the draft "
            f"lacks is emitted; uniforms has {found} columns: draw one more than columns or tree_columns says"
        )
