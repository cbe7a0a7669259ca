"""What is refused before trees are verified: arrays that do not fit, and, on request, parents and tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from spec_math.arrays import count
from spec_math.block_level.methods import Method
from spec_math.block_level.tree_rules import TreeRule
from torch_bridge import draft_weights, input_validation
from torch_bridge.options import Options, restricted

NAMES = ("target_logits", "draft_logits", "tokens", "parents", "uniforms")


def rule_of(method: Any) -> TreeRule:
    """Return the rule for trees of a method, or the rule itself.

    Raises:
        TypeError: it is neither.

    >>> from spec_math.block_level.methods import named
    >>> rule_of(named("traversal")).siblings
    'distinct'
    """
    if isinstance(method, TreeRule):
        return method
    if isinstance(method, Method) and method.tree is not None:
        return method.tree
    raise TypeError(
        f"method must be a rule of spec_math.block_level.tree_rules, or one of METHODS; got {type(method).__name__}"
    )


def columns_of(rule: TreeRule, n: int) -> int:
    """Return how many coins no path of a rule exceeds on n drafts.

    >>> from spec_math.block_level import tree_rules
    >>> columns_of(tree_rules.TRAVERSAL, 3)
    4
    """
    return rule.coins(count(n, "n"))


class Trees(NamedTuple):
    """What `verify_tree` is given: logits [B, N + 1, V], tokens and parents [B, N], uniforms [B, C], copies or None.

    >>> Trees(None, None, [[0]], [[-1]], [[0.5, 0.5]]).copies is None
    True
    """

    target_logits: Any
    draft_logits: Any
    tokens: Any
    parents: Any
    uniforms: Any
    copies: Any = None


def check_shapes(rule: TreeRule, given: Trees) -> None:
    """Check types, devices and the shapes [B, N + 1, V] twice, [B, N] twice, [B, C]; no value is looked at.

    Raises:
        TypeError, ValueError: they do not fit.

    >>> from spec_math.block_level import tree_rules
    >>> rows, tokens = torch.zeros(1, 2, 3), torch.tensor([[0]])
    >>> check_shapes(tree_rules.TRAVERSAL, Trees(rows, rows, tokens, tokens - 1, torch.zeros(1, 2)))
    """
    target_logits, draft_logits, tokens, parents, uniforms, copies = given
    input_validation.check_tensors(target_logits, draft_logits, tokens, uniforms)
    for name, array in (("parents", parents), ("copies", copies))[: 1 if copies is None else 2]:
        input_validation.check_whole_numbers(name, array)
        if array.device != tokens.device:
            raise ValueError(f"all tensors of a call must lie on one device; got {name} on {array.device}")
        if array.shape != tokens.shape:
            raise ValueError(
                f"{name} must have the shape of tokens, [B, N]; got {tuple(array.shape)} and {tuple(tokens.shape)}"
            )
    shapes = [tuple(array.shape) for array in (target_logits, draft_logits, tokens, parents, uniforms)]
    batch, number = (*shapes[2], 0, 0)[:2]
    rows = (batch, number + 1, (shapes[0] or (0,))[-1])
    if shapes[:2] != [rows, rows] or len(shapes[2]) != 2 or len(shapes[4]) != 2 or shapes[4][0] != batch or 0 in rows:
        listed = "; ".join(f"{name} {shape}" for name, shape in zip(NAMES, shapes, strict=True))
        raise ValueError(
            "target_logits, draft_logits, tokens, parents and uniforms must be [B, N + 1, V], [B, N + 1, V], [B, N], "
            f"[B, N] and [B, C] with B, N, V ≥ 1, the root's row of logits first; got {listed}"
        )
    wanted = columns_of(rule, number)
    if shapes[4][1] < wanted:
        raise ValueError(
            f"the rule {rule.name!r} tosses up to {wanted} coins a request on {number} nodes; uniforms has "
            f"{shapes[4][1]} columns: draw tree_columns(method, {number}) of them"
        )


def check_values(rule: TreeRule, given: Trees, options: Options) -> None:
    """Check that parents are trees that the rule takes, that rows are laws and drafts can have been drawn from them.

    It waits for the device.

    Raises:
        ValueError: naming the first request and node where it is not so.

    >>> from spec_math.block_level import tree_rules
    >>> rows, tokens, parents = torch.zeros(1, 3, 2), torch.tensor([[0, 0]]), torch.tensor([[-1, -1]])
    >>> check_values(tree_rules.TRAVERSAL, Trees(rows, rows, tokens, parents, torch.zeros(1, 3)), Options())
    Traceback (most recent call last):
    ValueError: the drafts after a node are distinct for 'traversal'; in request 0 nodes 0 and 1 carry token 0 after ...
    """
    target_logits, draft_logits, tokens, parents, uniforms, copies = given
    check_nodes(tokens, parents, target_logits.shape[-1])
    input_validation.check_uniforms(uniforms)
    check_kind(rule, tokens, parents, options, copies)
    there = tokens >= 0
    drafted = slots_with_children(tokens, parents)
    ended = there & (tokens == options.end) if options.end is not None else torch.zeros_like(there)
    root = torch.ones_like(there[:, :1])
    input_validation.check_rows(target_logits, "target_logits", torch.cat([root, there & ~ended], dim=1))
    if rule.reads_draft:
        input_validation.check_rows(draft_logits, "draft_logits", drafted)
        check_drafted(draft_logits, tokens, parents, options, rule.siblings == "distinct")


def check_nodes(tokens: Any, parents: Any, vocabulary: int) -> None:
    """Check that tokens [B, N] lie in the vocabulary, or are −1, and that parents [B, N] make them trees.

    Raises:
        ValueError: a token out of range; a parent that comes after its child, or is no node.

    >>> check_nodes(torch.tensor([[3, 4]]), torch.tensor([[-1, 2]]), 5)
    Traceback (most recent call last):
    ValueError: a parent comes before its children, -1 for the root; in request 0 node 1 has the parent 2
    """
    outside = (tokens < -1) | (tokens >= vocabulary)
    if bool(outside.any()):
        request, node = _first(outside)
        raise ValueError(
            f"tokens must lie in 0..{vocabulary - 1}, or be -1 for no node; in request {request} node {node} has "
            f"{int(tokens[request, node])}"
        )
    there = tokens >= 0
    index = torch.arange(tokens.shape[1], device=tokens.device)
    late = there & ((parents < -1) | (parents >= index))
    if bool(late.any()):
        request, node = _first(late)
        raise ValueError(
            f"a parent comes before its children, -1 for the root; in request {request} node {node} has the parent "
            f"{int(parents[request, node])}"
        )
    orphan = there & (parents >= 0) & ~there.gather(1, parents.long().clamp(min=0, max=tokens.shape[1] - 1))
    if bool(orphan.any()):
        request, node = _first(orphan)
        raise ValueError(
            f"a parent must be a node: in request {request} node {node} has the parent {int(parents[request, node])}, "
            "whose token is -1"
        )


def sizes(tokens: Any, parents: Any, copies: Any = None) -> tuple[int, int]:
    """Return the depth of the deepest tree, and the most drafts that follow one path, at least 1 each.

    >>> sizes(torch.tensor([[7, 7, 8]]), torch.tensor([[-1, -1, 0]]))
    (2, 2)
    """
    depth = width = 1
    for request, (row, above) in enumerate(zip(tokens.tolist(), parents.tolist(), strict=True)):
        paths: dict[int, tuple[int, ...]] = {-1: ()}
        after: dict[tuple[int, ...], int] = {}
        for node, (token, parent) in enumerate(zip(row, above, strict=True)):
            if token >= 0 and parent in paths:
                paths[node] = (*paths[parent], token)
                number = 1 if copies is None else int(copies[request, node])
                after[paths[parent]] = after.get(paths[parent], 0) + number
        depth, width = max(depth, *map(len, paths.values())), max(width, *after.values(), 1)
    return depth, width


def check_kind(rule: TreeRule, tokens: Any, parents: Any, options: Options, copies: Any = None) -> None:
    """Check that trees [B, N] are of the kind that a rule takes: one chain, distinct siblings, chains of one length.

    Raises:
        ValueError: naming the first request and nodes where it is not so.

    >>> from spec_math.block_level import tree_rules
    >>> check_kind(tree_rules.RECURSIVE, torch.tensor([[0, 0]]), torch.tensor([[-1, -1]]), Options())
    """
    there = tokens >= 0
    index = torch.arange(tokens.shape[1], device=tokens.device)
    siblings = there[:, :, None] & there[:, None] & (parents[:, :, None] == parents[:, None])
    siblings &= index[:, None] > index[None]
    if rule.siblings == "one" and bool(siblings.any()):
        request, later, earlier = (int(place) for place in siblings.nonzero()[0])
        raise ValueError(
            f"{rule.name!r} takes one chain; in request {request} nodes {earlier} and {later} follow the same node: "
            "verify trees with another rule"
        )
    same = siblings & (tokens[:, :, None] == tokens[:, None])
    if rule.siblings == "distinct" and bool(same.any()):
        request, later, earlier = (int(place) for place in same.nonzero()[0])
        raise ValueError(
            f"the drafts after a node are distinct for {rule.name!r}; in request {request} nodes {earlier} and {later} "
            f"carry token {int(tokens[request, later])} after node {int(parents[request, later])}: verify i.i.d. "
            "drafts with a rule for them"
        )
    if copies is not None and bool((there & (copies < 1)).any()):
        request, node = _first(there & (copies < 1))
        raise ValueError(
            f"a node stands for at least one draft; in request {request} node {node} has {int(copies[request, node])} "
            "copies"
        )
    if rule.chains:
        _check_chains(rule, tokens, parents, options, copies)


def _check_chains(rule: TreeRule, tokens: Any, parents: Any, options: Options, copies: Any) -> None:
    """Check that each node's drafts all go on, unless it ends the text or lies as deep as the deepest of its tree."""
    many = torch.where(tokens >= 0, torch.ones_like(tokens) if copies is None else copies.to(tokens.dtype), 0)
    below = torch.zeros_like(many).scatter_add_(1, parents.long().clamp(min=0), torch.where(parents >= 0, many, 0))
    ended = tokens == (-2 if options.end is None else options.end)
    level, upward = torch.ones_like(tokens), parents.long()
    for _ in range(tokens.shape[1]):
        level, upward = (
            level + (upward >= 0).to(level.dtype),
            torch.where(upward < 0, -1, parents.long().gather(1, upward.clamp(min=0))),
        )
    level = torch.where(tokens >= 0, level, 0)
    leaf = ended | (level == level.amax(dim=1, keepdim=True))
    wrong = (tokens >= 0) & (below != torch.where(leaf, 0, many))
    if bool(wrong.any()):
        request, node = _first(wrong)
        raise ValueError(
            f"{rule.name!r} takes k i.i.d. chains of one length; in request {request} node {node} stands for "
            f"{int(many[request, node])} of them and {int(below[request, node])} go on: lay chains out with "
            "chain_tree, or verify other trees node by node"
        )


def check_drafted(draft_logits: Any, tokens: Any, parents: Any, options: Options, distinct: bool) -> None:
    """Check that the draft's laws [B, N + 1, V], restricted, have mass on the tokens [B, N] drafted after them.

    Where siblings are `distinct`, earlier ones are taken off the law that a token was drafted from.

    Raises:
        ValueError: naming the first node that cannot have been drafted, or weighs too little for that.

    >>> check_drafted(torch.zeros(1, 2, 2), torch.tensor([[1]]), torch.tensor([[-1]]), Options(), distinct=True)
    """
    there = tokens >= 0
    for request in range(len(tokens)):
        own = options.at(slice(request, request + 1))
        if own.allowed is not None and own.allowed.ndim == 3:
            rows = draft_logits[request].masked_fill(~own.allowed[0], -torch.inf)[None]
        else:
            rows = draft_logits[request : request + 1]
        kept = restricted(rows, Options(own.temperature, own.top_k, own.top_p, allowed=_flat(own.allowed)))[0]
        slot, token = (parents[request] + 1).long().clamp(min=0), tokens[request].long().clamp(min=0)
        missing = there[request] & (kept[slot, token] == -torch.inf)
        if bool(missing.any()):
            node = int(missing.nonzero()[0])
            raise ValueError(
                f"the draft puts no mass on token {int(token[node])} of node {node} in request {request}; give the "
                "logits and options that the drafts were drawn with"
            )
        gaps = draft_weights.gaps(kept[None], slot[None], tokens[request : request + 1].long(), distinct, own)[0]
        light = gaps < draft_weights.least_gap(kept.dtype, kept.shape[-1])
        if bool(light.any()):
            node = int(light.nonzero()[0])
            name = f"in request {request} node {node} has token {int(token[node])}"
            raise ValueError(draft_weights.too_light(name, float(gaps[node]), kept.dtype, kept.shape[-1]))


def _flat(allowed: Any) -> Any:
    return None if allowed is None or allowed.ndim == 3 else allowed


def slots_with_children(tokens: Any, parents: Any) -> Any:
    """Say which slots [B, N + 1] have children; slot 0 is the root, slot i + 1 node i.

    >>> slots_with_children(torch.tensor([[7, -1]]), torch.tensor([[-1, 0]])).tolist()
    [[True, False, False]]
    """
    slots = torch.zeros(len(tokens), tokens.shape[1] + 1, dtype=torch.int64, device=tokens.device)
    return slots.scatter_add_(1, parents.long() + 1, (tokens >= 0).long()) > 0


def _first(bad: Any) -> tuple[int, int]:
    request, node = (int(place) for place in bad.nonzero()[0])
    return request, node
