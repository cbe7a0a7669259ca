"""Conformance vectors of drafts over another vocabulary: union, intersection (TLI), and a reduced head.

Source: worked out here, see `spec_math.drafting.merged`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from spec_math import SCHEMES
from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.tree_rules import TREE_RULES
from spec_math.chance import Coin
from spec_math.drafting import merged
from spec_math.language.model import Model
from spec_math.scheme import Scheme, Tokens
from torch_bridge.rule_vectors import RuleFile, plain, program
from torch_bridge.threshold import laws
from torch_bridge.vector_requests import REQUESTS, SIZE, Logits, Rows, positions, trees

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
            own = _OwnVocabulary(kind, _places(kind, rng))
            targets, drafts = zip(*(own.logits(rng) for _ in range(REQUESTS)), strict=True)
            arrays = positions(scheme, (torch.stack(targets), torch.stack(drafts)), own, rng, coin_of)
            name = f"mappeddrafts_{kind}_{plain(scheme.name)}"
            yield RuleFile(name, scheme.name, arrays | {"places": torch.from_numpy(own.places)}, kind)
    for number, rule in enumerate(rule for rule in TREE_RULES if rule.decide):
        for place, kind in enumerate(KINDS):
            rng = np.random.default_rng([seed, 4, number, place])
            own = _OwnVocabulary(kind, _places(kind, rng))
            arrays = trees(rule, own, rng, coin_of) | {"places": torch.from_numpy(own.places)}
            yield RuleFile(f"mappedtree_{kind}_{plain(rule.name)}", rule.name, arrays, kind)


def _places(kind: str, rng: np.random.Generator) -> Any:
    size, lacking, _ = KINDS[kind]
    places = rng.choice(SIZE, size, replace=False)
    places[rng.choice(size, lacking, replace=False)] = -1
    return places


@dataclass(frozen=True)
class _OwnVocabulary:
    """The draft has tokens of its own: `places` [D] are the target's, −1 where it has none."""

    kind: str
    places: Any
    coins = 1

    def logits(self, rng: np.random.Generator) -> Logits:
        """Return a row of the target [V], and one of the draft [D] that is near it on the shared tokens."""
        target = torch.from_numpy(2 * rng.standard_normal(SIZE)).float()
        own = torch.from_numpy(rng.standard_normal(len(self.places))).float()
        places = torch.from_numpy(self.places)
        return target, own + torch.where(places >= 0, target[places.clamp(min=0)], torch.zeros_like(own))

    def draft_law(self, row: torch.Tensor) -> Any:
        lacking = torch.from_numpy(self.places < 0)
        return laws(row.masked_fill(lacking, -torch.inf) if KINDS[self.kind][2] else row).numpy()

    def emit(self, coin: Coin, scheme: Scheme, drafts: Tokens, masses: tuple[Any, Any]) -> tuple[int, bool]:
        return merged.emit(coin, program(scheme), drafts, masses, self.places)

    def models(self, rows: Rows) -> tuple[Model, Model]:
        return merged.models(self._target(rows), lambda prefix: self.draft_law(rows.at(prefix)[1]), self.places)

    def last(self, coin: Coin, rows: Rows, block: Tokens) -> int:
        return merged.placed_path(coin, block, self._target(rows), self.places)[-1]

    def placed(self, tree: ArrayTree) -> ArrayTree:
        return merged.placed_tree(tree, torch.from_numpy(self.places))

    def _target(self, rows: Rows) -> Model:
        names = {int(place): token for token, place in enumerate(self.places) if place >= 0}
        return lambda prefix: laws(rows.at(tuple(names[token] for token in prefix))[0]).numpy()
