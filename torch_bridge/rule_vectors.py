"""Conformance vectors of every rule on one position and on trees, over one vocabulary or over two.

Requests are drafted, verified by the programs, and laid out as arrays, for kernels in any language. Two vocabularies:
union, intersection (TLI), and a reduced head; see `spec_math.drafting.merged`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch

from spec_math import SCHEMES
from spec_math.block_level.batch.array_tree import ArrayTree, Walked, emitted
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, grow
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule
from spec_math.chance import Coin, sample
from spec_math.drafting import merged
from spec_math.language.model import Model
from spec_math.scheme import Scheme, Tokens, draw_independent
from spec_math.token_level import without_replacement
from torch_bridge.threshold import laws
from torch_bridge.validation import columns
from torch_bridge.verify import OneTree, padded

REQUESTS, SIZE, DRAFTS = 12, 20, 3
SHAPES = {"any": (3, 1, 1), "distinct": (3, 2), "one": (1, 1, 1, 1)}
"""The widths of drafted trees, by how siblings may agree."""

KINDS = {"union": (12, 4, False), "intersection": (12, 4, True), "reduced_head": (8, 0, True)}
"""The draft's tokens, how many of them the target lacks, and whether drafts come from the shared ones alone."""

ABOUT = {
    "drafts_*.safetensors": "one position: logits [B, V], tokens [B, k], uniforms [B, C]; expected [B, 1], "
    "accepted [B]",
    "tree_*.safetensors": "trees: logits [B, N + 1, V], the root's row first, tokens and parents [B, N] (-1: none, the "
    "root), a parent before its children; expected [B, D + 1] and nodes [B, D], padded with -1; count [B]",
    "order of the uniforms": "a request takes from its row, from the left, one uniform for each coin of the program",
    "mappeddrafts_*.safetensors, mappedtree_*.safetensors": "the same over the draft's own tokens 0..D-1: draft_logits "
    "[B, D] or [B, N + 1, D] and tokens are the draft's, expected ones the target's",
    "places": "[D], the target's token of each of the draft's, -1 where the target has none; rows of the target after "
    "such a token are never used",
    "vocabulary": "union: drafts are drawn from all of draft_logits; intersection and reduced_head: of those whose "
    "place is no -1. The target's tokens that are no place count as one token behind the draft's; where a rule emits "
    "it, one uniform more draws which it is from their masses, lowest index first",
}

Logits = tuple[torch.Tensor, torch.Tensor]
"""The target's and the draft's."""

Rows = Callable[[Tokens], Logits]
"""Rows of logits by the path of the draft's tokens, each made when it is asked for first."""


class RuleFile(NamedTuple):
    """A file of vectors: its name without the ending, the rule in words, and its arrays.

    `vocabulary` says how the draft's tokens are the target's, where they are not the same.
    """

    name: str
    rule: str
    arrays: dict[str, Any]
    vocabulary: str | None = None


def rule_files(coin_of: Any, seed: int = 0) -> Iterator[RuleFile]:
    """Make the vectors of each scheme and of each rule for trees, in float32 logits; then those over two vocabularies.

    coin_of(uniforms) makes a coin that replays a row and knows the least `distance` of one from a threshold. Expected
    are the programs' tokens, with laws in float64. Rules that are programs alone take no drafts of another vocabulary.
    """
    layouts: list[Any] = [("drafts", SCHEMES, _positions), ("tree", TREE_RULES, _trees)]
    for stage, (layout, rules, arrays_of) in enumerate(layouts, 1):
        for number, rule in enumerate(rules):
            arrays = arrays_of(rule, _Vocabularies(), np.random.default_rng([seed, stage, number]), coin_of)
            yield RuleFile(f"{layout}_{_plain(rule.name)}", rule.name, arrays)
    for stage, (layout, rules, arrays_of) in enumerate(layouts, 3):
        for (number, rule), (place, kind) in product(enumerate(one for one in rules if one.decide), enumerate(KINDS)):
            rng = np.random.default_rng([seed, stage, number, place])
            own = _Vocabularies(_places(kind, rng), KINDS[kind][2])
            arrays = arrays_of(rule, own, rng, coin_of) | {"places": torch.from_numpy(own.places)}
            yield RuleFile(f"mapped{layout}_{kind}_{_plain(rule.name)}", rule.name, arrays, kind)


def _places(kind: str, rng: np.random.Generator) -> Any:
    size, lacking, _ = KINDS[kind]
    places = rng.choice(SIZE, size, replace=False)
    places[rng.choice(size, lacking, replace=False)] = -1
    return places


def _plain(name: str) -> str:
    """Return a name in letters, digits and underscores."""
    return "_".join(re.findall("[A-Za-z0-9]+", name)).lower()


@dataclass(frozen=True)
class _Vocabularies:
    """The draft's tokens among the target's: `places` [D], −1 where it has none; None where they are the same.

    `shared`: drafts are drawn from the tokens alone that both have.
    """

    places: Any = None
    shared: bool = False

    @property
    def coins(self) -> int:
        """The number of coins that a request takes behind those of the program."""
        return int(self.places is not None)

    def logits(self, rng: np.random.Generator) -> Logits:
        """Return a row of the target [V], and one of the draft [D] that is near it on the shared tokens."""
        target = torch.from_numpy(2 * rng.standard_normal(SIZE)).float()
        own = torch.from_numpy(rng.standard_normal(SIZE if self.places is None else len(self.places))).float()
        if self.places is None:
            return target, target + own
        places = torch.from_numpy(self.places)
        return target, own + torch.where(places >= 0, target[places.clamp(min=0)], torch.zeros_like(own))

    def rows(self, rng: np.random.Generator) -> Logits:
        """Return the rows of all requests, [B, V] and [B, D]."""
        if self.places is None:
            targets = torch.from_numpy(2 * rng.standard_normal((REQUESTS, SIZE))).float()
            return targets, targets + torch.from_numpy(rng.standard_normal((REQUESTS, SIZE))).float()
        targets, drafts = zip(*(self.logits(rng) for _ in range(REQUESTS)), strict=True)
        return torch.stack(targets), torch.stack(drafts)

    def draft_law(self, row: torch.Tensor) -> Any:
        """Return the law [D] that drafts are drawn from."""
        return laws(row.masked_fill(torch.from_numpy(self.places < 0), -torch.inf) if self.shared else row).numpy()

    def emit(self, coin: Coin, scheme: Scheme, drafts: Tokens, masses: tuple[Any, Any]) -> tuple[int, bool]:
        """Return the target's token that a scheme emits, and whether a test accepted it."""
        program = scheme.emit
        if program is None:
            raise TypeError(f"a scheme without emit has no vectors; {scheme.name!r} has none")
        if self.places is not None:
            return merged.emit(coin, program, drafts, masses, self.places)
        return program(coin, drafts, *masses) if drafts else (coin.draw(masses[0]), False)

    def models(self, rows: Rows) -> tuple[Model, Model]:
        """Return both models, of the draft's tokens, that a rule for trees is called with."""

        def draft(path: Tokens) -> Any:
            return self.draft_law(rows(path)[1])

        if self.places is not None:
            return merged.models(self._target(rows), draft, self.places)
        return lambda path: laws(rows(path)[0]).numpy(), draft

    def last(self, coin: Coin, rows: Rows, block: Tokens) -> int:
        """Return the target's token of the last one of a block."""
        if self.places is None:
            return block[-1]
        return merged.placed_path(coin, block, self._target(rows), self.places)[-1]

    def placed(self, tree: ArrayTree) -> ArrayTree:
        """Return a tree in the target's tokens."""
        return tree if self.places is None else merged.placed_tree(tree, torch.from_numpy(self.places))

    def _target(self, rows: Rows) -> Model:
        names = {int(place): token for token, place in enumerate(self.places) if place >= 0}
        return lambda prefix: laws(rows(tuple(names[token] for token in prefix))[0]).numpy()


def _positions(scheme: Scheme, vocabularies: _Vocabularies, rng: np.random.Generator, coin_of: Any) -> dict[str, Any]:
    """Return the arrays of one position: drafts of each row of logits, every sixth without any, and what is emitted."""
    targets, drafts = vocabularies.rows(rng)
    drafted: list[Tokens] = []
    uniforms = rng.integers(0, 2**24, (REQUESTS, columns(scheme, DRAFTS) + vocabularies.coins)) / 2.0**24
    found: list[tuple[int, bool, float]] = []
    for row in range(REQUESTS):
        t, d = laws(targets[row]).numpy(), vocabularies.draft_law(drafts[row])
        drawn = sample(lambda c, d=d, row=row: scheme.draw(c, d, DRAFTS - row % 2), rng) if row % 6 != 5 else ()
        drafted.append(drawn)
        coin = coin_of(uniforms[row].tolist())
        token, accepted = vocabularies.emit(coin, scheme, drawn, (t, d))
        found.append((token, accepted, coin.distance))
    return {
        "target_logits": targets,
        "draft_logits": drafts,
        "tokens": padded(drafted, scheme.drafts or DRAFTS),
        "uniforms": torch.from_numpy(uniforms),
        "expected": torch.tensor([[token] for token, _, _ in found]),
        "accepted": torch.tensor([int(accepted) for _, accepted, _ in found]),
        "distance": torch.tensor([distance for _, _, distance in found], dtype=torch.float64),
    }


def _trees(rule: TreeRule, vocabularies: _Vocabularies, rng: np.random.Generator, coin_of: Any) -> dict[str, Any]:
    """Return the arrays of drafted trees, every sixth request without any draft, and the rule's answer."""
    widths, draw = SHAPES[rule.siblings], draw_independent if rule.siblings == "any" else without_replacement.draw
    number = sum(int(np.prod(widths[: level + 1])) for level in range(len(widths)))
    tokens, parents = np.full((2, REQUESTS, number), -1)
    uniforms = rng.integers(0, 2**24, (REQUESTS, rule.coins(number) + vocabularies.coins)) / 2.0**24
    slots: list[list[Logits]] = []
    found: list[tuple[list[int], int, float]] = []

    def made(_: Tokens) -> Logits:
        return vocabularies.logits(rng)

    for row in range(REQUESTS):
        known = cache(made)
        conditionals = Conditionals(*vocabularies.models(known), ())
        nodes = sample(lambda drawing, c=conditionals: grow(drawing, c, widths, draw), rng) if row % 6 != 5 else ()
        paths: list[Tokens] = [()]
        for token, above in _tokens_and_parents(nodes):
            tokens[row, len(paths) - 1], parents[row, len(paths) - 1] = token, above
            paths.append((*paths[above + 1], token))
        slots.append([known(path) for path in paths])
        coin = coin_of(uniforms[row].tolist())
        block = rule.program(coin, nodes, conditionals)
        # Of several paths of the accepted tokens, the first by index.
        kept = OneTree(tokens[row].tolist(), parents[row].tolist(), None, None).longest(block)
        found.append((kept, vocabularies.last(coin, known, block), coin.distance))
    accepted, follows, distances = zip(*found, strict=True)
    accepted = padded(accepted, len(widths))
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
    behind = [torch.nn.functional.pad(torch.stack(own), (0, 0, 0, slots - len(own))) for own in rows]
    return torch.stack(behind)


def _tokens_and_parents(nodes: tuple[Node, ...], above: int = -1, start: int = 0) -> list[tuple[int, int]]:
    """Return token and parent of each node of a drafted tree, a parent before its children."""
    found: list[tuple[int, int]] = []
    for node in nodes:
        place = start + len(found)
        found += [(node.token, above), *_tokens_and_parents(node.children, place, place + 1)]
    return found
