"""Verification of drafted trees on logits: whole ragged batches, and of the laws only those that a walk visits.

Source: the rules' own, see `spec_math.block_level.tree_rules`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch

from spec_math.block_level.batch.array_tree import ArrayTree, emitted
from spec_math.block_level.methods import Method
from spec_math.block_level.tree_rules import TreeRule
from torch_bridge import mapped_validation, tree_programs, tree_validation, verify_mapped
from torch_bridge.blocked_draw import batch_coin
from torch_bridge.chunks import HELD, chunks
from torch_bridge.logit_rows import Law, LogitRows
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import DEFAULT, Options


class TreeVerified(NamedTuple):
    """What a batch of trees emits.

    `emitted` [B, D + 1] are tokens, padded with −1, `count` [B] their number, `accepted_nodes` [B, D] the accepted
    nodes from the root down, padded with −1: with the root's, the rows of the cache to keep.
    """

    emitted: Any
    count: Any
    accepted_nodes: Any


def verify_tree(  # noqa: PLR0913 - a tree is two arrays more than a chain
    method: Method | TreeRule,
    target_logits: Any,
    draft_logits: Any,
    tokens: Any,
    parents: Any,
    uniforms: Any,
    options: Options = DEFAULT,
    copies: Any = None,
) -> TreeVerified:
    """Verify a batch of drafted trees, from logits, as the method's program verifies each from its laws.

    The law: the tokens, continued by the target, have the target's joint law, for drafts that were drawn as the method
    wants them: after each node i.i.d. (walks), distinct in the order drawn (traversal, recursive rejection without
    replacement), as k chains from the root (chain priorities, greedy multi-path), or in any way (target only).
    Logits [B, N + 1, V] of one floating type and device, the root's row first, row i + 1 that after node i; tokens
    [B, N], −1 where there is no node; parents [B, N], −1 the root, a parent before its children; uniforms [B, C] in
    [0, 1), C = `tree_columns(method, N)`: a request takes one for each coin of the program, from the left. Drafts of a
    node are taken by their index, over all its copies: nodes of one token after one path are i.i.d. drafts that agree;
    copies [B, N] says how many drafts a node stands for. Nothing follows `options.end`. D is `options.depth`, or the
    depth of the deepest tree where that may be looked at (`options.check`), or N. Rows without a node, or that no walk
    visits, may hold anything. Nothing waits for the device but `options.check`; chain priorities of more than 256
    tokens are worked out in float64 on the CPU, one request after another, and do, as is one request alone with
    `options.check`; on rounded ratios they do not. So is a rule that is a program alone (`rule.decide` is None).

    draft_logits may be `MappedLogits`: of another vocabulary, or of part of one. Tokens are then the draft's, and
    emitted ones the target's; uniforms have one column more.

    Raises:
        TypeError, ValueError: shapes, types or devices do not fit; with `options.check` also parents that are no tree,
            a draft that the method does not take, a row without a law, a uniform outside [0, 1), naming request and
            node.

    Source: the method's own.

    >>> from spec_math.block_level.tree_rules import TARGET_ONLY
    >>> rows, tree = torch.zeros(1, 3, 2), (torch.tensor([[0, 1]]), torch.tensor([[-1, 0]]))
    >>> found = verify_tree(TARGET_ONLY, rows, rows, *tree, torch.tensor([[0.25, 0.75, 0.5]]))
    >>> found.emitted.tolist(), found.accepted_nodes.tolist()
    ([[0, 0, -1]], [[0, -1]])
    """
    rule = tree_validation.rule_of(method)
    if isinstance(draft_logits, MappedLogits):
        tree = tokens, parents, copies
        mapped_validation.check_trees(rule, target_logits, draft_logits, tree, uniforms, options)
        sizes = _sizes(*tree, options)
        own = ArrayTree(tokens, parents, *sizes, options.end, copies)
        return TreeVerified(*verify_mapped.decide_trees(rule, target_logits, draft_logits, own, uniforms, options))
    given = tree_validation.Trees(target_logits, draft_logits, tokens, parents, uniforms, copies)
    tree_validation.check_shapes(rule, given)
    if options.check:
        tree_validation.check_values(rule, given, options)
    depth, width = _sizes(tokens, parents, copies, options)
    options = replace(options, depth=depth, width=width)
    if rule.decide is None or _is_replayed(rule, target_logits, options):
        return TreeVerified(*tree_programs.replayed(rule, given[:5], options, copies))
    # A rule that does not read the draft's laws is given the target's.
    drafts = draft_logits if rule.reads_draft else target_logits
    parts: list[Any] = []
    for here in chunks(target_logits, HELD * target_logits.shape[-1], options):
        own = None if copies is None else copies[here].long()
        tree = ArrayTree(tokens[here].long(), parents[here].long(), depth, width, options.end, own)
        target, draft = (Law(each[here], options.at(here)) for each in (target_logits, drafts))
        laws = LogitRows(target, draft, tree, (tree.tokens >= 0).any(dim=1, keepdim=True))
        walked = rule.decide(batch_coin(uniforms[here]), tree, laws)
        parts.append((*emitted(tree, walked), walked.nodes))
    return TreeVerified(*(torch.cat(each) for each in zip(*parts, strict=True)))


def tree_columns(method: Method | TreeRule, n: int) -> int:
    """Return C, how many uniforms a request of up to n nodes needs: no path of the program tosses more coins.

    Raises:
        TypeError, ValueError: n is not a positive integer; as `verify_tree`.

    >>> from spec_math.block_level.methods import METHODS
    >>> [tree_columns(method, 4) for method in METHODS]
    [5, 5, 9, 9, 17, 5, 5, 5, 6]
    """
    return tree_validation.columns_of(tree_validation.rule_of(method), n)


def _is_replayed(rule: TreeRule, logits: Any, options: Options) -> bool:
    """Say whether a rule is replayed for its vocabulary, or as one request on the CPU, where that is quicker."""
    if rule.largest is None:
        return False
    alone = options.check and len(logits) == 1 and logits.device.type == "cpu"
    return alone or logits.shape[-1] > rule.largest


def _sizes(tokens: Any, parents: Any, copies: Any, options: Options) -> tuple[int, int]:
    """Return the depth and the width to reckon with."""
    number = tokens.shape[1]
    found = tree_validation.sizes(tokens, parents, copies) if options.check else (number, number)
    if copies is not None and not options.check and options.width is None:
        raise ValueError(
            "copies may add up to more drafts than nodes: without options.check, say how many follow a node at most, "
            "Options(width=K)"
        )
    return options.depth or found[0], options.width or found[1]
