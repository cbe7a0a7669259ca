"""Trees whose rule is a program alone, replayed in float64 on the CPU, one request after another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from spec_math.block_level.batch.array_tree import ArrayTree, Walked, emitted
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node
from spec_math.block_level.tree_rules import TreeRule
from spec_math.scheme import Tokens
from torch_bridge.options import Options
from torch_bridge.tensor_coin import TensorCoin
from torch_bridge.threshold import laws


def replayed(rule: TreeRule, given: tuple[Any, ...], options: Options, copies: Any = None) -> tuple[Any, Any, Any]:
    """Return emitted [B, D + 1], count [B] and accepted_nodes [B, D]; `given` as `verify_tree`, depth in the options.

    >>> from spec_math.block_level import tree_rules
    >>> rows, tree = torch.zeros(1, 2, 2), (torch.tensor([[0]]), torch.tensor([[-1]]))
    >>> given = rows, rows, *tree, torch.tensor([[0.5, 0.5, 0.75]])
    >>> [each.tolist() for each in replayed(tree_rules.PRIORITIES, given, Options(depth=1))]
    [[[0, 1]], [2], [[0]]]
    """
    target_logits, draft_logits, tokens, parents, uniforms = given
    depth = options.depth or tokens.shape[1]
    nodes = torch.full((len(tokens), depth), -1)
    follows = torch.full((len(tokens),), -1)
    for request in range(len(tokens)):
        tree = _Tree(tokens[request].tolist(), parents[request].tolist(), options.end)
        rows = [_Rows(logits[request], request, tree, options) for logits in (target_logits, draft_logits)]
        nodes_of = tree.nodes(None if copies is None else copies[request].tolist())
        coin = TensorCoin(uniforms[request].double().cpu())
        path = rule.program(coin, nodes_of, Conditionals(rows[0], rows[1], ()))
        kept = tree.longest(path)
        nodes[request, : len(kept)] = torch.tensor(kept, dtype=torch.int64)
        if len(path) > len(kept):
            follows[request] = path[-1]
    shape = ArrayTree(tokens.long().cpu(), parents.long().cpu(), depth, 1, options.end)
    found = (*emitted(shape, Walked(nodes, follows)), nodes)
    return found[0].to(tokens.device), found[1].to(tokens.device), nodes.to(tokens.device)


class _Tree:
    def __init__(self, tokens: list[int], parents: list[int], end: int | None) -> None:
        self.end = end
        self.paths: dict[int, Tokens] = {-1: ()}
        self.node: dict[Tokens, int] = {(): -1}
        self._parents = parents
        for node, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
            if token >= 0:
                self.paths[node] = (*self.paths[parent], token)
                self.node.setdefault(self.paths[node], node)

    def nodes(self, copies: list[int] | None, above: int = -1) -> tuple[Node, ...]:
        """Return the children of a node, each as often as it has copies; those share what is drafted below them.

        Chains alone have copies here: every one of them but the last token's goes on.
        """
        found: list[Node] = []
        for node, path in self.paths.items():
            if node < 0 or self._parents[node] != above:
                continue
            below = self.nodes(copies, node)
            many = 1 if copies is None else copies[node]
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


class _Rows:
    """A model that knows the laws after the nodes of one tree."""

    def __init__(self, logits: Any, request: int, tree: _Tree, options: Options) -> None:
        self.end = tree.end
        self._logits, self._tree = logits, tree
        self._options, self._request = options.at(slice(request, request + 1)), request

    def __call__(self, prefix: Tokens) -> Any:
        slot = self._tree.node[prefix] + 1
        options = self._options
        if options.allowed is not None and options.allowed.ndim == 3:
            options = replace(options, allowed=options.allowed[:, slot])
        return laws(self._logits[slot][None], options)[0].cpu().numpy()
