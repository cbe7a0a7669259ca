"""Validation of what is verified: shapes and types always, and with `Options.check` the values, which waits.

Every error names the rule, the first place where it is broken, the numbers there, and the cure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from spec_math.arrays import count
from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.methods import Method
from spec_math.block_level.tree_rules import TreeRule
from spec_math.drafting.merged import placed_tree
from spec_math.scheme import Scheme
from spec_math.token_level import greedy
from torch_bridge.draft_rows import AT_ONCE, gaps, least_gap, too_light
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import Options, restricted

NAMES = ("target_logits", "draft_logits", "tokens", "uniforms")

ALIKE = 2.0**-16
"""Logits so near each other, in nats, count as equal favourites: laws may not tell them apart."""


class Trees(NamedTuple):
    """What `verify_tree` is given: logits [B, N + 1, V], tokens and parents [B, N], uniforms [B, C], copies or None."""

    target_logits: Any
    draft_logits: Any
    tokens: Any
    parents: Any
    uniforms: Any
    copies: Any = None


def check_chains(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options) -> None:
    """Check chains: shapes [B, L + 1, V], [B, L, V], [B, L], [B, L + 1], and with `options.check` their values.

    Rows behind a chain's end, and behind the token that ends a text, may hold anything.

    Raises:
        TypeError, ValueError: something does not fit, or a value cannot be.

    >>> logits, uniforms = torch.zeros(1, 2, 3), torch.zeros(1, 2)
    >>> check_chains(logits, logits[:, :1], torch.tensor([[3]]), uniforms, Options())
    Traceback (most recent call last):
    ValueError: tokens must lie in 0..2, or be -1 from where a chain is shorter; tokens[0, 0] is 3
    """
    check_tensors(target_logits, draft_logits, tokens, uniforms)
    shapes = [tuple(array.shape) for array in (target_logits, draft_logits, tokens, uniforms)]
    batch, length = (*shapes[2], 0, 0)[:2]
    size = (shapes[0] or (0,))[-1]
    wanted = [(batch, length + 1, size), (batch, length, size), (batch, length), (batch, length + 1)]
    if shapes != wanted or 0 in wanted[1]:
        raise ValueError(
            "target_logits, draft_logits, tokens and uniforms must be [B, L + 1, V], [B, L, V], [B, L] and [B, L + 1] "
            f"with B, L, V ≥ 1; got {_listed(NAMES, shapes)}"
        )
    check_options(options, batch, size)
    if not options.check:
        return
    check_tokens(tokens, size)
    check_uniforms(uniforms)
    there = tokens >= 0
    if options.end is not None:
        ended = tokens == options.end
        there &= ended.cumsum(dim=1) - ended.long() == 0
    goes_on = there if options.end is None else there & (tokens != options.end)
    check_rows(target_logits, "target_logits", torch.cat([torch.ones_like(there[:, :1]), goes_on], dim=1), options)
    check_rows(draft_logits, "draft_logits", there, options)
    slots = torch.arange(length, device=tokens.device).expand_as(tokens)
    check_drafted(draft_logits, slots, tokens.masked_fill(~there, -1), options)


def columns_of(scheme: Scheme, k: int) -> int:
    """Return how many coins the longest path of a scheme tosses on k drafts.

    Raises:
        TypeError, ValueError: k is not a positive integer; the scheme does not say how many coins it tosses.
    """
    if scheme.coins is None:
        raise ValueError(
            f"the scheme {scheme.name!r} does not say how many coins it tosses; make it with coins=lambda k: ..., the "
            "most that any path of its verify asks for"
        )
    return scheme.coins(count(k))


def check_drafts(
    scheme: Scheme, target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options
) -> None:
    """Check drafts of one position: shapes [B, V], [B, V] or [B, k, V], [B, k], [B, C], and on request their values.

    With `MappedLogits` [B, D] tokens lie in 0..D − 1, and uniforms have one column more.

    Raises:
        TypeError, ValueError: something does not fit the scheme, or a value cannot be.

    >>> from spec_math import SCHEMES
    >>> logits, tokens = torch.zeros(1, 2), torch.tensor([[0, 1]])
    >>> check_drafts(SCHEMES[4], logits, logits, tokens, torch.zeros(1, 2), Options())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the scheme 'recursive rejection' tosses up to 3 coins a request on 2 drafts; uniforms has 2 columns: ...
    """
    mapped = draft_logits if isinstance(draft_logits, MappedLogits) else None
    drafts: Any = draft_logits if mapped is None else mapped.logits
    check_tensors(target_logits, drafts, tokens, uniforms)
    shapes = [tuple(array.shape) for array in (target_logits, drafts, tokens, uniforms)]
    batch, k = (*shapes[2], 0, 0)[:2]
    size = (shapes[0] or (0,))[-1]
    if mapped is None:
        _check_position(shapes, scheme)
    elif not all(len(shape) == 2 and shape[0] == batch for shape in shapes) or 0 in (*shapes[0], *shapes[1], k):
        raise ValueError(
            "target_logits, MappedLogits.logits, tokens and uniforms must be [B, V], [B, D], [B, k] and [B, C] with "
            f"B, V, D, k ≥ 1; got {', '.join(map(str, shapes))}"
        )
    else:
        _check_places(target_logits, mapped)
    wanted = columns_of(scheme, k)
    if mapped is not None:
        _check_columns(scheme.name, wanted, shapes[3][1])
    elif shapes[3][1] < wanted:
        raise ValueError(
            f"the scheme {scheme.name!r} tosses up to {wanted} coins a request on {k} drafts; uniforms has "
            f"{shapes[3][1]} columns: draw columns(scheme, {k}) of them"
        )
    if mapped is not None and scheme.decide is None:
        raise ValueError(
            f"the scheme {scheme.name!r} has no array formula, which drafts over another vocabulary need: verify them "
            "with another of SCHEMES"
        )
    check_options(options, batch, size)
    if not options.check:
        return
    own, name = options, "draft_logits"
    if mapped is not None:
        _check_map(mapped.places, size)
        own, name = mapped.options(options), "draft_logits, on the tokens that may be drafted"
    check_tokens(tokens, shapes[1][-1] if mapped is not None else size)
    check_uniforms(uniforms)
    check_rows(target_logits, "target_logits", torch.ones_like(tokens[:, 0], dtype=torch.bool), options)
    if scheme.distinct:
        _check_distinct(tokens)
    if scheme.drafts is not None:
        _check_number(scheme, tokens)
    if not scheme.reads.draft and mapped is None:
        return
    each = drafts.ndim == 3
    check_rows(drafts, name, tokens >= 0 if each else tokens[:, 0] >= 0, own)
    slots = torch.arange(k, device=tokens.device).expand_as(tokens)
    rows, slots = (drafts, slots) if each else (drafts[:, None], slots * 0)
    check_drafted(rows, slots, tokens, own, scheme.distinct and scheme.reads.draft)
    if scheme.reads.favourite:
        _check_hub(restricted(drafts, own), tokens, own)
    if scheme.draw is greedy.draw:
        _check_greedy(restricted(drafts, own), tokens, own)


def _check_position(shapes: list[tuple[int, ...]], scheme: Scheme) -> None:
    batch, k = (*shapes[2], 0, 0)[:2]
    size = (shapes[0] or (0,))[-1]
    rows = [(batch, size), (batch, k, size)]
    fits = shapes[0] == rows[0] and shapes[1] in rows and len(shapes[2]) == 2 and shapes[3][:1] == (batch,)
    if not fits or len(shapes[3]) != 2 or not batch * k * size:
        raise ValueError(
            "target_logits, draft_logits, tokens and uniforms must be [B, V], [B, V] (or [B, k, V] for k drafters of "
            f"their own), [B, k] and [B, C] with B, k, V ≥ 1; got {_listed(NAMES, shapes)}"
        )
    if len(shapes[1]) == 3 and not scheme.reads.drafters:
        raise ValueError(
            f"the scheme {scheme.name!r} takes drafts of one law; draft_logits is {shapes[1]}: drafters of their own "
            "are verified by recursive rejection"
        )


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


def tree_columns_of(rule: TreeRule, n: int) -> int:
    """Return how many coins no path of a rule exceeds on n drafts."""
    return rule.coins(count(n, "n"))


def check_trees(rule: TreeRule, given: Trees, options: Options) -> tuple[int, int]:
    """Check trees: shapes [B, N + 1, V] twice, [B, N] twice, [B, C], and with `options.check` parents and values.

    With `MappedLogits` tokens are indices of the draft's rows, and uniforms have one column more. Returns the depth of
    the trees and how many drafts follow a node, at most.

    Raises:
        TypeError, ValueError: something does not fit, naming the first request and node where a value cannot be.

    >>> from spec_math.block_level import tree_rules
    >>> rows, tokens, parents = torch.zeros(1, 3, 2), torch.tensor([[0, 0]]), torch.tensor([[-1, -1]])
    >>> check_trees(tree_rules.TRAVERSAL, Trees(rows, rows, tokens, parents, torch.zeros(1, 3)), Options())
    Traceback (most recent call last):
    ValueError: the drafts after a node are distinct for 'traversal'; in request 0 nodes 0 and 1 carry token 0 after ...
    """
    target_logits, draft_logits, tokens, parents, uniforms, copies = given
    mapped = draft_logits if isinstance(draft_logits, MappedLogits) else None
    drafts: Any = draft_logits if mapped is None else mapped.logits
    _check_tree_shapes(rule, given._replace(draft_logits=target_logits if mapped is not None else drafts))
    if mapped is not None:
        _check_tree_shapes(rule, given._replace(target_logits=drafts, draft_logits=drafts))
        check_tensors(target_logits, drafts, tokens, uniforms)
        _check_places(target_logits, mapped)
        _check_columns(rule.name, tree_columns_of(rule, tokens.shape[1]), uniforms.shape[1])
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
        _check_map(mapped.places, size)
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
    check_tensors(target_logits, draft_logits, tokens, uniforms)
    for name, array in (("parents", parents), ("copies", copies))[: 1 if copies is None else 2]:
        check_whole_numbers(name, array)
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
        raise ValueError(
            "target_logits, draft_logits, tokens, parents and uniforms must be [B, N + 1, V], [B, N + 1, V], [B, N], "
            "[B, N] and [B, C] with B, N, V ≥ 1, the root's row of logits first; got "
            f"{_listed((*NAMES[:3], 'parents', 'uniforms'), shapes)}"
        )
    wanted = tree_columns_of(rule, number)
    if shapes[4][1] < wanted:
        raise ValueError(
            f"the rule {rule.name!r} tosses up to {wanted} coins a request on {number} nodes; uniforms has "
            f"{shapes[4][1]} columns: draw tree_columns(method, {number}) of them"
        )


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
    few, many = (tokens >= 0) & (copies < 1), (tokens >= 0) & (copies > 1)
    if bool(few.any()):
        request, node = _first(few)
        raise ValueError(
            f"a node stands for at least one draft; in request {request} node {node} has {int(copies[request, node])} "
            "copies"
        )
    if bool(many.any()) and not together:
        request, node = _first(many)
        why = {
            "any": "which of several drafts was drawn first, and copies do not say that: lay chains out with "
            "chain_tree(chains), where each has nodes of its own, or take a rule whose `ordered` is False",
            "distinct": "distinct drafts after a node: verify i.i.d. drafts with a rule for them",
            "one": "one draft after a node: verify several with another rule",
        }[rule.siblings]
        raise ValueError(
            f"{rule.name!r} needs {why}; in request {request} node {node} has {int(copies[request, node])} copies"
        )


def _check_nodes(tokens: Any, parents: Any, vocabulary: int) -> None:
    """Check that tokens [B, N] lie in the vocabulary, or are −1, and that parents [B, N] make them trees."""
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


def _sizes(tokens: Any, parents: Any, copies: Any, options: Options) -> tuple[int, int]:
    """Return the depth and the width to reckon with: those of the options, or what the trees have, at least 1 each."""
    depth = width = 1
    for request, (row, above) in enumerate(zip(tokens.tolist(), parents.tolist(), strict=True)):
        paths: dict[int, tuple[int, ...]] = {-1: ()}
        after: dict[tuple[int, ...], int] = {}
        for node, (token, parent) in enumerate(zip(row, above, strict=True)):
            if token >= 0:
                paths[node] = (*paths[parent], token)
                number = 1 if copies is None else int(copies[request, node])
                after[paths[parent]] = after.get(paths[parent], 0) + number
        for name, told, found in (
            ("depth", options.depth, max(map(len, paths.values()))),
            ("width", options.width, max(after.values(), default=0)),
        ):
            if told is not None and told < found:
                what = "lie below each other" if name == "depth" else "follow one node"
                raise ValueError(
                    f"options.{name} is the most that any tree has; it is {told}, and in request {request} {found} "
                    f"drafts {what}: give {name}={found} or more, or leave it out"
                )
        depth, width = max(depth, *map(len, paths.values())), max(width, *after.values(), 1)
    return options.depth or depth, options.width or width


def _check_kind(rule: TreeRule, tokens: Any, parents: Any, options: Options, copies: Any = None) -> None:
    """Check that trees [B, N] are of the kind that a rule takes: one chain, distinct siblings, chains of one length."""
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
    if rule.chains:
        _check_goes_on(rule, tokens, torch.where(there, parents.long(), -1), options, copies)


def _check_goes_on(rule: TreeRule, tokens: Any, parents: Any, options: Options, copies: Any) -> None:
    """Check that each node's drafts all go on, unless it ends the text or lies as deep as the deepest of its tree."""
    many = torch.where(tokens >= 0, torch.ones_like(tokens) if copies is None else copies.to(tokens.dtype), 0)
    below = torch.zeros_like(many).scatter_add_(1, parents.clamp(min=0), torch.where(parents >= 0, many, 0))
    ended = tokens == (-2 if options.end is None else options.end)
    level, upward = torch.ones_like(tokens), parents
    for _ in range(tokens.shape[1]):
        level, upward = (
            level + (upward >= 0).to(level.dtype),
            torch.where(upward < 0, -1, parents.gather(1, upward.clamp(min=0))),
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


def check_options(options: Options, batch: int, vocabulary: int, slots: int | None = None) -> None:
    """Check that options fit a batch of so many requests: one number for each, masks of its shape, an end in range.

    With `options.check` the numbers themselves too. `slots` is N + 1 of trees.

    Raises:
        ValueError: they do not.

    >>> check_options(Options(temperature=torch.ones(3)), 2, 5)
    Traceback (most recent call last):
    ValueError: temperature holds one number for each request, [B] with B = 2; got (3,): give 2 of them, or one number
    """
    ranges: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "temperature": ("finite and >= 0", lambda each: (each >= 0) & (each < float("inf"))),
        "top_k": ("at least 1", lambda each: each >= 1),
        "top_p": ("a mass in (0, 1]", lambda each: (each > 0) & (each <= 1)),
    }
    for name, (rule, fits) in ranges.items():
        value = getattr(options, name)
        if not isinstance(value, torch.Tensor):
            continue
        if tuple(value.shape) != (batch,):
            raise ValueError(
                f"{name} holds one number for each request, [B] with B = {batch}; got {tuple(value.shape)}: give "
                f"{batch} of them, or one number"
            )
        if options.check and not bool(fits(value).all()):
            place, found = first(~fits(value), value)
            raise ValueError(f"{name} must be {rule} in every request; {name}{place} is {found}")
    if options.allowed is not None:
        shapes = [(vocabulary,), (batch, vocabulary), *([] if slots is None else [(batch, slots, vocabulary)])]
        mask = options.allowed
        if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or tuple(mask.shape) not in shapes:
            found = f"{mask.dtype} {tuple(mask.shape)}" if isinstance(mask, torch.Tensor) else type(mask).__name__
            raise ValueError(
                f"allowed must be a tensor of torch.bool of one of the shapes {', '.join(map(str, shapes))}: a row for "
                f"all, for each request, or in trees for each row of logits; got {found}"
            )
    if options.end is not None and options.end >= vocabulary:
        raise ValueError(
            f"end is a token of the target, in 0..{vocabulary - 1}; got {options.end}: leave it out where no token "
            "ends a text"
        )


def check_tokens(tokens: Any, vocabulary: int) -> None:
    """Check that tokens [B, L] lie in 0..V − 1, or are −1 up to the row's end.

    Raises:
        ValueError: naming the first place where it is not so.

    >>> check_tokens(torch.tensor([[-1, 0]]), 2)
    Traceback (most recent call last):
    ValueError: a chain ends at its first -1; tokens[0, 0] is -1 and tokens[0, 1] is 0; put the tokens of a chain first
    """
    outside = (tokens < -1) | (tokens >= vocabulary)
    if bool(outside.any()):
        place, value = first(outside, tokens)
        raise ValueError(
            f"tokens must lie in 0..{vocabulary - 1}, or be -1 from where a chain is shorter; tokens{place} is {value}"
        )
    resumed = (tokens[:, 1:] >= 0) & (tokens[:, :-1] < 0)
    if bool(resumed.any()):
        row, at = _first(resumed)
        raise ValueError(
            f"a chain ends at its first -1; tokens[{row}, {at}] is -1 and tokens[{row}, {at + 1}] is "
            f"{int(tokens[row, at + 1])}; put the tokens of a chain first"
        )


def check_uniforms(uniforms: Any) -> None:
    """Check that uniforms lie in [0, 1).

    Raises:
        ValueError: naming the first that does not.

    >>> check_uniforms(torch.tensor([1.0]))
    Traceback (most recent call last):
    ValueError: uniforms must lie in [0, 1); uniforms[0] is 1.0; draw them in float64, or clamp below 1
    """
    outside = ~((uniforms >= 0) & (uniforms < 1))
    if bool(outside.any()):
        place, value = first(outside, uniforms)
        raise ValueError(
            f"uniforms must lie in [0, 1); uniforms{place} is {value}; draw them in float64, or clamp below 1"
        )


def check_rows(logits: Any, name: str, used: Any, options: Options) -> None:
    """Check that each row of logits [..., V] in use [...], masked, has a finite largest: no NaN, no +inf, not all −inf.

    Raises:
        ValueError: naming the first row that has not.

    >>> check_rows(torch.tensor([[-torch.inf]]), "draft_logits", torch.tensor([True]), Options())
    Traceback (most recent call last):
    ValueError: a row of logits needs a finite largest logit; that of draft_logits[0] is -inf: every token is masked
    """
    if options.allowed is not None:
        logits = restricted(logits, replace(Options(), allowed=options.allowed))
    largest = logits.amax(dim=-1)  # NaN wherever one of the row is
    bad = used & ~torch.isfinite(largest)
    if bool(bad.any()):
        place, value = first(bad, largest)
        why = {"nan": "a logit is not a number", "-inf": "every token is masked"}.get(str(value), "it has no softmax")
        raise ValueError(f"a row of logits needs a finite largest logit; that of {name}{place} is {value}: {why}")


def check_drafted(
    logits: Any, slots: Any, tokens: Any, options: Options, distinct: bool = False, of_nodes: bool = False
) -> None:
    """Check that rows of logits [B, S, V], restricted, can have given the tokens [B, N] drafted from rows slots [B, N].

    Where drafts are `distinct`, those before a draft are taken off its row. −1 stands for no token; errors call columns
    nodes with `of_nodes`.

    Raises:
        ValueError: naming the first token without draft mass, or with too little to be drawn.

    >>> check_drafted(torch.tensor([[[0.0, 1.0]]]), torch.zeros(1, 1).long(), torch.tensor([[0]]), Options(top_k=1))
    Traceback (most recent call last):
    ValueError: the draft puts no mass on the drafted token 0 at tokens[0, 0]; give the logits and options that ...
    """
    step = max(1, AT_ONCE // logits[0].numel())
    for start in range(0, len(tokens), step):
        here = slice(start, start + step)
        own, drafted, at = options.at(here), tokens[here].long(), slots[here]
        kept = restricted(logits[here], own)
        rows = torch.arange(len(drafted), device=tokens.device)[:, None]
        missing = (drafted >= 0) & (kept[rows, at, drafted.clamp(min=0)] == -torch.inf)
        if bool(missing.any()):
            row, column = _first(missing)
            token, request = int(drafted[row, column]), start + row
            name = f"token {token} of node {column} in request {request}"
            name = name if of_nodes else f"the drafted token {token} at tokens[{request}, {column}]"
            raise ValueError(
                f"the draft puts no mass on {name}; give the logits and options that the drafts were drawn with"
            )
        found = gaps(kept, at, drafted, distinct, own)
        light = found < least_gap(kept.dtype, kept.shape[-1])
        if bool(light.any()):
            row, column = _first(light)
            token, request = int(drafted[row, column]), start + row
            name = f"in request {request} node {column} has token {token}"
            name = name if of_nodes else f"tokens[{request}, {column}] is {token}"
            raise ValueError(too_light(name, float(found[row, column]), kept.dtype, kept.shape[-1]))


def _check_number(scheme: Scheme, tokens: Any) -> None:
    """Check that no request has more drafts [B, k] than the scheme takes."""
    many = (tokens >= 0).sum(dim=1) > scheme.drafts
    if bool(many.any()):
        request = int(many.nonzero()[0])
        listed = tokens[request].tolist()
        raise ValueError(
            f"the scheme {scheme.name!r} takes {scheme.drafts} draft(s) a request; request {request} has "
            f"{sum(token >= 0 for token in listed)}, tokens[{request}] is {listed}: verify them with another scheme"
        )


def _check_distinct(tokens: Any) -> None:
    """Check that no token of [B, k] is drafted twice in a request."""
    again = ((tokens[:, :, None] == tokens[:, None]) & (tokens >= 0)[:, None]).tril(-1)
    if bool(again.any()):
        request, later, earlier = (int(index) for index in again.nonzero()[0])
        raise ValueError(
            f"drafts without replacement are distinct; tokens[{request}, {later}] is {int(tokens[request, later])}, as "
            f"is tokens[{request}, {earlier}]; verify i.i.d. drafts with a scheme for them"
        )


def _check_hub(kept: Any, tokens: Any, options: Options) -> None:
    """Check that SpecHub's two drafts [B, 2] are the draft's favourite, by logits [B, V] restricted, and another."""
    hub = kept.argmax(dim=-1)
    certain = (kept > -torch.inf).sum(dim=-1) == 1
    # Where all others weigh too little to be drawn, a drafter that draws from the softmax has the favourite alone.
    divisor = torch.as_tensor(options.divisor, dtype=torch.float64, device=tokens.device).reshape(-1, 1)
    below = (kept.double() - kept.amax(dim=-1, keepdim=True).double()) / divisor
    alone = (below >= least_gap(kept.dtype, kept.shape[-1])).sum(dim=-1) == 1
    several = (tokens >= 0).sum(dim=-1)
    fitting = ((several == 2) & ~certain) | ((several == 1) & (certain | alone))
    wrong = (several > 0) & ~((tokens == hub[:, None]).any(dim=-1) & fitting)
    if bool(wrong.any()):
        request = int(wrong.nonzero()[0])
        raise ValueError(
            f"SpecHub drafts two tokens of which one is the draft's first maximum (that one alone where the draft is "
            f"certain); in request {request} it is {int(hub[request])} and the drafts are {tokens[request].tolist()}"
        )


def _check_greedy(kept: Any, tokens: Any, options: Options) -> None:
    """Check that all but the last of each request's drafts [B, k] are the draft's favourites, by logits restricted."""
    there = tokens >= 0
    fixed = there & (there.cumsum(dim=1) < there.sum(dim=1, keepdim=True))
    at = tokens.long().clamp(min=0)
    own = kept.gather(1, at).double().masked_fill(~fixed, torch.inf).amin(dim=1)
    # A token that is fixed has no part among the others.
    others = kept.double().scatter_reduce(
        1, at, torch.where(fixed, -torch.inf, torch.inf).double(), "amin", include_self=True
    )
    divisor = torch.as_tensor(options.divisor, dtype=torch.float64, device=tokens.device).reshape(-1)
    wrong = own / divisor < others.amax(dim=1) / divisor - ALIKE
    if bool(wrong.any()):
        request = int(wrong.nonzero()[0])
        raise ValueError(
            f"greedy drafts are the draft's favourites, and one draw from the rest as the last; in request {request} "
            f"the drafts are {tokens[request].tolist()} and token {int(others[request].argmax())}, which is none of "
            "the favourites, is likelier than one that is: put the favourites first, or verify with another scheme"
        )


def _check_places(target_logits: Any, draft: MappedLogits) -> None:
    """Check types, devices and the shape of places; no value is looked at."""
    places, logits = draft.places, draft.logits
    check_whole_numbers("places", places)
    if places.device != logits.device:
        raise ValueError(f"all tensors of a call must lie on one device; got places on {places.device}")
    shapes = logits.shape[-1:], (logits.shape[0], logits.shape[-1]), logits.shape
    if tuple(places.shape) not in [tuple(shape) for shape in shapes]:
        raise ValueError(
            "places names the target's token of each of the draft's: [D], [B, D] or as draft_logits; got "
            f"{tuple(places.shape)} beside draft_logits {tuple(logits.shape)} and target_logits "
            f"{tuple(target_logits.shape)}"
        )


def _check_map(places: Any, vocabulary: int) -> None:
    """Check that places [..., D] lie in the target's vocabulary or are −1, and name no token twice."""
    outside = (places < -1) | (places >= vocabulary)
    if bool(outside.any()):
        place, value = first(outside, places)
        raise ValueError(
            f"places must lie in 0..{vocabulary - 1}, or be -1 where the target has no such token; places{place} is "
            f"{value}"
        )
    ordered, order = places.sort(dim=-1, stable=True)
    again = (ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)
    if bool(again.any()):
        *row, at = (int(index) for index in again.nonzero()[0])
        one, other = (int(order[(*row, at + step)]) for step in (0, 1))
        names = [f"places[{', '.join(map(str, (*row, token)))}]" for token in (one, other)]
        raise ValueError(
            f"each token of the target stands for one of the draft's at most; {names[0]} and {names[1]} are both "
            f"{int(ordered[(*row, at)])}: add the draft's tokens of the same bytes up, as "
            "drafting.correspondence.carried does, and draft them as one"
        )


def _check_columns(name: str, wanted: int, found: int) -> None:
    if found < wanted + 1:
        raise ValueError(
            f"{name!r} tosses up to {wanted} coins a request, and one more says which of the tokens that the draft "
            f"lacks is emitted; uniforms has {found} columns: draw one more than columns or tree_columns says"
        )


def first(bad: Any, values: Any) -> tuple[str, int | float]:
    """Return the first place where `bad` is true, written as an index, and the value there.

    >>> first(torch.tensor([False, True]), torch.tensor([3, 4]))
    ('[1]', 4)
    """
    place = tuple(int(index) for index in bad.nonzero()[0])
    return f"[{', '.join(map(str, place))}]", values[place].item()


def _first(bad: Any) -> tuple[int, int]:
    row, column = (int(place) for place in bad.nonzero()[0])
    return row, column


def _listed(names: tuple[str, ...], shapes: list[tuple[int, ...]]) -> str:
    return "; ".join(f"{name} {shape}" for name, shape in zip(names, shapes, strict=True))


def check_tensors(*given: Any) -> None:
    """Check the types and devices of target_logits, draft_logits, tokens and uniforms.

    Raises:
        TypeError, ValueError: something is no tensor or of another kind; types or devices of logits differ.

    >>> check_tensors(torch.zeros(1), torch.zeros(1), torch.zeros(1), torch.zeros(1))
    Traceback (most recent call last):
    TypeError: tokens must be whole numbers; got torch.float32
    """
    for name, array in zip(NAMES, given, strict=True):
        if name == "tokens":
            check_whole_numbers(name, array)
            continue
        _check_tensor(name, array)
        if not array.is_floating_point():
            raise TypeError(f"{name} must be of a floating type; got {array.dtype}")
    target_logits, draft_logits, *_ = given
    if target_logits.dtype != draft_logits.dtype:
        raise TypeError(
            f"target_logits and draft_logits must be of one type; got {target_logits.dtype} and {draft_logits.dtype}: "
            "convert the narrower one"
        )
    devices = [str(array.device) for array in given]
    if len(set(devices)) > 1:
        listed = ", ".join(f"{name} on {device}" for name, device in zip(NAMES, devices, strict=True))
        raise ValueError(f"all tensors of a call must lie on one device; got {listed}")


def _check_tensor(name: str, array: Any) -> None:
    if not isinstance(array, torch.Tensor):
        raise TypeError(f"{name} must be a torch tensor; got {type(array).__name__}")


def check_whole_numbers(name: str, array: Any) -> None:
    """Check that something is a tensor of whole numbers.

    Raises:
        TypeError: it is not.

    >>> check_whole_numbers("tokens", torch.tensor([True]))
    Traceback (most recent call last):
    TypeError: tokens must be whole numbers; got torch.bool
    """
    _check_tensor(name, array)
    if array.is_floating_point() or array.is_complex() or array.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers; got {array.dtype}")
