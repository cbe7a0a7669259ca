"""Requests of the conformance vectors: drafted, verified by the programs, and laid out as arrays.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch

from spec_math.block_level.batch.array_tree import ArrayTree, Walked, emitted
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, grow
from spec_math.block_level.tree_rules import TreeRule
from spec_math.chance import Coin, sample
from spec_math.language.model import Model
from spec_math.scheme import Scheme, Tokens, draw_independent
from spec_math.token_level import without_replacement
from torch_bridge.drafts_validation import columns_of
from torch_bridge.threshold import laws

REQUESTS, SIZE, DRAFTS = 12, 20, 3
SHAPES = {"any": (3, 1, 1), "distinct": (3, 2), "one": (1, 1, 1, 1)}
"""The widths of drafted trees, by how siblings may agree."""

Logits = tuple[torch.Tensor, torch.Tensor]
"""The target's and the draft's."""


class Rows:
    """Rows of logits by the path of the draft's tokens, each made when it is asked for first.

    >>> Rows(lambda: (torch.zeros(2), torch.ones(2))).at((1,))[1].tolist()
    [1.0, 1.0]
    """

    def __init__(self, make: Callable[[], Logits]) -> None:
        self._make = make
        self._known: dict[Tokens, Logits] = {}

    def at(self, path: Tokens) -> Logits:
        """Return the two rows after a path."""
        if path not in self._known:
            self._known[path] = self._make()
        return self._known[path]


class Vocabularies(Protocol):
    """How the draft's tokens are the target's: what a program is called with, and what its answer means there."""

    @property
    def coins(self) -> int:
        """How many coins a request takes behind those of the program."""
        ...

    def logits(self, rng: np.random.Generator) -> Logits:
        """Make a row of the target [V] and one of the draft [D]."""
        ...

    def draft_law(self, row: torch.Tensor) -> Any:
        """Return the law [D] that drafts are drawn from."""
        ...

    def emit(self, coin: Coin, scheme: Scheme, drafts: Tokens, masses: tuple[Any, Any]) -> tuple[int, bool]:
        """Return the target's token that a scheme emits, by the laws of target and draft, and whether it is a draft."""
        ...

    def models(self, rows: Rows) -> tuple[Model, Model]:
        """Return both models, of the draft's tokens, that a rule for trees is called with."""
        ...

    def last(self, coin: Coin, rows: Rows, block: Tokens) -> int:
        """Return the target's token of the last one of a block."""
        ...

    def placed(self, tree: ArrayTree) -> ArrayTree:
        """Return a tree in the target's tokens."""
        ...


def positions(
    scheme: Scheme, logits: Logits, vocabularies: Vocabularies, rng: np.random.Generator, coin_of: Any
) -> dict[str, Any]:
    """Return the arrays of one position: drafts of each row of logits, every sixth without any, and what is emitted."""
    targets, drafts = logits
    tokens = np.full((REQUESTS, scheme.drafts or DRAFTS), -1)
    uniforms = rng.integers(0, 2**24, (REQUESTS, columns_of(scheme, DRAFTS) + vocabularies.coins)) / 2.0**24
    found: list[tuple[int, bool, float]] = []
    for row in range(REQUESTS):
        t, d = laws(targets[row]).numpy(), vocabularies.draft_law(drafts[row])
        drawn: Tokens = ()
        if row % 6 != 5:
            drawn = sample(lambda drawing, d=d, row=row: scheme.draw(drawing, d, DRAFTS - row % 2), rng)
        tokens[row, : len(drawn)] = drawn
        coin = coin_of(uniforms[row].tolist())
        token, accepted = vocabularies.emit(coin, scheme, drawn, (t, d))
        found.append((token, accepted, coin.distance))
    return {
        "target_logits": targets,
        "draft_logits": drafts,
        "tokens": torch.from_numpy(tokens),
        "uniforms": torch.from_numpy(uniforms),
        "expected": torch.tensor([[token] for token, _, _ in found]),
        "accepted": torch.tensor([int(accepted) for _, accepted, _ in found]),
        "distance": torch.tensor([distance for _, _, distance in found], dtype=torch.float64),
    }


def trees(rule: TreeRule, vocabularies: Vocabularies, rng: np.random.Generator, coin_of: Any) -> dict[str, Any]:
    """Return the arrays of drafted trees, every sixth request without any draft, and the rule's answer."""
    widths, draw = SHAPES[rule.siblings], draw_independent if rule.siblings == "any" else without_replacement.draw
    number = sum(int(np.prod(widths[: level + 1])) for level in range(len(widths)))
    tokens, parents = np.full((2, REQUESTS, number), -1)
    uniforms = rng.integers(0, 2**24, (REQUESTS, rule.coins(number) + vocabularies.coins)) / 2.0**24
    slots: list[list[Logits]] = []
    blocks: list[Tokens] = []
    follows: list[int] = []
    distances: list[float] = []
    for row in range(REQUESTS):
        known = Rows(lambda: vocabularies.logits(rng))
        conditionals = Conditionals(*vocabularies.models(known), ())
        nodes = sample(lambda drawing, c=conditionals: grow(drawing, c, widths, draw), rng) if row % 6 != 5 else ()
        paths: list[Tokens] = [()]
        for token, above in tokens_and_parents(nodes):
            tokens[row, len(paths) - 1], parents[row, len(paths) - 1] = token, above
            paths.append((*paths[above + 1], token))
        slots.append([known.at(path) for path in paths])
        coin = coin_of(uniforms[row].tolist())
        blocks.append(rule.program(coin, nodes, conditionals))
        follows.append(vocabularies.last(coin, known, blocks[-1]))
        distances.append(coin.distance)
    accepted = accepted_nodes(blocks, tokens, parents, len(widths))
    tree = ArrayTree(torch.from_numpy(tokens), torch.from_numpy(parents), len(widths), 1)
    expected, count = emitted(vocabularies.placed(tree), Walked(accepted, torch.tensor(follows)))
    return {
        "target_logits": _laid_out([[target for target, _ in row] for row in slots], number + 1),
        "draft_logits": _laid_out([[draft for _, draft in row] for row in slots], number + 1),
        "tokens": tree.tokens,
        "parents": tree.parents,
        "uniforms": torch.from_numpy(uniforms),
        "expected": expected,
        "count": count,
        "nodes": accepted,
        "distance": torch.tensor(distances, dtype=torch.float64),
    }


def _laid_out(rows: list[list[torch.Tensor]], slots: int) -> torch.Tensor:
    """Return the rows of each request as [B, N + 1, V], with zeros behind its last."""
    found = torch.zeros(len(rows), slots, len(rows[0][0]))
    for request, own in enumerate(rows):
        found[request, : len(own)] = torch.stack(own)
    return found


def tokens_and_parents(nodes: tuple[Node, ...], above: int = -1, start: int = 0) -> list[tuple[int, int]]:
    """Return token and parent of each node of a drafted tree, a parent before its children.

    >>> tokens_and_parents((Node(7, (Node(8),)),))
    [(7, -1), (8, 0)]
    """
    found: list[tuple[int, int]] = []
    for node in nodes:
        place = start + len(found)
        found.append((node.token, above))
        found += tokens_and_parents(node.children, place, place + 1)
    return found


def accepted_nodes(blocks: list[Tokens], tokens: Any, parents: Any, depth: int) -> torch.Tensor:
    """Return the nodes [B, D] that each block accepted: a path of its tokens but the last, the first by index.

    >>> accepted_nodes([(7, 8)], torch.tensor([[6, 7]]), torch.tensor([[-1, -1]]), 1).tolist()
    [[1]]
    """
    found = torch.full((len(blocks), depth), -1)
    for row, block in enumerate(blocks):
        paths: dict[Tokens, list[int]] = {(): []}
        of_node: dict[int, tuple[Tokens, list[int]]] = {-1: ((), [])}
        for node, (token, above) in enumerate(zip(tokens[row].tolist(), parents[row].tolist(), strict=True)):
            if token >= 0:
                of_node[node] = (*of_node[above][0], token), [*of_node[above][1], node]
                _ = paths.setdefault(*of_node[node])
        nodes = paths[block[:-1]]
        found[row, : len(nodes)] = torch.tensor(nodes, dtype=torch.int64)
    return found
