"""How many tokens the methods accept on random models, beside the most that any verifier can: exact means.

Run from the project's folder: python -m benchmarks.accepted_tokens
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import fmean, stdev
from time import perf_counter

from proofs_tests.block_level import methods_on_trees
from proofs_tests.block_level.models import weighted
from spec_math.arrays import Array
from spec_math.block_level import block, chain_priorities, multi_path, optimum
from spec_math.verdict import Bracket

CHAINS = [(2, 2, 2, 100), (2, 2, 3, 60), (3, 2, 2, 60), (3, 2, 3, 20), (2, 3, 2, 40), (2, 3, 4, 20)]
"""Tokens V, lookahead, k chains, number of instances."""

TREES = [(3, (2, 2), 20), (3, (2, 1), 40), (4, (2, 1), 20)]
"""Tokens V, widths, number of instances."""

BEYOND = (6, 3, 4, 6)
"""Tokens V, lookahead, k chains, number of instances, for brackets in place of exact optima."""

METHODS = [
    "chain priorities",
    "optimal plan at every node",
    "greedy multi-path",
    "K-SEQ at every node",
    "one chain, as a block",
]


def show(title: str, columns: dict[str, list[Fraction]]) -> None:
    """Print each method's mean, what it lacks to the optimum on average with its standard error, and how often none."""
    best = columns["optimum"]
    print(f"\n{title}, {len(best)} instances: optimum {fmean(best):.4f}")
    for name, values in columns.items():
        if name != "optimum":
            lacking = [float(most - value) for most, value in zip(best, values, strict=True)]
            error = stdev(lacking) / len(lacking) ** 0.5
            equal = sum(value == most for value, most in zip(values, best, strict=True))
            print(f"  {name:36} {fmean(values):.4f}   lacks {fmean(lacking):.4f} ± {error:.4f}, nothing on {equal}")


def show_beyond() -> None:
    """Print means where the optimum is known to a bracket, and the bound that needs no solver."""
    size, lookahead, k, instances = BEYOND
    names = ["optimum, lower end", "chain priorities", "greedy multi-path", "one chain, as a block", "level bound"]
    rows: list[list[float]] = []
    widest, times = 0.0, list[float]()
    for seed in range(instances):
        target, draft = weighted(f"target {seed}", size), weighted(f"draft {seed}", size)
        floats = in_floats(target), in_floats(draft)
        start = perf_counter()
        claim = optimum.chains_certificate(target, draft, (), lookahead, k)
        times.append(perf_counter() - start)
        widest = max(widest, float(claim.upper - claim.lower))
        rows.append(
            [
                float(claim.lower),
                chain_priorities.expected(*floats, (), lookahead, k),
                multi_path.expected(*floats, (), lookahead, k),
                block.expected(*floats, (), lookahead),
                float(optimum.level_bound(target, draft, (), lookahead, k)),
            ]
        )
    print(
        f"\nV = {size}, lookahead {lookahead}, {k} chains, {instances} instances; brackets at most {widest:.1e} wide,"
    )
    print(f"  found in {min(times):.1f} to {max(times):.1f} s")
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        print(f"  {name:36} {fmean(values):.4f}")


def in_floats(exact_model: Callable[[tuple[int, ...]], Array]) -> Callable[[tuple[int, ...]], Array]:
    """Return the model with its laws in float64."""
    return lambda prefix: exact_model(prefix).astype(float)


def main() -> None:
    """Print the tables."""
    for size, lookahead, k, instances in CHAINS:
        columns: dict[str, list[Fraction]] = {"optimum": []} | {name: [] for name in METHODS}
        ahead = 0
        for seed in range(instances):
            models = weighted(f"target {seed}", size), weighted(f"draft {seed}", size)
            tokens, verdict = methods_on_trees.of_chains(*models, (), lookahead, k)
            if isinstance(verdict, Bracket):
                raise ValueError(
                    f"no exact optimum for V = {size}, lookahead {lookahead}, k = {k}, seed {seed}: {verdict}"
                )
            columns["optimum"].append(verdict.tokens_per_call - 1)
            for name in METHODS:
                columns[name].append(tokens[name] - 1)
            ahead += tokens["greedy multi-path"] > tokens["chain priorities"]
        show(f"V = {size}, lookahead {lookahead}, {k} chains", columns)
        print(f"  greedy multi-path is ahead of chain priorities on {ahead}")
    for size, widths, instances in TREES:
        columns = {"optimum": []}
        for seed in range(instances):
            models = weighted(f"target {seed}", size), weighted(f"draft {seed}", size)
            tokens, verdict = methods_on_trees.of_trees(*models, (), widths)
            if isinstance(verdict, Bracket):
                raise ValueError(f"no exact optimum for V = {size}, widths {widths}, seed {seed}: {verdict}")
            columns["optimum"].append(verdict.tokens_per_call - 1)
            for name, value in tokens.items():
                columns.setdefault(name, []).append(value - 1)
        show(f"V = {size}, widths {widths} without replacement", columns)
    show_beyond()


if __name__ == "__main__":
    main()
