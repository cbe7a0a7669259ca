"""Conformance vectors of every rule on one position and of every rule on trees, for kernels in any language.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from spec_math import SCHEMES
from spec_math.block_level.array_tree import ArrayTree, Walked, emitted
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, grow
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule
from spec_math.chance import Coin, sample
from spec_math.scheme import Scheme, draw_independent
from spec_math.token_level import without_replacement
from torch_bridge.drafts_validation import columns_of
from torch_bridge.options import DEFAULT
from torch_bridge.threshold import laws

REQUESTS, SIZE, DRAFTS = 12, 20, 3
SHAPES = {"any": (3, 1, 1), "distinct": (3, 2), "one": (1, 1, 1, 1)}
"""The widths of drafted trees, by how siblings may agree."""

ABOUT = {
    "drafts_*.safetensors": "one position: logits [B, V], tokens [B, k], uniforms [B, C]; expected [B, 1], "
    "accepted [B]",
    "tree_*.safetensors": "trees: logits [B, N + 1, V], the root's row first, tokens and parents [B, N] (-1: none, the "
    "root), a parent before its children; expected [B, D + 1] and nodes [B, D], padded with -1; count [B]",
    "order of the uniforms": "a request takes from its row, from the left, one uniform for each coin of the program",
}


class RuleFile(NamedTuple):
    """A file of vectors: its name without the ending, the rule in words, and its arrays.

    `vocabulary` says how the draft's tokens are the target's, where they are not the same.
    """

    name: str
    rule: str
    arrays: dict[str, Any]
    vocabulary: str | None = None


def rule_files(coin_of: Any, seed: int = 0) -> Iterator[RuleFile]:
    """Make the vectors of each scheme and of each rule for trees, in float32 logits.

    coin_of(uniforms) makes a coin that replays a row and knows the least `distance` of one from a threshold. Expected
    are the programs' tokens, with laws in float64.

    >>> from torch_bridge.vectors import Measuring
    >>> next(rule_files(lambda uniforms: Measuring(row := iter(uniforms), row))).name
    'drafts_maximal_coupling'
    """
    for number, scheme in enumerate(SCHEMES):
        rng = np.random.default_rng([seed, 1, number])
        yield RuleFile(f"drafts_{plain(scheme.name)}", scheme.name, _of_scheme(scheme, coin_of, rng))
    for number, rule in enumerate(TREE_RULES):
        rng = np.random.default_rng([seed, 2, number])
        yield RuleFile(f"tree_{plain(rule.name)}", rule.name, _of_rule(rule, coin_of, rng))


def _of_scheme(scheme: Scheme, coin_of: Any, rng: np.random.Generator) -> dict[str, Any]:
    targets = torch.from_numpy(2 * rng.standard_normal((REQUESTS, SIZE))).float()
    drafts = targets + torch.from_numpy(rng.standard_normal((REQUESTS, SIZE))).float()
    rows = [laws(logits, DEFAULT).numpy() for logits in (targets, drafts)]
    tokens = np.full((REQUESTS, scheme.drafts or DRAFTS), -1)
    uniforms = rng.integers(0, 2**24, (REQUESTS, columns_of(scheme, DRAFTS))) / 2.0**24
    found: list[tuple[int, bool, float]] = []
    for row, (t, d) in enumerate(zip(*rows, strict=True)):
        coin = coin_of(uniforms[row].tolist())
        if row % 6 != 5:
            drawn = sample(lambda drawing, d=d, row=row: scheme.draw(drawing, d, DRAFTS - row % 2), rng)
            tokens[row, : len(drawn)] = drawn
            token, accepted = (scheme.emit or no_program)(coin, drawn, t, d)
        else:
            token, accepted = coin.draw(t), False
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


def _of_rule(rule: TreeRule, coin_of: Any, rng: np.random.Generator) -> dict[str, Any]:
    widths, draw = SHAPES[rule.siblings], draw_independent if rule.siblings == "any" else without_replacement.draw
    number = sum(int(np.prod(widths[: level + 1])) for level in range(len(widths)))
    logits = torch.zeros(2, REQUESTS, number + 1, SIZE)
    tokens, parents = np.full((2, REQUESTS, number), -1)
    uniforms = rng.integers(0, 2**24, (REQUESTS, rule.coins(number))) / 2.0**24
    blocks: list[tuple[tuple[int, ...], float]] = []
    for row in range(REQUESTS):
        known: dict[tuple[int, ...], Any] = {}

        def rows_at(path: tuple[int, ...], known: dict[tuple[int, ...], Any] = known) -> Any:
            if path not in known:
                target = torch.from_numpy(2 * rng.standard_normal(SIZE)).float()
                known[path] = torch.stack([target, target + torch.from_numpy(rng.standard_normal(SIZE)).float()])
            return known[path]

        conditionals = Conditionals(_model(rows_at, 0), _model(rows_at, 1), ())
        nodes = sample(lambda drawing, c=conditionals: grow(drawing, c, widths, draw), rng) if row % 6 != 5 else ()
        paths: list[tuple[int, ...]] = [()]
        for token, above in listed(nodes):
            tokens[row, len(paths) - 1], parents[row, len(paths) - 1] = token, above
            paths.append((*paths[above + 1], token))
        for slot, path in enumerate(paths):
            logits[:, row, slot] = rows_at(path)
        coin = coin_of(uniforms[row].tolist())
        blocks.append((rule.program(coin, nodes, conditionals), coin.distance))
    accepted = accepted_nodes(blocks, tokens, parents, len(widths))
    tree = ArrayTree(torch.from_numpy(tokens), torch.from_numpy(parents), len(widths), 1)
    follows = torch.tensor([block[-1] for block, _ in blocks])
    expected, count = emitted(tree, Walked(accepted, follows))
    return {
        "target_logits": logits[0].clone(),
        "draft_logits": logits[1].clone(),
        "tokens": tree.tokens,
        "parents": tree.parents,
        "uniforms": torch.from_numpy(uniforms),
        "expected": expected,
        "count": count,
        "nodes": accepted,
        "distance": torch.tensor([distance for _, distance in blocks], dtype=torch.float64),
    }


def accepted_nodes(blocks: list[Any], tokens: Any, parents: Any, depth: int) -> Any:
    """Return the nodes [B, D] that each block accepted: a path of its tokens but the last, the first by index.

    >>> accepted_nodes([((7, 8), 0.5)], torch.tensor([[6, 7]]), torch.tensor([[-1, -1]]), 1).tolist()
    [[1]]
    """
    found = torch.full((len(blocks), depth), -1)
    for row, (block, _) in enumerate(blocks):
        paths: dict[tuple[int, ...], list[int]] = {(): []}
        of_node: dict[int, tuple[tuple[int, ...], list[int]]] = {-1: ((), [])}
        for node, (token, above) in enumerate(zip(tokens[row].tolist(), parents[row].tolist(), strict=True)):
            if token >= 0:
                of_node[node] = (*of_node[above][0], token), [*of_node[above][1], node]
                _ = paths.setdefault(*of_node[node])
        nodes = paths[block[:-1]]
        found[row, : len(nodes)] = torch.tensor(nodes, dtype=torch.int64)
    return found


def listed(nodes: tuple[Node, ...], above: int = -1, start: int = 0) -> list[tuple[int, int]]:
    """Return token and parent of each node of a drafted tree, a parent before its children.

    >>> listed((Node(7, (Node(8),)),))
    [(7, -1), (8, 0)]
    """
    found: list[tuple[int, int]] = []
    for node in nodes:
        place = start + len(found)
        found.append((node.token, above))
        found += listed(node.children, place, place + 1)
    return found


def _model(rows_at: Any, role: int) -> Any:
    def model(path: tuple[int, ...]) -> Any:
        return laws(rows_at(path)[role]).numpy()

    return model


def no_program(coin: Coin | None, *given: Any) -> Any:
    """Stand in for the program of a scheme that has none.

    >>> no_program(None)
    Traceback (most recent call last):
    TypeError: a scheme without emit has no vectors; got None and ()
    """
    raise TypeError(f"a scheme without emit has no vectors; got {coin} and {given}")


def plain(name: str) -> str:
    """Return a name in letters, digits and underscores.

    >>> plain("K-SEQ at γ*")
    'k_seq_at'
    """
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in name).split()
    return "_".join(words).lower()
