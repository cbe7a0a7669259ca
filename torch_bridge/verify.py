"""Verification on logits: chains, drafts of one position, and drafted trees, as whole ragged batches on any device.

A chain is a tree of one path. Of the laws only those that a rule asks for are worked out, a few requests at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from spec_math.block_level.batch.array_tree import ArrayTree, Walked, emitted
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.methods import Method
from spec_math.block_level.tree import Node
from spec_math.block_level.tree_rules import AS_A_BLOCK, TOKEN_BY_TOKEN, TreeRule
from spec_math.chance import Coin, Replaying
from spec_math.drafting.merged import decide_merged, decide_merged_tree, placed_tree
from spec_math.scheme import Scheme, Tokens
from torch_bridge import tree_validation, validation
from torch_bridge.draft_rows import decided, draft_rows
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import DEFAULT, Options, restricted
from torch_bridge.softmax_rows import HELD, Law, LogitRows, batch_coin, chunks, weigh
from torch_bridge.threshold import laws

ORDERED = 4
"""How many arrays a rule that orders the tokens holds for each of a law: their sums, in float64."""


class Verified(NamedTuple):
    """The emission of a batch of chains: tokens [B, L + 1], padded with −1, and their number in each request, [B]."""

    emitted: Any
    count: Any


class Selected(NamedTuple):
    """The token that each request emits, [B], and whether a test accepted a draft, [B]."""

    emitted: Any
    accepted: Any


class TreeVerified(NamedTuple):
    """The tokens that a batch of trees emits.

    `emitted` [B, D + 1] are tokens, padded with −1, `count` [B] their number, `accepted_nodes` [B, D] the accepted
    nodes from the root down, padded with −1: with the root's, the rows of the cache to keep.
    """

    emitted: Any
    count: Any
    accepted_nodes: Any


def verify_token(
    target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT
) -> Verified:
    """Verify a batch of drafted chains token by token, from logits, as `chain.verify` does each from its laws.

    The law: x_i is accepted with chance min(1, t_i(x_i)/d_i(x_i)) up to the first rejection; then a token from the
    residual of that position, or from the target's next row. target_logits [B, L + 1, V] and draft_logits [B, L, V] of
    one floating type and device; tokens [B, L], −1 from where a chain is shorter; uniforms [B, L + 1] in [0, 1),
    column i the coin of position i and the last the final draw. Returns tokens [B, L + 1], padded with −1, and their
    number [B]; nothing follows `options.end`. The same inputs give the same tokens; they are those of the replayed
    program wherever `threshold.margin_token` exceeds `threshold.bound`. Rows behind a chain's end may hold anything.

    Raises:
        TypeError, ValueError: shapes, types or devices do not fit; with `options.check` also a row without a law, a
            token out of range or without draft mass, a uniform outside [0, 1).

    Source: SpecTr, Alg. 4; Timor et al., Alg. 5.

    >>> draft, target = torch.zeros(1, 1, 2), torch.tensor([[[-torch.inf, 0.0], [0.0, -torch.inf]]])
    >>> verify_token(target, draft, torch.tensor([[1]]), torch.tensor([[0.9, 0.5]])).emitted.tolist()
    [[1, 0]]
    """
    return _chain(TOKEN_BY_TOKEN, (target_logits, draft_logits, tokens, uniforms), options)


def verify_block(
    target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT
) -> Verified:
    """Verify a batch of drafted chains each as a block, from logits; arguments and errors as `verify_token`.

    The law: that of `block.verify`, which accepts at least as many tokens. Source: Sun et al. 2024 (block
    verification).

    >>> draft, target = torch.zeros(1, 1, 2), torch.tensor([[[-torch.inf, 0.0], [0.0, -torch.inf]]])
    >>> verify_block(target, draft, torch.tensor([[0]]), torch.tensor([[0.0, 0.5]])).emitted.tolist()
    [[1, -1]]
    """
    return _chain(AS_A_BLOCK, (target_logits, draft_logits, tokens, uniforms), options)


def _chain(rule: TreeRule, given: tuple[Any, Any, Any, Any], options: Options) -> Verified:
    """Verify chains as trees of one path, whose draws take the last uniform."""
    validation.check_chains(*given, options)
    targets, drafts, tokens, uniforms = (each.detach() for each in given)
    parents = torch.arange(tokens.shape[1], device=tokens.device).expand(len(tokens), -1) - 1
    tree = ArrayTree(tokens, parents, tokens.shape[1], 1, options.end)
    return Verified(*_decided(rule, (targets, drafts, uniforms), tree, options, last_draws=True)[:2])


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

    >>> from spec_math import SCHEMES
    >>> target, draft = torch.tensor([[0.0, 0.0, -torch.inf]]), torch.tensor([[0.0, -torch.inf, 0.0]])
    >>> given = target, draft, torch.tensor([[2, 2]]), torch.full((1, 4), 0.5, dtype=torch.float64)
    >>> [verify_drafts(scheme, *given).emitted.tolist() for scheme in SCHEMES if scheme.short_name == "optimal plan"]
    [[1]]
    """
    validation.check_drafts(scheme, target_logits, draft_logits, tokens, uniforms, options)
    mapped, drafts = _with_map(draft_logits)
    targets, tokens, uniforms = (each.detach() for each in (target_logits, tokens, uniforms))
    if scheme.decide is None:
        return _replayed_drafts(scheme, (targets, drafts, tokens, uniforms), options)
    missing = (scheme.drafts or tokens.shape[1]) - tokens.shape[1]
    tokens = tokens[:, : scheme.drafts] if missing <= 0 else torch.nn.functional.pad(tokens, (0, missing), value=-1)
    held = HELD if mapped is not None else ORDERED if scheme.reads.order else 1
    parts: list[Any] = []
    for here in chunks(targets, held * (targets[0].numel() + drafts[0].numel()), options):
        own, drafted = options.at(here), tokens[here].long()
        target = weigh(restricted(targets[here], own), own)
        if mapped is not None:
            rows = mapped.at(here)
            both = target, draft_rows(scheme, rows.logits, drafted, rows.options(own))
            places = rows.places.long().expand(len(drafted), -1)
            parts.append(decide_merged(scheme.decide, batch_coin(uniforms[here]), drafted, both, places))
            continue
        draft = draft_rows(scheme, drafts[here], drafted, own) if scheme.reads.draft else target
        parts.append(decided(scheme.decide, uniforms[here], drafted, target, draft))
    return Selected(*(torch.cat(each) for each in zip(*parts, strict=True)))


def _with_map(draft_logits: Any) -> tuple[MappedLogits | None, Any]:
    """Return the map to another vocabulary, if there is one, and the logits themselves, without a gradient."""
    if not isinstance(draft_logits, MappedLogits):
        return None, draft_logits.detach()
    rows = draft_logits.logits.detach()
    return draft_logits._replace(logits=rows), rows


def _replayed_drafts(scheme: Scheme, given: tuple[Any, Any, Any, Any], options: Options) -> Selected:
    """Replay a scheme that is a program alone."""
    targets, drafts = (laws(logits, options).cpu().numpy() for logits in given[:2])
    tokens, uniforms = given[2:]
    rows = zip(targets, drafts, tokens.tolist(), uniforms.double().tolist(), strict=True)
    chosen, accepted = zip(*(_emit(scheme, Replaying(iter(row[3])), *row[:3]) for row in rows), strict=True)
    emitted = torch.tensor(chosen, device=tokens.device)
    return Selected(emitted, torch.tensor(accepted, dtype=torch.bool, device=tokens.device))


def _emit(scheme: Scheme, coin: Coin, target: Any, draft: Any, padded: list[int]) -> tuple[int, bool]:
    listed = tuple(token for token in padded if token >= 0)
    if not listed:
        return coin.draw(target / target.sum()), False
    if scheme.emit is None:
        token = scheme.verify(coin, listed, target, draft)
        return token, token in listed
    emission = scheme.emit(coin, listed, target, draft)
    return emission.token, emission.accepted


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
    copies [B, N] says how many drafts a node stands for, for rules that may take equal drafts together (`rule.ordered`
    is False). Nothing follows `options.end`. D is `options.depth`, or the depth of the deepest tree where that may be
    looked at (`options.check`), or N. Rows without a node, or that no walk visits, may hold anything. Nothing waits for
    the device but `options.check`; chain priorities of more than 256 tokens are worked out in float64 on the CPU, one
    request after another, and do, as is one request alone with `options.check`; on rounded ratios they do not. So is a
    rule that is a program alone (`rule.decide` is None).

    draft_logits may be `MappedLogits`: of another vocabulary, or of part of one. Tokens are then the draft's, and
    emitted ones the target's; uniforms have one column more.

    Raises:
        TypeError, ValueError: shapes, types or devices do not fit; copies for a rule that needs the order of drafts;
            with `options.check` also parents that are no tree, a draft that the method does not take, a depth below the
            tree's, a row without a law, a uniform outside [0, 1), naming request and node.

    >>> from spec_math.block_level.tree_rules import TARGET_ONLY
    >>> rows, tree = torch.zeros(1, 3, 2), (torch.tensor([[0, 1]]), torch.tensor([[-1, 0]]))
    >>> found = verify_tree(TARGET_ONLY, rows, rows, *tree, torch.tensor([[0.25, 0.75, 0.5]]))
    >>> found.emitted.tolist(), found.accepted_nodes.tolist()
    ([[0, 0, -1]], [[0, -1]])
    """
    rule = tree_validation.rule_of(method)
    given = target_logits, draft_logits, tokens, parents, uniforms, copies
    depth, width = tree_validation.check_trees(rule, given, options)
    mapped, drafts = _with_map(draft_logits)
    targets, uniforms = target_logits.detach(), uniforms.detach()
    # What stands for the parent of an absent node means nothing.
    tree = ArrayTree(tokens, parents.masked_fill(tokens < 0, -1), depth, width, options.end, copies)
    alone = options.check and len(tokens) == 1 and tokens.device.type == "cpu"
    quicker = rule.largest is not None and (alone or targets.shape[-1] > rule.largest)
    if mapped is None and (rule.decide is None or quicker):
        return _replayed_trees(rule, (targets, drafts, uniforms), tree, options)
    # A rule that does not read the draft's laws is given the target's.
    drafts = mapped if mapped is not None else drafts if rule.reads_draft else targets
    return _decided(rule, (targets, drafts, uniforms), tree, options)


def _decided(
    rule: TreeRule, given: tuple[Any, Any, Any], tree: ArrayTree, options: Options, last_draws: bool = False
) -> TreeVerified:
    """Decide a batch of trees by the array formula of a rule; `given` are target and draft logits, and uniforms."""
    targets, drafts, uniforms = given
    decide: Any = rule.decide
    mapped = isinstance(drafts, MappedLogits)
    size = targets.shape[-1] + (drafts.logits.shape[-1] if mapped else 0)
    parts: list[Any] = []
    for here in chunks(targets, HELD * size, options):
        coin, own = batch_coin(uniforms[here], last_draws), options.at(here)
        copies = None if tree.copies is None else tree.copies[here].long()
        some = replace(tree, tokens=tree.tokens[here].long(), parents=tree.parents[here].long(), copies=copies)
        target = Law(targets[here], own)
        if mapped:
            rows = drafts.at(here)
            places = rows.places.long()
            both = target, Law(rows.logits, rows.options(own))
            merged = LogitRows(both, placed_tree(some, places), coin, some.tokens)
            found = decide_merged_tree(decide, coin, some, merged, places)
        else:
            found = some, decide(coin, some, LogitRows((target, Law(drafts[here], own)), some, coin))
        parts.append((*emitted(*found), found[1].nodes))
    return TreeVerified(*(torch.cat(each) for each in zip(*parts, strict=True)))


def _replayed_trees(rule: TreeRule, given: tuple[Any, Any, Any], tree: ArrayTree, options: Options) -> TreeVerified:
    """Replay the program of a rule in float64 on the CPU, one request after another."""
    targets, drafts, uniforms = given
    device = tree.tokens.device
    tokens, parents = tree.tokens.long().cpu(), tree.parents.long().cpu()
    kept, follows = list[list[int]](), list[int]()
    for request in range(len(tokens)):
        many = None if tree.copies is None else tree.copies[request].tolist()
        one = OneTree(tokens[request].tolist(), parents[request].tolist(), many, options.end)
        target, draft = (_RowsOfOne(logits, request, one, options) for logits in (targets, drafts))
        coin = Replaying(iter(uniforms[request].double().tolist()))
        path = rule.program(coin, one.nodes(), Conditionals(target, draft, ()))
        kept.append(one.longest(path))
        follows.append(path[-1] if len(path) > len(kept[-1]) else -1)
    walked = Walked(padded(kept, tree.depth), torch.tensor(follows))
    found = *emitted(replace(tree, tokens=tokens, parents=parents), walked), walked.nodes
    return TreeVerified(*(each.to(device) for each in found))


def padded(rows: Iterable[Sequence[int]], width: int) -> torch.Tensor:
    """Return rows of tokens or of nodes as one array [B, width], −1 behind the end of each."""
    return torch.tensor([[*row, *[-1] * (width - len(row))] for row in rows])


class OneTree:
    """The drafted tree of one request, by paths of tokens."""

    def __init__(self, tokens: list[int], parents: list[int], copies: list[int] | None, end: int | None) -> None:
        self.end = end
        self.paths: dict[int, Tokens] = {-1: ()}
        self.node: dict[Tokens, int] = {(): -1}
        self._parents, self._copies = parents, copies or [1] * len(tokens)
        for node, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
            if token >= 0:
                self.paths[node] = (*self.paths[parent], token)
                self.node.setdefault(self.paths[node], node)

    def nodes(self, above: int = -1) -> tuple[Node, ...]:
        """Return the children of a node, each as often as it has copies; those share what is drafted below them.

        Chains alone have copies here: every one of them but the last token's goes on.
        """
        found: list[Node] = []
        for node, path in self.paths.items():
            if node < 0 or self._parents[node] != above:
                continue
            below, many = self.nodes(node), self._copies[node]
            if many == 1 or not below:
                found += [Node(path[-1], below)] * many
            else:
                found += [Node(path[-1], (child,)) for child in below]
        return tuple(found)

    def longest(self, path: Tokens) -> list[int]:
        """Return the nodes of the accepted part of an emitted path, from the root down.

        What follows the accepted tokens is one token more, unless the path ends the text with a draft.
        """
        ended = self.end is not None and path[-1] == self.end and path in self.node
        node = self.node[path if ended else path[:-1]]
        nodes: list[int] = []
        while node >= 0:
            nodes.append(node)
            node = self._parents[node]
        return nodes[::-1]


class _RowsOfOne:
    """A model that knows the laws after the nodes of one tree."""

    def __init__(self, logits: Any, request: int, tree: OneTree, options: Options) -> None:
        self.end = tree.end
        self._logits, self._request, self._tree, self._options = logits, request, tree, options

    def __call__(self, prefix: Tokens) -> Any:
        slot = self._tree.node[prefix] + 1
        row = slice(self._request, self._request + 1)
        return laws(self._logits[row, slot], self._options.at(row, slot))[0].cpu().numpy()
