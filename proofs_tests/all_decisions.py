"""Every rule on logits beside its replayed program, at full length: what the tests take a share of.

2,000 random batches of one position for each scheme; trees of all 873 parent arrays of up to six nodes and 200 random
trees of up to 64 for each rule, chains where it takes chains. Prints how many coins were compared, how many requests
had one nearer to a threshold than is told apart, and how many of the others parted. Exit code 1 where any did.

Run: python -m proofs_tests.all_decisions [share], share 1 for all of it: about ten minutes of processor time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import torch

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.tree_batches import batch, chains, noisy, parent_arrays, random_parents
from proofs_tests.block_level.tree_shapes import PRIORITIES
from proofs_tests.token_level import replayed_rows
from proofs_tests.token_level.replayed_rows import Watching, emitted
from proofs_tests.torch_bridge import draft_batches
from proofs_tests.torch_bridge.batches import law_of
from proofs_tests.torch_bridge.trees_on_logits import tensors
from spec_math import SCHEMES
from spec_math.array_coin import ArrayCoin
from spec_math.block_level.batch import ratio_cells
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule
from spec_math.scheme import Scheme
from torch_bridge import verify_drafts, verify_tree

NEAR = 2.0**-36
"""Uniforms nearer to a threshold are not told apart."""
BATCHES, LARGE, AT_ONCE = 2000, 200, 100


class Tally:
    """Requests, coins, requests with a coin near a threshold, and those of the others that parted."""

    def __init__(self) -> None:
        self.requests = self.coins = self.near = self.parted = 0

    def count(self, coin: Watching, same: bool) -> None:
        """Take in one request."""
        self.requests, self.coins = self.requests + 1, self.coins + coin.used
        self.near += coin.distance <= NEAR
        self.parted += coin.distance > NEAR and not same


def of_position(scheme: Scheme, tally: Tally, batches: int) -> None:
    """Masses with zeros and ties through the array formula, and logits through the torch function."""
    for seed in range(batches):
        k, size = 1 + seed % 4, 3 + seed % 5
        if scheme.decide is not None:
            masses = replayed_rows.batch(scheme, k, seed, rows=6, size=size)
            target, draft, tokens, uniforms = replayed_rows.floats(masses, seed)
            coin = ArrayCoin(uniforms)
            found = scheme.decide(coin, tokens, target, draft)
            for row, answer in enumerate(zip(*found, coin.column, strict=True)):
                watching = Watching(uniforms[row])
                want = emitted(scheme, watching, tokens[row], target[row], draft[row])
                tally.count(watching, tuple(map(int, answer)) == (*map(int, want), watching.used))
        given = draft_batches.batch(scheme, (6, k, size), torch.float64, seed=seed)
        for *row, token, accepted in zip(*given, *verify_drafts(scheme, *given), strict=True):
            watching = Watching(row[3].tolist())
            want = emitted(scheme, watching, row[2].tolist(), law_of(row[0]), law_of(row[1]))
            tally.count(watching, (int(token), bool(accepted)) == tuple(want))


def shapes(rule: TreeRule, share: float) -> Iterator[list[Any]]:
    """Parents: all of up to six nodes, and large trees, some hundred at once; chains where the rule takes chains."""
    rng = np.random.default_rng(0)
    small: list[Any] = [each for size in range(1, 7) for each in parent_arrays(size)]
    large: list[Any] = [random_parents(rng, int(rng.integers(7, 65))) for _ in range(LARGE)]
    if rule.chains:
        forms = [(k, length) for k in range(1, 7) for length in range(1, 7) if k * length <= 6]
        small = [chains(*forms[place % len(forms)]) for place in range(len(small))]
        many, long = (4, 4) if rule in PRIORITIES else (8, 8)
        large = [chains(int(rng.integers(1, many + 1)), int(rng.integers(1, long + 1))) for _ in range(LARGE)]
    if rule.siblings == "one":
        small = [chains(1, 1 + place % 6) for place in range(len(small))]
        large = [chains(1, int(rng.integers(7, 65))) for _ in range(LARGE)]
    for listed in (small, large):
        taken = listed[: max(1, round(share * len(listed)))] if share < 1 else listed
        for start in range(0, len(taken), AT_ONCE):
            yield taken[start : start + AT_ONCE]


def of_trees(rule: TreeRule, tally: Tally, share: float) -> None:
    """Trees of laws in which no ratio is met twice, as logits, through the torch function."""
    for seed, parents in enumerate(shapes(rule, share)):
        given = noisy(batch(rule, parents, seed), seed)
        found = verify_tree(rule, *tensors(given))
        for row, (path, count) in enumerate(zip(found.emitted.tolist(), found.count.tolist(), strict=True)):
            coin = Watching(given.uniforms[row])
            tally.count(coin, tree_batches.replayed(rule, given, row, coin) == tuple(path[:count]))


def main(share: float) -> int:
    """Print the table, and return how many requests parted."""
    ratio_cells.BITS, ratio_cells.OCTAVES = 1, 2  # a coarse grid of ratios, some beyond it, as in the tests
    print("rule; requests; coins; near a threshold; parted; seconds of the processor", flush=True)
    parted = 0
    for rule in (*SCHEMES, *TREE_RULES):
        tally, start = Tally(), process_time()
        if isinstance(rule, Scheme):
            of_position(rule, tally, round(share * BATCHES))
        else:
            of_trees(rule, tally, share)
        parted += tally.parted
        figures = f"{tally.requests}; {tally.coins}; {tally.near}; {tally.parted}; {process_time() - start:.0f}"
        print(f"{rule.name}; {figures}", flush=True)
    return parted


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0) > 0)
