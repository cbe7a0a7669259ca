"""Conformance vectors of drafts over another vocabulary: union, intersection (TLI), and a reduced head.

Source: worked out here, see `spec_math.drafting.merged`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from spec_math import SCHEMES
from spec_math.block_level.array_tree import ArrayTree, Walked, emitted
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import grow
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule
from spec_math.chance import sample
from spec_math.drafting import merged, merged_tree
from spec_math.scheme import Scheme, draw_independent
from spec_math.token_level import without_replacement
from torch_bridge.drafts_validation import columns_of
from torch_bridge.rule_vectors import (
    DRAFTS,
    REQUESTS,
    SHAPES,
    SIZE,
    RuleFile,
    accepted_nodes,
    listed,
    no_program,
    plain,
)
from torch_bridge.threshold import laws

KINDS = {"union": (12, 4, False), "intersection": (12, 4, True), "reduced_head": (8, 0, True)}
"""The draft's tokens, how many of them the target lacks, and whether drafts come from the shared ones alone."""

ABOUT = {
    "mappeddrafts_*.safetensors, mappedtree_*.safetensors": "the same over the draft's own tokens 0..D-1: draft_logits "
    "[B, D] or [B, N + 1, D] and tokens are the draft's, expected ones the target's",
    "places": "[D], the target's token of each of the draft's, -1 where the target has none; rows of the target after "
    "such a token are never used",
    "vocabulary": "union: drafts have the law of all of draft_logits; intersection and reduced_head: of those whose "
    "place is no -1. The target's tokens that are no place count as one token behind the draft's; where a rule emits "
    "it, one uniform more draws which it is from their masses, lowest index first",
}


def mapped_files(coin_of: Any, seed: int = 0) -> Iterator[RuleFile]:
    """Make the vectors of each scheme and of each rule for trees over each kind of vocabulary.

    As `rule_vectors.rule_files`; rules that are programs alone take no such drafts.

    >>> from torch_bridge.vectors import in_order
    >>> next(mapped_files(in_order)).name
    'mappeddrafts_union_maximal_coupling'
    """
    for number, scheme in enumerate(scheme for scheme in SCHEMES if scheme.decide):
        for place, kind in enumerate(KINDS):
            rng = np.random.default_rng([seed, 3, number, place])
            name = f"mappeddrafts_{kind}_{plain(scheme.name)}"
            yield RuleFile(name, scheme.name, _of_scheme(scheme, kind, coin_of, rng), kind)
    for number, rule in enumerate(rule for rule in TREE_RULES if rule.decide):
        for place, kind in enumerate(KINDS):
            rng = np.random.default_rng([seed, 4, number, place])
            yield RuleFile(f"mappedtree_{kind}_{plain(rule.name)}", rule.name, _of_rule(rule, kind, coin_of, rng), kind)


def _places(kind: str, rng: np.random.Generator) -> Any:
    size, lacking, _ = KINDS[kind]
    places = rng.choice(SIZE, size, replace=False)
    places[rng.choice(size, lacking, replace=False)] = -1
    return places


def _logits(rng: np.random.Generator, places: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a row of the target [V], and one of the draft [D] that is near it on the shared tokens."""
    target = torch.from_numpy(2 * rng.standard_normal(SIZE)).float()
    own = torch.from_numpy(rng.standard_normal(len(places))).float()
    there = torch.from_numpy(places >= 0)
    return target, own + torch.where(there, target[torch.from_numpy(places).clamp(min=0)], torch.zeros_like(own))


def _drafted_law(draft: torch.Tensor, places: Any, kind: str) -> Any:
    lacking = torch.from_numpy(places < 0)
    return laws(draft.masked_fill(lacking, -torch.inf) if KINDS[kind][2] else draft).numpy()


def _of_scheme(scheme: Scheme, kind: str, coin_of: Any, rng: np.random.Generator) -> dict[str, Any]:
    places = _places(kind, rng)
    targets, drafts = (torch.stack(each) for each in zip(*(_logits(rng, places) for _ in range(REQUESTS)), strict=True))
    tokens = np.full((REQUESTS, scheme.drafts or DRAFTS), -1)
    uniforms = rng.integers(0, 2**24, (REQUESTS, columns_of(scheme, DRAFTS) + 1)) / 2.0**24
    found: list[tuple[int, bool, float]] = []
    for row in range(REQUESTS):
        t, d = laws(targets[row]).numpy(), _drafted_law(drafts[row], places, kind)
        drawn: tuple[int, ...] = ()
        if row % 6 != 5:
            drawn = sample(lambda drawing, d=d, row=row: scheme.draw(drawing, d, DRAFTS - row % 2), rng)
        tokens[row, : len(drawn)] = drawn
        coin = coin_of(uniforms[row].tolist())
        token, accepted = merged.emit(coin, scheme.emit or no_program, drawn, (t, d), places)
        found.append((token, accepted, coin.distance))
    return {
        "target_logits": targets,
        "draft_logits": drafts,
        "places": torch.from_numpy(places),
        "tokens": torch.from_numpy(tokens),
        "uniforms": torch.from_numpy(uniforms),
        "expected": torch.tensor([[token] for token, _, _ in found]),
        "accepted": torch.tensor([int(accepted) for _, accepted, _ in found]),
        "distance": torch.tensor([distance for _, _, distance in found], dtype=torch.float64),
    }


def _of_rule(rule: TreeRule, kind: str, coin_of: Any, rng: np.random.Generator) -> dict[str, Any]:
    places = _places(kind, rng)
    widths, draw = SHAPES[rule.siblings], draw_independent if rule.siblings == "any" else without_replacement.draw
    number = sum(int(np.prod(widths[: level + 1])) for level in range(len(widths)))
    logits = torch.zeros(REQUESTS, number + 1, SIZE), torch.zeros(REQUESTS, number + 1, len(places))
    tokens, parents = np.full((2, REQUESTS, number), -1)
    uniforms = rng.integers(0, 2**24, (REQUESTS, rule.coins(number) + 1)) / 2.0**24
    blocks: list[tuple[tuple[int, ...], float]] = []
    follows: list[int] = []
    for row in range(REQUESTS):
        known = _Known(rng, places, kind)
        conditionals = Conditionals(*merged_tree.models(known.target, known.draft, places), ())
        nodes = sample(lambda drawing, c=conditionals: grow(drawing, c, widths, draw), rng) if row % 6 != 5 else ()
        paths: list[tuple[int, ...]] = [()]
        for token, above in listed(nodes):
            tokens[row, len(paths) - 1], parents[row, len(paths) - 1] = token, above
            paths.append((*paths[above + 1], token))
        for slot, path in enumerate(paths):
            for rows, own in zip(logits, known.rows(path), strict=True):
                rows[row, slot] = own
        coin = coin_of(uniforms[row].tolist())
        block = rule.program(coin, nodes, conditionals)
        follows.append(merged_tree.placed_path(coin, block, known.target, places)[-1])
        blocks.append((block, coin.distance))
    accepted = accepted_nodes(blocks, tokens, parents, len(widths))
    tree = ArrayTree(torch.from_numpy(tokens), torch.from_numpy(parents), len(widths), 1)
    placed = merged_tree.placed_tree(tree, torch.from_numpy(places))
    expected, count = emitted(placed, Walked(accepted, torch.tensor(follows)))
    return {
        "target_logits": logits[0],
        "draft_logits": logits[1],
        "places": torch.from_numpy(places),
        "tokens": tree.tokens,
        "parents": tree.parents,
        "uniforms": torch.from_numpy(uniforms),
        "expected": expected,
        "count": count,
        "nodes": accepted,
        "distance": torch.tensor([distance for _, distance in blocks], dtype=torch.float64),
    }


class _Known:
    """Rows of logits by the path of the draft's tokens, made as they are asked for, and both models of them."""

    def __init__(self, rng: np.random.Generator, places: Any, kind: str) -> None:
        self._rng, self._places, self._kind = rng, places, kind
        self._rows: dict[tuple[int, ...], tuple[torch.Tensor, torch.Tensor]] = {}
        self._names = {int(place): token for token, place in enumerate(places) if place >= 0}

    def rows(self, path: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        if path not in self._rows:
            self._rows[path] = _logits(self._rng, self._places)
        return self._rows[path]

    def target(self, prefix: tuple[int, ...]) -> Any:
        return laws(self.rows(tuple(self._names[token] for token in prefix))[0]).numpy()

    def draft(self, prefix: tuple[int, ...]) -> Any:
        return _drafted_law(self.rows(prefix)[1], self._places, self._kind)
