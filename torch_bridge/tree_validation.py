"""Validation of drafted trees: shapes and types always, and with `Options.check` parents and values.

Every error names the rule, the first request and node where it is broken, the numbers there, and the cure.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from spec_math.arrays import count
from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.methods import Method
from spec_math.block_level.tree_rules import TreeRule
from spec_math.drafting.merged import placed_tree
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import Options
from torch_bridge.validation import (
    NAMES,
    check_columns,
    check_drafted,
    check_map,
    check_options,
    check_places,
    check_rows,
    check_tensors,
    check_uniforms,
    check_whole_numbers,
    first,
    shapes_in_words,
)

Trees = tuple[Any, Any, Any, Any, Any, Any]
"""Arguments of `verify_tree`: logits [B, N + 1, V], tokens and parents [B, N], uniforms [B, C], copies or None."""


def rule_of(method: Any) -> TreeRule:
    """Return the rule for trees of a method, or the rule itself."""
    if isinstance(method, TreeRule):
        return method
    if isinstance(method, Method) and method.tree is not None:
        return method.tree
    raise TypeError(
        f"method must be a rule of spec_math.block_level.tree_rules, or one of METHODS; got {type(method).__name__}"
    )


def tree_columns(method: Method | TreeRule, n: int) -> int:
    """Return C, how many uniforms a request of up to n nodes needs: no path of the program tosses more coins.

    Raises:
        TypeError, ValueError: n is not a positive integer; the method has no rule for trees.

    >>> from spec_math.block_level.methods import METHODS
    >>> [tree_columns(method, 4) for method in METHODS]
    [5, 5, 9, 9, 17, 5, 5, 5, 6]
    """
    return rule_of(method).coins(count(n, "n"))


def check_trees(rule: TreeRule, given: Trees, options: Options) -> tuple[int, int]:
    """Check trees: shapes [B, N + 1, V] twice, [B, N] twice, [B, C], and with `options.check` parents and values.

    With `MappedLogits` tokens are indices of the draft's rows, and uniforms have one column more. Returns the depth of
    the trees and how many drafts follow a node, at most.

    >>> from spec_math.block_level import tree_rules
    >>> rows, tokens, parents = torch.zeros(1, 3, 2), torch.tensor([[0, 0]]), torch.tensor([[-1, -1]])
    >>> check_trees(tree_rules.TRAVERSAL, (rows, rows, tokens, parents, torch.zeros(1, 3), None), Options())
    Traceback (most recent call last):
    ValueError: the drafts after a node are distinct for 'traversal'; in request 0 nodes 0 and 1 carry token 0 after ...
    """
    target_logits, draft_logits, tokens, parents, uniforms, copies = given
    mapped = draft_logits if isinstance(draft_logits, MappedLogits) else None
    drafts: Any = draft_logits if mapped is None else mapped.logits
    _check_tree_shapes(rule, (target_logits, target_logits if mapped is not None else drafts, *given[2:]))
    if mapped is not None:
        _check_tree_shapes(rule, (drafts, drafts, *given[2:]))
        check_tensors(target_logits, drafts, tokens, uniforms)
        check_places(target_logits, mapped)
        check_columns(rule, (tree_columns(rule, tokens.shape[1]), uniforms.shape[1]), "", "", mapped)
        if rule.decide is None:
            raise ValueError(f"the rule {rule.name!r} has no array formula, which drafts over another vocabulary need")
    (batch, number), size = tokens.shape, target_logits.shape[-1]
    check_options(options, batch, size, number + 1)
    if copies is not None:
        _check_copies(rule, tokens, copies, options)
    if not options.check:
        return options.depth or number, options.width or number
    named, own, name = tokens, options, "draft_logits"
    if mapped is not None:
        own, name = mapped.options(options), "draft_logits, on the tokens that may be drafted"
        check_map(mapped.places, size)
    _check_nodes(tokens, parents, drafts.shape[-1])
    placed = tokens
    if mapped is not None:
        # Ends are the target's tokens: the draft's are told apart as those, and those beyond behind them.
        placed = placed_tree(ArrayTree(tokens.long(), parents.long(), 1, 1), mapped.places.long()).tokens
        named = torch.where((tokens >= 0) & (placed < 0), tokens + size, placed)
    _check_kind(rule, named, parents, options, copies)
    check_uniforms(uniforms)
    goes_on = (placed >= 0) & (placed != (-2 if options.end is None else options.end))
    root = torch.ones_like(goes_on[:, :1])
    check_rows(target_logits, "target_logits", torch.cat([root, goes_on], dim=1), options)
    if rule.reads_draft:
        slots = torch.where(tokens >= 0, parents.long() + 1, 0)
        children = torch.zeros(batch, number + 1, dtype=torch.int64, device=tokens.device)
        check_rows(drafts, name, children.scatter_add_(1, slots, (tokens >= 0).long()) > 0, own)
        check_drafted(drafts, slots, tokens, own, rule.siblings == "distinct", of_nodes=True)
    return _sizes(tokens, parents, copies, options)


def _check_tree_shapes(rule: TreeRule, given: Trees) -> None:
    target_logits, draft_logits, tokens, parents, uniforms, copies = given
    shapes, batch, number, size = check_tensors(target_logits, draft_logits, tokens, uniforms)
    for name, array in (("parents", parents), ("copies", copies))[: 1 if copies is None else 2]:
        check_whole_numbers(name, array, tokens.device)
        if array.shape != tokens.shape:
            raise ValueError(
                f"{name} must have the shape of tokens, [B, N]; got {tuple(array.shape)} and {tuple(tokens.shape)}"
            )
    rows = (batch, number + 1, size)
    if shapes[:2] != [rows, rows] or len(shapes[2]) != 2 or len(shapes[3]) != 2 or shapes[3][0] != batch or 0 in rows:
        shapes.insert(3, tuple(parents.shape))
        raise ValueError(
            "target_logits, draft_logits, tokens, parents and uniforms must be [B, N + 1, V], [B, N + 1, V], [B, N], "
            "[B, N] and [B, C] with B, N, V ≥ 1, the root's row of logits first; got "
            f"{shapes_in_words((*NAMES[:3], 'parents', 'uniforms'), shapes)}"
        )
    sizes = tree_columns(rule, number), uniforms.shape[1]
    check_columns(rule, sizes, f"{number} nodes", f"tree_columns(method, {number})", None)


def _check_copies(rule: TreeRule, tokens: Any, copies: Any, options: Options) -> None:
    """Check that copies are given to a rule that equal drafts may be taken together for, and are at least 1."""
    together = rule.siblings == "any" and not rule.ordered
    if not options.check and not together:
        raise ValueError(
            f"{rule.name!r} takes no copies: it needs every draft by itself, in the order drawn; without options.check "
            "nothing looks whether all copies are 1: leave them out, and lay chains out with chain_tree(chains)"
        )
    if not options.check and options.width is None:
        raise ValueError(
            "copies may add up to more drafts than nodes: without options.check, say how many follow a node at most, "
            "Options(width=K)"
        )
    if not options.check:
        return
    if at := first((tokens >= 0) & (copies < 1)):
        raise ValueError(
            f"a node stands for at least one draft; in request {at[0]} node {at[1]} has {int(copies[at])} copies"
        )
    if not together and (at := first((tokens >= 0) & (copies > 1))):
        why = {
            "any": "which of several drafts was drawn first, and copies do not say that: lay chains out with "
            "chain_tree(chains), where each has nodes of its own, or take a rule whose `ordered` is False",
            "distinct": "distinct drafts after a node: verify i.i.d. drafts with a rule for them",
            "one": "one draft after a node: verify several with another rule",
        }[rule.siblings]
        raise ValueError(f"{rule.name!r} needs {why}; in request {at[0]} node {at[1]} has {int(copies[at])} copies")


def _check_nodes(tokens: Any, parents: Any, vocabulary: int) -> None:
    """Check that tokens [B, N] lie in the vocabulary, or are −1, and that parents [B, N] make them trees."""
    if at := first((tokens < -1) | (tokens >= vocabulary)):
        raise ValueError(
            f"tokens must lie in 0..{vocabulary - 1}, or be -1 for no node; in request {at[0]} node {at[1]} has "
            f"{int(tokens[at])}"
        )
    there = tokens >= 0
    if at := first(there & ((parents < -1) | (parents >= torch.arange(tokens.shape[1], device=tokens.device)))):
        raise ValueError(
            f"a parent comes before its children, -1 for the root; in request {at[0]} node {at[1]} has the parent "
            f"{int(parents[at])}"
        )
    if at := first(there & (parents >= 0) & ~there.gather(1, parents.long().clamp(min=0, max=tokens.shape[1] - 1))):
        raise ValueError(
            f"a parent must be a node: in request {at[0]} node {at[1]} has the parent {int(parents[at])}, whose token "
            "is -1"
        )


def _sizes(tokens: Any, parents: Any, copies: Any, options: Options) -> tuple[int, int]:
    """Return the depth and the width to reckon with: those of the options, or what the trees have, at least 1 each."""
    depth = width = 1
    for request, (row, above) in enumerate(zip(tokens.tolist(), parents.tolist(), strict=True)):
        paths: dict[int, tuple[int, ...]] = {-1: ()}
        after = Counter[tuple[int, ...]]()
        for node, (token, parent) in enumerate(zip(row, above, strict=True)):
            if token >= 0:
                paths[node] = (*paths[parent], token)
                after[paths[parent]] += 1 if copies is None else int(copies[request, node])
        deepest, widest = max(map(len, paths.values())), max(after.values(), default=0)
        for name, what, found in (("depth", "lie below each other", deepest), ("width", "follow one node", widest)):
            told = getattr(options, name)
            if told is not None and told < found:
                raise ValueError(
                    f"options.{name} is the most that any tree has; it is {told}, and in request {request} {found} "
                    f"drafts {what}: give {name}={found} or more, or leave it out"
                )
        depth, width = max(depth, deepest), max(width, widest)
    return options.depth or depth, options.width or width


def _check_kind(rule: TreeRule, tokens: Any, parents: Any, options: Options, copies: Any = None) -> None:
    """Check that trees [B, N] are of the kind that a rule takes: one chain, distinct siblings, chains of one length."""
    there = tokens >= 0
    index = torch.arange(tokens.shape[1], device=tokens.device)
    siblings = there[:, :, None] & there[:, None] & (parents[:, :, None] == parents[:, None])
    siblings &= index[:, None] > index[None]
    if rule.siblings == "one" and (at := first(siblings)):
        request, later, earlier = at
        raise ValueError(
            f"{rule.name!r} takes one chain; in request {request} nodes {earlier} and {later} follow the same node: "
            "verify trees with another rule"
        )
    if rule.siblings == "distinct" and (at := first(siblings & (tokens[:, :, None] == tokens[:, None]))):
        request, later, earlier = at
        raise ValueError(
            f"the drafts after a node are distinct for {rule.name!r}; in request {request} nodes {earlier} and {later} "
            f"carry token {int(tokens[request, later])} after node {int(parents[request, later])}: verify i.i.d. "
            "drafts with a rule for them"
        )
    if rule.chains:
        _check_goes_on(rule, tokens, torch.where(there, parents.long(), -1), options, copies)


def _check_goes_on(rule: TreeRule, tokens: Any, parents: Any, options: Options, copies: Any) -> None:
    """Check that each node's drafts all go on, unless it ends the text or lies as deep as the deepest of its tree."""
    many = torch.where(tokens >= 0, torch.ones_like(tokens) if copies is None else copies.to(tokens.dtype), 0)
    below = torch.zeros_like(many).scatter_add_(1, parents.clamp(min=0), torch.where(parents >= 0, many, 0))
    ended = tokens == (-2 if options.end is None else options.end)
    level, upward = torch.ones_like(tokens), parents
    for _ in range(tokens.shape[1]):
        level = level + (upward >= 0).to(level.dtype)
        upward = torch.where(upward < 0, -1, parents.gather(1, upward.clamp(min=0)))
    level = torch.where(tokens >= 0, level, 0)
    leaf = ended | (level == level.amax(dim=1, keepdim=True))
    if at := first((tokens >= 0) & (below != torch.where(leaf, 0, many))):
        raise ValueError(
            f"{rule.name!r} takes k i.i.d. chains of one length; in request {at[0]} node {at[1]} stands for "
            f"{int(many[at])} of them and {int(below[at])} go on: lay chains out with "
            "chain_tree, or verify other trees node by node"
        )
