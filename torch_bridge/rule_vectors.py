"""Conformance vectors of every rule on one position and of every rule on trees, for kernels in any language.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from spec_math import SCHEMES
from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.tree_rules import TREE_RULES
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Scheme, Tokens
from torch_bridge.threshold import laws
from torch_bridge.vector_requests import REQUESTS, SIZE, Logits, Rows, positions, trees

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
        targets = torch.from_numpy(2 * rng.standard_normal((REQUESTS, SIZE))).float()
        drafts = targets + torch.from_numpy(rng.standard_normal((REQUESTS, SIZE))).float()
        arrays = positions(scheme, (targets, drafts), _OneVocabulary(), rng, coin_of)
        yield RuleFile(f"drafts_{plain(scheme.name)}", scheme.name, arrays)
    for number, rule in enumerate(TREE_RULES):
        rng = np.random.default_rng([seed, 2, number])
        yield RuleFile(f"tree_{plain(rule.name)}", rule.name, trees(rule, _OneVocabulary(), rng, coin_of))


class _OneVocabulary:
    """The draft's tokens are the target's."""

    coins = 0

    def logits(self, rng: np.random.Generator) -> Logits:
        target = torch.from_numpy(2 * rng.standard_normal(SIZE)).float()
        return target, target + torch.from_numpy(rng.standard_normal(SIZE)).float()

    def draft_law(self, row: torch.Tensor) -> Any:
        return laws(row).numpy()

    def emit(self, coin: Coin, scheme: Scheme, drafts: Tokens, masses: tuple[Any, Any]) -> tuple[int, bool]:
        return program(scheme)(coin, drafts, *masses) if drafts else (coin.draw(masses[0]), False)

    def models(self, rows: Rows) -> tuple[Model, Model]:
        return lambda path: laws(rows.at(path)[0]).numpy(), lambda path: laws(rows.at(path)[1]).numpy()

    def last(self, coin: Coin, rows: Rows, block: Tokens) -> int:  # noqa: ARG002
        return block[-1]

    def placed(self, tree: ArrayTree) -> ArrayTree:
        return tree


def program(scheme: Scheme) -> Any:
    """Return the program of a scheme that says which token it emits and whether that is a draft.

    Raises:
        TypeError: the scheme has none.

    >>> program(SCHEMES[0]) == SCHEMES[0].emit
    True
    """
    if scheme.emit is None:
        raise TypeError(f"a scheme without emit has no vectors; {scheme.name!r} has none")
    return scheme.emit


def plain(name: str) -> str:
    """Return a name in letters, digits and underscores.

    >>> plain("K-SEQ at γ*")
    'k_seq_at'
    """
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in name).split()
    return "_".join(words).lower()
